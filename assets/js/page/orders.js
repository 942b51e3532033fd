// @ts-check
// Orders of the views: a button inside a view triggers a hidden gradio button, and every answer comes through one channel:
// a text for the editor or the clipboard, a file, the outcome of a fix, or why it could not be done.
import { builders } from "../lib/builders.js";
import { showOutcome } from "../views/offered_fix.js";
import { prose } from "../lib/dom.js";
import { replaceRequest } from "../editor/editor_link.js";
import { host, onVerdict } from "../lib/host.js";
import { isConnectionLost } from "./lost_connection.js";
import { open } from "../views/linking.js";
import { proofAdded } from "../views/next_step.js";
import { saveFile } from "../lib/packing.js";

/** @type {unknown} */
let value = ""; // the order, until gradio reads it
/** @type {Element | null} */
let answerPlace = null; // where the answer is shown
let comparesNext = false; // the next run is of a changed request, to be compared with the last run
let isCompared = false; // the run that is shown is to be compared
/** @type {number | null} */
let shownRun = null; // number of the run that is shown

/** @type {NonNullable<typeof host.order>} */
export const order = (buttonId, order, status) => {
  value = order;
  answerPlace = status;
  const element = document.getElementById(buttonId);
  if (element) element.click();
};

/** @param {string | Element | null} place */
export const answerAt = (place) => (answerPlace = typeof place === "string" ? document.getElementById(place) : place);

// Puts the order in as the first input of such an event; the other inputs stay as they are.
/**
 * @param {unknown} _
 * @param {...unknown} rest
 */
export const fillOrder = (_, ...rest) => [value, ...rest];

/**
 * @param {string} sentence
 * @param {string} [hint]
 */
function say(sentence, hint) {
  if (answerPlace && answerPlace.isConnected) answerPlace.replaceChildren(prose("span", "", [sentence, hint].filter(Boolean).join(" ")));
}

export const orderRefused = () => {
  if (!isConnectionLost()) say("The page's server did not accept it.", "See the error notice.");
  proofAdded(false);
};

/**
 * @param {string} text
 * @param {string} name
 */
async function copy(text, name) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied as " + name + ".");
  } catch {
    const area = document.createElement("textarea");
    area.className = "pd-opener-text";
    area.readOnly = true;
    area.value = text;
    area.setAttribute("aria-label", "Copy it from here");
    if (answerPlace) answerPlace.replaceChildren(area);
    area.select();
  }
}

// Puts a request into the editor as if it were typed, so it can be undone. Runs it and compares the runs, if asked to.
/**
 * @param {string} text
 * @param {boolean} isRun
 * @param {boolean} [isForComparing]
 */
export const applyRequest = (text, isRun, isForComparing = true) => {
  if (!replaceRequest(text, true)) return;
  if (!isRun) return say("It is in the editor.");
  const run = /** @type {HTMLButtonElement | null} */ (document.getElementById("pd-run"));
  if (!run || run.disabled) return say("It is in the editor. A run is in progress: press Run when it has ended.");
  say("It is in the editor and running.");
  comparesNext = isForComparing;
  run.click();
};

// A quick run may end before anything of it is drawn: runs are distinguished by their numbers.
onVerdict((verdict) => {
  if (verdict.run !== shownRun && comparesNext) [isCompared, comparesNext] = [true, false];
  else if (verdict.run !== shownRun) isCompared = false;
  shownRun = verdict.run;
  if (!isCompared || verdict.state === "running") return;
  isCompared = false;
  if (verdict.state !== "done") return;
  host.panelChosen = true;
  open("compare");
});

host.order = order;

/** @type {Record<string, (header: any, text: () => string, columns: ArrayBuffer) => unknown>} */
const ANSWERS = {
  offered: (header) => showOutcome(header),
  copy: (header, text) => copy(text(), header.name),
  apply: (header, text) => {
    applyRequest(text(), header.runs !== false, header.compares !== false && !host.goesOn);
    host.goesOn = false;
  },
  file: (header, text, columns) => {
    saveFile(columns, header.type, header.name);
    say("Saved " + header.name + ".", header.hint);
  },
  told: (header) => say(header.sentence),
  proved: (header) => {
    say(header.sentence);
    proofAdded(true);
    host.runChanged?.();
  },
  failure: (header) => {
    say(header.sentence.replace(/\.?$/, "."), header.hint);
    proofAdded(false);
  },
};

builders.orders = () => ({
  show: (decoded) => decoded && ANSWERS[decoded.header.kind](decoded.header, () => new TextDecoder().decode(decoded.columns), decoded.columns),
});
