// @ts-check
// Says so as soon as the request under edit is no longer the one that was run. Undoing the edit takes it back.
import { aimed } from "./both_servers.js";
import { make } from "../lib/dom.js";
import { editorView } from "../editor/editor_link.js";
import { host, onVerdict } from "../lib/host.js";
import { isSameJson } from "../lib/json_format.js";
import { open, release } from "../views/linking.js";

/** @type {(() => void)[]} */
const listeners = [];
const WORDS = "This is the result of the request before your edits. Press Run to update it.";
/** @type {number | null} */
let ranRun = null; // number of the run whose request is known
/** @type {string | null} */
let ranText = null;
/** @type {string | null} */
let pressedText = null; // what stood in the editor when Run was pressed, until that run is heard of
/** @type {string | null} */
let textToRun = null; // the same, until the next press
/** @type {string | null} */
let openedText = null; // what an opened run was made of, until that run is drawn
/** @type {unknown} */
let knownDoc = null;
/** @type {string | null} */
let laidOut = null; // the text as Format left it: no edit
/** @type {{ ran: string | null, now: string | null, isSame: boolean }} */
let compared = { ran: null, now: null, isSame: false };
const MAX_COMPARED = 400_000; // characters of a text that is looked through at each key
let isRecorded = false; // what is shown is no run of this page
let isEditedRecording = false; // a recorded run is shown, and the request in the editor was edited by hand
let isOwnText = false; // a text of one's own has taken the place of all that the recorded run was made of
let isOfExample = false; // what the strip says belongs to the example: it ran once, or is there to be run
const OWN_WORDS = "Your own text: nothing has run yet. Press Run.";
let ownWords = OWN_WORDS;

function currentText() {
  const view = editorView();
  return view ? view.state.doc.toString() : null;
}

function isOutdated() {
  return isEditedRecording || (ranText !== null && !isSameRequest(ranText, currentText()));
}

// Space between the parts of JSON is no edit.
/**
 * @param {string} ran
 * @param {string | null} now
 */
function isSameRequest(ran, now) {
  if (ran === now || now === null) return ran === now;
  if (ran.length > MAX_COMPARED || now.length > MAX_COMPARED) return now === laidOut;
  if (compared.ran !== ran || compared.now !== now) compared = { ran, now, isSame: isSameJson(ran, now) };
  return compared.isSame;
}

// `text` is what the editor will hold, laid out anew: the same request.
/** @param {string} text */
export function relaid(text) {
  laidOut = isOutdated() ? null : text;
}

export { isOutdated };

// `listener()` is called whenever the request may have become another one, or the same again.
/** @param {() => void} listener */
export function onDrawn(listener) {
  listeners.push(listener);
}

// Panels that show what a run gave; a tool that is open stays open with another text.
const RESULTS = new Set(["complete", "parse", "findings"]);

// What was recorded says nothing of a text of one's own: it gives way until that has run.
function drawOwn() {
  const strip = document.querySelector(".pd-verdict");
  const note = strip && strip.querySelector(".pd-own-text");
  document.documentElement.toggleAttribute("data-own-text", isOwnText);
  if (note && !isOwnText) note.remove();
  if (note || !isOwnText || !strip) return;
  const made = make("div", "pd-own-text");
  made.append(make("span", "pd-own-badge", "READY"), make("p", "pd-own-words", ownWords));
  strip.append(made);
  host.markFindings?.([]);
  release(); // what is pinned, or said of the text before
  if (RESULTS.has(document.documentElement.dataset.panel ?? "parse")) open("render");
}

/**
 * Another text has taken the place of all that stood in the editor.
 * @param {string} [words] what there is to say of it
 */
export function takenOver(words = OWN_WORDS) {
  isOwnText = isOfExample;
  ownWords = words;
  drawOwn();
}

function draw() {
  const strip = document.querySelector(".pd-verdict");
  const isOld = isOutdated();
  document.documentElement.toggleAttribute("data-outdated", isOld);
  const note = strip && strip.querySelector(".pd-outdated");
  listeners.forEach((listener) => listener());
  if (note && !isOld) note.remove();
  if (!note && isOld && strip) strip.querySelector(".pd-verdict-text")?.append(make("p", "pd-outdated", WORDS));
}

// A quick run may end before its first word is drawn, so what is run is taken down where Run is pressed.
document.addEventListener(
  "click",
  (event) => {
    if (event.target instanceof Element && event.target.closest("#pd-run")) textToRun = pressedText = currentText();
  },
  true,
);

// The inputs of a run: what stood in the editor then, as gradio may not have heard of it yet.
/**
 * @param {string} text
 * @param {...unknown} rest
 */
export const fillRunText = (text, ...rest) => [textToRun === null ? text : textToRun, ...aimed(rest)];

// A run of the history is about to be drawn: it was made of this text.
/** @param {string | null} text */
export function openedRun(text) {
  openedText = text;
}

// The verdict strip tells of each of its states; a result that no run of this page made has no request to differ from,
// unless the history knows it. Opened runs have no number of their own.
onVerdict((verdict) => {
  if (verdict.run !== ranRun || !verdict.run) {
    const isRun = verdict.state !== "idle" && verdict.state !== "recorded";
    const text = isRun ? (pressedText ?? openedText) : null;
    ranRun = text === null ? null : verdict.run;
    ranText = text;
    pressedText = null;
    if (isRun) openedText = null;
  }
  isRecorded = verdict.state === "recorded" || (verdict.state === "done" && ranRun === null); // or a run that was opened
  isOfExample = isRecorded || verdict.state === "idle";
  isEditedRecording = isOwnText = false;
  drawOwn();
  draw();
});

export const editedByHand = () => {
  if (laidOut === null || currentText() !== laidOut) isEditedRecording = isRecorded;
  draw();
};

// The editor tells of no change; whatever it is made by, what is drawn changes with it.
export const watchForEdits = () => {
  const view = editorView();
  if (!view) return setTimeout(watchForEdits, 200);
  new MutationObserver(() => {
    const current = editorView();
    if (!current || current.state.doc === knownDoc) return;
    knownDoc = current.state.doc;
    draw();
  }).observe(view.contentDOM, { childList: true, characterData: true, subtree: true });
};
