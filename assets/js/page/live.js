// @ts-check
// The live prompt: what the request in the editor becomes, while it is typed. A run's own prompt is never touched.
import { placeButton } from "../tools/bench.js";
import { builders } from "../lib/builders.js";
import { button, make, press, prose } from "../lib/dom.js";
import { editorView } from "../editor/editor_link.js";
import { REQUEST, faultsOf, markWrong } from "../editor/editor_marks.js";
import { ruleName } from "../views/findings_view.js";
import { host, onVerdict } from "../lib/host.js";
import { controller, jump } from "../views/linking.js";
import { isOutdated, onDrawn } from "./outdated.js";
import { visibleText } from "../lib/payload.js";

/** @typedef {{ code: string, name: string, severity: string, mark: string, title: string, evidence: Evidence | null }} LiveFinding */

const PAUSE_MS = 350;
const MAX_LIVE = 300_000; // characters of a text whose prompt is rendered while it is typed
let timer = 0;
let state = "idle"; // of the verdict strip
let isFromLink = false; // the request came with a link, and no one has run it
let wantsRun = false; // the person asked for the prompt of the run

const root = document.documentElement;

// Before a run, once its request was edited, and where it ended before there was a prompt, the pane shows the live one.
function isDue() {
  return state === "idle" || (state !== "running" && isOutdated()) || endedWithoutPrompt();
}

function endedWithoutPrompt() {
  return (state === "error" || state === "stopped") && !document.querySelector("#pd-tab-render .pd-figure");
}

const showLive = () => {
  const isLive = isDue() && !wantsRun;
  if (root.hasAttribute("data-live") !== isLive) {
    root.toggleAttribute("data-live", isLive);
    if (isLive) renderUnasked();
  }
  root.toggleAttribute("data-live-due", isDue());
  offerLive();
  root.toggleAttribute("data-has-run", state !== "idle");
  root.toggleAttribute("data-no-prompt", endedWithoutPrompt());
};

onDrawn(showLive);
host.stagesDrawn = showLive;

onVerdict((verdict) => {
  isFromLink = "held" in verdict;
  if (verdict.state !== state || verdict.state === "running") wantsRun = false;
  state = verdict.state;
  showLive();
});

// Asks for the live prompt a moment after the last change; no one sees it while a run's own is shown.
export const renderLive = () => {
  clearTimeout(timer);
  if (!root.hasAttribute("data-live") || root.dataset.panel !== "render") return; // no one would see it
  const size = editorView()?.state.doc.length || 0;
  if (size > MAX_LIVE) return announce(size);
  timer = setTimeout(() => press("pd-live-refresh"), PAUSE_MS);
};

// A prompt of hundreds of thousands of tokens takes its time: it is rendered when someone asks for it.
/** @param {number} size */
function announce(size) {
  document.querySelectorAll(".pd-live-status").forEach((box) => {
    const line = make("p", "pd-live-line");
    const words = "This text has " + size.toLocaleString("en") + " characters: its prompt is not rendered while you type.";
    const now = button("Render it now", "", () => {
      now.disabled = true;
      line.append(make("span", "pd-muted", "Rendering; this may take a minute."));
      press("pd-live-refresh");
    });
    line.append(make("span", "pd-live-tag", "local \u00b7 live"), make("strong", "", words), now);
    box.querySelector(".pd-live-line")?.replaceWith(line);
  });
}

new MutationObserver(renderUnasked).observe(root, { attributes: true, attributeFilter: ["data-panel"] });

// What a link brought is sent nowhere unasked, not even to this page's own server.
function renderUnasked() {
  if (!isFromLink) renderLive();
}

/** @param {boolean} ofRun */
function choose(ofRun) {
  wantsRun = ofRun;
  showLive();
}

host.showPromptOfRun = () => root.hasAttribute("data-has-run") && choose(true);

builders.live_status = (box) => {
  box.classList.add("pd-live-status");
  box.setAttribute("aria-live", "polite");
  const line = make("p", "pd-live-line");
  const list = make("ul", "pd-live-findings");
  const text = make("pre", "pd-text pd-live-text", "");
  text.tabIndex = 0;
  box.append(line, list, text);
  const back = button("Prompt of the run", "pd-small pd-live-back", () => choose(true), "Show the result of the run, before your edits");

  /** @param {Decoded} decoded */
  function show(decoded) {
    /** @type {{ state: string, sentence: string, hint: string, place: Place | null, findings: LiveFinding[], more: number, text: string | null }} */
    const { state: how, sentence, hint, place, findings, more, text: plain } = decoded.header;
    box.dataset.state = how;
    markWrong("live", REQUEST, place ? [place] : faultsOf(findings.map((one) => ({ ...one, evidence: [one.evidence] }))));
    if (!line.isConnected) box.querySelector(".pd-live-line")?.replaceWith(line); // an announcement stood in its place
    const where = place?.line ? "Line " + place.line + (place.column ? ", column " + place.column : "") + ": " : "";
    line.replaceChildren(make("span", "pd-live-tag", "local \u00b7 live"), prose("strong", "", where + sentence));
    const go = place && !place.line && placeButton(place); // the line under the editor leads to it
    if (go) line.append(go);
    line.append(prose("span", "pd-muted", hint), back);
    list.replaceChildren(...findings.map(row));
    if (more) list.append(make("li", "pd-muted", "and " + more + " more, which a run will list"));
    text.hidden = plain === null;
    text.textContent = plain === null ? "" : visibleText(plain, true);
    root.toggleAttribute("data-live-error", how === "error");
  }
  text.hidden = true;
  return { show: (decoded) => decoded && show(decoded) };
};

/** @param {LiveFinding} finding */
function row(finding) {
  const item = make("li", "pd-live-finding pd-" + finding.severity);
  item.append(make("span", "pd-severity", finding.mark + " " + finding.severity), prose("span", "", finding.title));
  item.append(ruleName(finding.code, finding.name, "pd-code-name"));
  const evidence = finding.evidence;
  if (evidence) item.append(button("show", "pd-small", () => showPlace(evidence), "Show it"));
  return item;
}

// The prompt meant here is the live one.
/** @param {Evidence} evidence */
function showPlace(evidence) {
  if (evidence.in === "prompt") return controller("live_tokens")?.jump(evidence);
  return jump(evidence);
}

// The way back from the prompt of the run.
function offerLive() {
  const panel = document.getElementById("pd-panel-render");
  if (!panel || document.getElementById("pd-live-again")) return;
  const box = make("p", "pd pd-live-again");
  box.id = "pd-live-again";
  box.append(make("span", "pd-muted", "The prompt of the run, before your edits."));
  box.append(button("Prompt of what I typed", "pd-small", () => choose(false)));
  panel.prepend(box);
}
