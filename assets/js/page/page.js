// @ts-check
// What only the page has: the editor as a place to jump to, the lines under it, the lab's line, keyboard shortcuts.
import { builders } from "../lib/builders.js";
import { watchAddress } from "./address.js";
import { button, make, press, prose, under } from "../lib/dom.js";
import { isKeeping } from "../editor/draft.js";
import { editorView, watchEditor } from "../editor/editor_link.js";
import { markNotices } from "../editor/editor_tools.js";
import { locateField } from "../lib/field_paths.js";
import { helpButton } from "./help.js";
import { host } from "../lib/host.js";
import { inspect, offerPlace, open, release } from "../views/linking.js";
import { watchForEdits } from "./outdated.js";
import { openKey, takeServer } from "./servers.js";
import { themeButton } from "../views/verdict_view.js";

/** @typedef {Place & { message: string, server?: { url: string, model: string } | null, wants_key?: boolean }} Notice */

/**
 * @param {EditorView} view
 * @param {number} from
 * @param {number} to
 */
function select(view, from, to) {
  view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
  view.focus();
}

/**
 * @param {string} text
 * @param {number} line
 */
function lineStart(text, line) {
  let at = 0;
  for (let i = 1; i < line; i++) {
    const next = text.indexOf("\n", at);
    if (next < 0) break;
    at = next + 1;
  }
  return at;
}

// Shows a place of the request: {line, column?}, {field} or {quote}.
/** @param {Goal} evidence */
function jumpToRequest(evidence) {
  const view = editorView();
  if (!view) return;
  const text = view.state.doc.toString();
  if (evidence.line) {
    const start = lineStart(text, evidence.line);
    const end = text.indexOf("\n", start) < 0 ? text.length : text.indexOf("\n", start);
    return select(view, Math.min(start + (evidence.column || 1) - 1, end), end);
  }
  const span = evidence.field ? locateField(text, evidence.field) : null;
  if (span) return select(view, span[0], span[1]);
  const quote = evidence.quote || "";
  const at = quote ? text.indexOf(quote) : -1;
  if (at >= 0) select(view, at, at + quote.length);
}

builders.notices = (root, name) => {
  root.classList.add("pd-notices");
  return {
    show(decoded) {
      if (!decoded) return root.replaceChildren();
      const { state, summary, items, rows } = decoded.header;
      document.documentElement.toggleAttribute("data-rows", Boolean(rows));
      root.dataset.state = state;
      root.replaceChildren();
      if (summary) root.append(prose("p", "pd-counts", summary));
      items.forEach((/** @type {Notice} */ item) => root.append(notice(item)));
      markNotices(state, items);
    },
  };
};

/** @param {Notice} item */
function notice(item) {
  const row = make("p", "pd-notice");
  const place = item.line ? "line " + item.line + (item.column ? ", column " + item.column : "") : item.field;
  if (place) row.append(button(place, "pd-jump", () => jumpToRequest(item), "Show it in the request"));
  const { server, wants_key: wantsKey } = item;
  row.append(prose("span", "", (item.line && item.field ? item.field + ": " : "") + item.message));
  if (server) row.append(button("Use as target", "pd-small", () => takeServer(server), "Fill in address and model under Target; nothing is sent"));
  if (wantsKey) row.append(button("Enter its key", "pd-small", openKey, "It is now the target: its key goes only to this server, and is not kept"));
  return row;
}

// A sentence with a bar where something goes on: {text, fraction}.
builders.words = (root) => {
  root.classList.add("pd-words");
  return {
    show(decoded) {
      root.replaceChildren();
      if (!decoded) return;
      root.append(prose("p", "", decoded.header.text));
      if (decoded.header.fraction !== null) root.append(labMeter(decoded.header.fraction, "Progress of the installation"));
    },
  };
};

/**
 * @param {number} fraction
 * @param {string} label
 */
function labMeter(fraction, label) {
  const meter = make("progress", "pd-meter");
  meter.setAttribute("aria-label", label);
  meter.max = 1;
  meter.value = fraction;
  return meter;
}

