// @ts-check
// The row of tools under the stage cards: what each answers, and which one is open. A report has none.
import { make } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { open } from "./linking.js";

// Name, title, what it answers, and the same in the few words that fit next to the row.
// Those up to `Compare` work on the run that is shown. Some are a part of a panel: `panel.part`.
const OTHERS = "check";
const TOOLS = [
  ["parse.matrix", "Parsers", "Which parser reads this output?", "Which parser reads it?"],
  ["parse.splits", "Streaming test", "Same message, however the stream is cut?", "Same, however it is cut?"],
  ["what-if", "What if", "Every render switch, one at a time", "One switch at a time"],
  ["template", "Template", "Edit the template and render again", "Edit it, render again"],
  ["fix", "Fix", "Prove a cause, shrink it, report it", "Prove, shrink, report"],
  ["fix.loop", "Tool loop", "Answer the calls and continue, turn by turn", "Answer calls, continue"],
  ["compare", "Compare", "Two runs side by side, or one request by three APIs", "Two runs, or three APIs"],
  ["check", "Check", "Which parser and flags for this model?", "Parser and flags to use"],
  ["verify", "Verify", "Send a dataset, row by row", "Send a dataset"],
  ["live", "Live", "Which calls are lost, as they pass", "Calls lost, as they pass"],
];

export function toolTabs() {
  const box = make("div", "pd-tools");
  box.setAttribute("role", "presentation");
  const words = make("span", "pd-tool-words");
  words.setAttribute("aria-hidden", "true"); // the tab's title has it
  TOOLS.filter(([opens]) => document.getElementById(opens.includes(".") ? partOf(opens) : "pd-panel-" + opens)).forEach(([opens, title, hint, short]) => {
    const tab = tabOf(opens, "pd-tool");
    tab.textContent = title;
    tab.title = hint;
    tab.dataset.words = short;
    tab.addEventListener("click", () => leaveParts(opens));
    if (!box.childElementCount) box.append(groupName("This run:"));
    if (opens === OTHERS) box.append(groupName("Models and servers:"));
    box.append(tab);
  });
  if (box.childElementCount) box.append(words);
  return box;
}

// A panel whose open part has a tool to itself opens at its first part.
/** @param {string} panel */
function leaveParts(panel) {
  if (!TOOLS.some(([opens]) => opens.startsWith(panel + ".") && isOpen(opens))) return;
  /** @type {HTMLElement | null} */ (document.querySelector("[id^=pd-tab-of-pd-" + panel + "-]"))?.click();
}

/** @param {string} opens */
function isOpen(opens) {
  return document.getElementById("pd-tab-of-" + partOf(opens))?.getAttribute("aria-selected") === "true";
}

// One tool of the row is lit: the part of a panel that is open, else the panel itself.
export function lightTools() {
  const panel = document.documentElement.dataset.panel || "";
  const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".pd-tool")]);
  const part = tabs.find(({ dataset: { opens = "" } }) => opens.startsWith(panel + ".") && isOpen(opens));
  const lit = part || tabs.find(({ dataset }) => dataset.opens === panel);
  tabs.forEach((tab) => tab.classList.toggle("pd-current", tab === lit));
  const row = lit?.parentElement; // on a narrow window it scrolls
  if (lit && row) row.scrollLeft = Math.min(lit.offsetLeft - row.offsetLeft, Math.max(row.scrollLeft, lit.offsetLeft - row.offsetLeft + lit.offsetWidth - row.clientWidth));
  document.querySelectorAll(".pd-tool-words").forEach((words) => (words.textContent = lit?.dataset.words ?? ""));
}

document.addEventListener("pd-opened", lightTools);

let width = globalThis.innerWidth;
// A window that was turned; one whose bar went away moves nothing.
globalThis.addEventListener("resize", () => {
  if (width === globalThis.innerWidth) return;
  width = globalThis.innerWidth;
  lightTools();
});

// Where a part of a panel stands: `parse.matrix` in `pd-parse-matrix`.
/** @param {string} opens */
function partOf(opens) {
  return "pd-" + opens.replace(".", "-");
}

/** @param {string} name */
function groupName(name) {
  const word = make("span", "pd-tools-group", name);
  word.setAttribute("aria-hidden", "true"); // each tab's title says it
  return word;
}

/**
 * @param {string} opens
 * @param {string} className
 */
export function tabOf(opens, className) {
  const tab = make("button", className);
  tab.type = "button";
  tab.id = "pd-tab-" + opens;
  tab.dataset.opens = opens;
  tab.setAttribute("role", "tab");
  const [panel, part] = opens.split(".");
  tab.setAttribute("aria-controls", part ? partOf(opens) : "pd-panel-" + opens);
  tab.addEventListener("click", () => {
    host.panelChosen = true;
    open(panel);
    const own = part && document.getElementById("pd-tab-of-" + partOf(opens));
    if (own && own.getAttribute("aria-selected") !== "true") own.click();
    if (own && globalThis.matchMedia("(max-width: 900px)").matches) own.scrollIntoView({ block: "start" }); // it is below the panes
  });
  return tab;
}