builders.lab = (root) => {
  root.classList.add("pd-labline");
  const line = make("span", "pd-labline-text");
  line.setAttribute("role", "status");
  root.append(line, helpButton(), themeButton());
  return {
    show(decoded) {
      const lab = decoded ? decoded.header : { state: "ready" };
      root.dataset.state = lab.state;
      line.replaceChildren();
      if (lab.state === "ready") return;
      line.append(prose("span", "pd-lab-text", lab.sentence));
      if (lab.fraction === null) return;
      line.append(labMeter(lab.fraction, lab.state === "installing" ? "Installation of the lab" : "Start of the lab"));
    },
  };
};

document.addEventListener(
  "keydown",
  (event) => {
    // Tab goes on to the next control, as everywhere: the editor would keep it and indent the line.
    if (event.key === "Tab" && under(event, ".cm-editor")) return event.stopPropagation();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      press("pd-run");
    } else if (event.key === "Escape") {
      release();
    }
  },
  true,
);

// The theme that was chosen by hand; one in the address wins.
const THEME = "pd-theme";
host.keepTheme = (isDark) => {
  try {
    if (isKeeping()) globalThis.localStorage.setItem(THEME, isDark ? "dark" : "light");
  } catch {
    // it lasts as long as the page
  }
};

function restoreTheme() {
  try {
    const kept = globalThis.localStorage.getItem(THEME);
    if (kept && !new URLSearchParams(globalThis.location.search).has("__theme")) document.body.classList.toggle("dark", kept === "dark");
  } catch {
    // as the system says
  }
}

// Gradio's client logs as faults the answers that it gives up itself as the page is left: its own sign comes first.
const { error } = globalThis.console;
let isLeft = false;
globalThis.console.error = (...words) => {
  isLeft = isLeft || words.some((word) => word && word.name === "AbortError");
  if (!isLeft) error(...words);
};
globalThis.addEventListener("pageshow", () => (isLeft = false)); // back from the browser's memory

// Gradio takes the Tab that leaves a list box for a key typed into it: it opens the list again, over the editor, and
// nothing closes it from there. The key moves the focus all the same, and that closes the list.
document.addEventListener("keydown", (event) => {
  const isListBox = event.target instanceof Element && event.target.matches(".gradio-container [role=combobox]");
  if (event.key !== "Tab" || !isListBox) return;
  event.stopPropagation();
  // A list that scrolls would take the focus, and with it vanish.
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".option-list")).forEach((list) => (list.tabIndex = -1));
}, true);

// Gradio gives every editor the same name; screen readers need this one's own.
function nameEditor() {
  const content = document.querySelector("#pd-request .cm-content");
  const target = /** @type {HTMLElement | null} */ (document.querySelector("#pd-target .label-wrap"));
  if (!content || !target) return setTimeout(nameEditor, 100);
  if (target.classList.contains("open")) target.click(); // its fields are there now, and stay
  content.setAttribute("aria-label", "Paste a request, a model's output or a server's answer");
  const scroller = /** @type {HTMLElement | null} */ (document.querySelector("#pd-request .cm-scroller"));
  if (scroller) scroller.tabIndex = -1;
  const worked = /** @type {HTMLInputElement | null} */ (document.querySelector("#pd-case input"));
  if (worked) worked.placeholder = "None: your own text"; // gradio's list box has no such setting
  const run = document.getElementById("pd-run");
  if (run) run.title = /Mac/.test(navigator.platform) ? "\u2318 + Enter" : "Ctrl + Enter";
  restoreTheme();
  inspect([]);
  watchEditor();
  watchForEdits();
  if (!document.documentElement.dataset.panel) open("render");
  watchAddress();
  document.documentElement.dataset.ready = "true";
}

// Target is over the panels: it closes where someone goes on to them, runs, or presses Escape in it.
/** @param {Event} event */
function closeTarget(event) {
  const head = /** @type {HTMLElement | null} */ (document.querySelector("#pd-target .label-wrap.open"));
  const isLeft = event instanceof KeyboardEvent ? event.key === "Escape" && under(event, "#pd-target") : under(event, event.isTrusted ? "#pd-right, #pd-run" : "#pd-run"); // scripts press, too
  if (!head || !isLeft || globalThis.matchMedia("(max-width: 900px)").matches) return;
  head.click();
  if (event instanceof KeyboardEvent) head.focus();
}
document.addEventListener("click", closeTarget, true);
document.addEventListener("keydown", closeTarget, true);

offerPlace("request", jumpToRequest);
host.rulesAt = "rules/";
nameEditor();
