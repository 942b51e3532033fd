// @ts-check
// What was typed and which server is meant survive a reload: kept in this browser alone, never a key, and only if wanted.
import { compareInAddress, panelOfAddress, runsOfAddress } from "../page/address.js";
import { builders } from "../lib/builders.js";
import { drawn, make, under } from "../lib/dom.js";
import { editorView, replaceRequest } from "./editor_link.js";
import { forgetAll, host } from "../lib/host.js";
import { open as openPanel } from "../views/linking.js";
import { editedByHand, takenOver } from "../page/outdated.js";
import { packPayload } from "../lib/packing.js";

/**
 * @typedef {{ text?: string | null, run?: number | null, isRunning?: boolean, worked?: string | null, fields?: FieldValue[] | null,
 *   defaults?: FieldValue[] | null, compared?: number[], panel?: string }} Draft What is kept.
 * @typedef {string | null} FieldValue Of a field under Target.
 * @typedef {FieldValue | typeof SAME} NewValue
 */

const DRAFT = "pd-draft";
const OFF = "pd-keep-nothing";
const MAX_CHARS = 400_000;
const PAUSE_MS = 400;
const SAME = { __type__: "update" }; // gradio leaves such a field as it is
// What may hold a key is not kept at all: a part of it that was missed would lie there in clear.
const KEY = /authorization|bearer\s|api[-_]?key|secret|password|\bsk-[\w-]{6}|\bhf_\w{8}|:\/\/[^\s/"'@]+@/i;
const WORDS = "Keep my text, target, servers and runs in this browser. Keys, and texts that seem to contain one, are never kept; unticking deletes what is kept.";
const KEPT_WORDS = "Your last text, restored from this browser. Press Run, or choose an example.";
const ENDED_WORDS = "The run of this text ended when the page was left. Press Run to ask again.";
const AIMED = 6; // among the fields, the last: the server that a paste has made the target; "" for one that was chosen
const LEFT_WORDS = "This request was running when the page was left, which ended the run. Press Run to ask again.";
let timer = 0;
/** @type {string | null} */
let pending = null; // what was typed and is not kept yet
/** @type {FieldValue[] | null} */
let defaults = null; // the fields as the page came
let isAnother = false; // the text that is about to be kept is no edit of the one before
let isTouched = false; // someone typed, or chose a case, since the page came
/** @type {string | null} */
let broughtBack = null; // what was kept and is in the editor again: that is not typed
let isAimed = false; // someone typed under Target

// Each tab of the browser has its own; one that is opened begins with the last of any.
/** @returns {Draft} */
function read() {
  try {
    const kept = globalThis.sessionStorage.getItem(DRAFT) || globalThis.localStorage.getItem(DRAFT);
    return JSON.parse(kept || "null") || {};
  } catch {
    return {};
  }
}

function forget() {
  [globalThis.localStorage, globalThis.sessionStorage].forEach((storage) => storage.removeItem(DRAFT));
}

globalThis.addEventListener("storage", ({ key, newValue }) => key === OFF && newValue && forget()); // in another tab

/** @param {Draft} change */
function write(change) {
  try {
    if (globalThis.localStorage.getItem(OFF)) return;
    const text = JSON.stringify({ ...read(), ...change });
    globalThis.sessionStorage.setItem(DRAFT, text);
    globalThis.localStorage.setItem(DRAFT, text);
  } catch {
    // a browser that keeps nothing, or has no room left
  }
}

/** @param {string} text */
export const mayKeep = (text) => text.length <= MAX_CHARS && !KEY.test(text);

// Returns what *Example* is to name: no case any more, once another text has taken the place of all.
/** @param {string | null} text */
export const keepText = (text) => {
  if (text !== broughtBack) isTouched = true;
  clearTimeout(timer);
  pending = text || "";
  timer = setTimeout(flush, PAUSE_MS);
  if (!isAnother) return SAME;
  isAnother = false;
  takenOver();
  write({ worked: null });
  return null;
};

// A text is about to take the place of all that is in the editor.
export function anotherText() {
  isAnother = true;
}

// Pasted or typed over the whole text: it is another one.
/** @param {Event} event */
function noteWhole({ target }) {
  const view = editorView();
  if (!view || !(target instanceof Node) || !view.dom.contains(target)) return;
  const { from, to } = view.state.selection.main;
  if (from === 0 && to === view.state.doc.length) anotherText();
}

document.addEventListener("paste", noteWhole, true);
document.addEventListener("beforeinput", noteWhole, true);

function flush() {
  if (pending !== null) write({ text: mayKeep(pending) ? pending : null, isRunning: false });
  pending = null;
}

globalThis.addEventListener("pagehide", flush); // who reloads at once loses no letter

// Run was pressed: what runs is the text to come back to, and no run before it.
/** @param {string | null} text */
export const keepRunning = (text) => {
  isTouched = true;
  clearTimeout(timer);
  pending = null;
  write({ text: mayKeep(text || "") ? text : null, run: null, isRunning: true });
};

export const runIsOver = () => write({ isRunning: false });

// A worked case is one choice away: nothing to keep of it, nor of the parsers that came before it.
/** @param {string | null} worked */
export const dropText = (worked) => {
  isTouched = true;
  clearTimeout(timer);
  pending = null;
  const { fields } = read();
  const kept = Array.isArray(fields) && defaults ? [...fields.slice(0, 3), ...defaults.slice(3, AIMED), ...fields.slice(AIMED)] : null;
  write({ text: null, run: null, isRunning: false, fields: kept, worked });
};

// The run that a reload brings back; what was run is the text that is there.
/** @param {number} run */
export const keepCurrentRun = (run) => write({ run });

// The two runs that stand side by side, by their ids.
/** @param {number[]} compared */
export const keepCompared = (compared) => {
  write({ compared });
  compareInAddress(compared);
};

document.addEventListener("input", (event) => (isAimed = isAimed || under(event, "#pd-target") !== null), true);

// Which panel is open, from the time on that what was kept is back.
function watchPanel() {
  const root = document.documentElement;
  const keep = () => write({ panel: root.dataset.panel });
  new MutationObserver(keep).observe(root, { attributes: true, attributeFilter: ["data-panel"] });
}

// A run that was opened from the history, with the text that was run.
/** @param {{ id: number, ran: string | null }} run */
export const keepOpened = ({ id, ran }) => write({ run: id, text: ran, isRunning: false, worked: null });

/** @param {...FieldValue} fields */
export const keepTarget = (...fields) => {
  const isKept = fields.every((field) => mayKeep(String(field || "")));
  if (defaults) write({ fields: isKept ? fields : null, defaults });
};

export const isKeeping = () => {
  try {
    return !globalThis.localStorage.getItem(OFF);
  } catch {
    return false;
  }
};

/** @param {boolean} isOn */
export const setKeeping = (isOn) => {
  try {
    forget();
    if (isOn) globalThis.localStorage.removeItem(OFF);
    else globalThis.localStorage.setItem(OFF, "1");
  } catch {
    // nothing is kept anyhow
  }
  if (!isOn) forgetAll();
  /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll(".pd-keep-switch input")).forEach((box) => (box.checked = isOn));
};

// The switch, wherever it stands.
/** @param {string} className */
export const keepSwitch = (className) => {
  const label = make("label", "pd-keep-switch " + className);
  const box = make("input", "");
  box.type = "checkbox";
  box.checked = isKeeping();
  box.addEventListener("change", () => setKeeping(box.checked));
  label.append(box, make("span", "", WORDS));
  return label;
};

// What the page offers may have changed since: a parser that it does not know is left as it is.
/**
 * @param {number} at
 * @param {string} value
 */
function isOffered(at, value) {
  const page = host.sharePage;
  if (!page) return true;
  /** @type {Record<number, string[]>} */
  const lists = { 3: page.tool_parsers, 4: page.reasoning_parsers };
  const offered = lists[at];
  return offered ? offered.includes(value) : page.takes_model !== false;
}

// The new values of [notices, worked case, the fields of the target]; the editor's text takes its place at once, or
// never.
/**
 * @param {unknown} notices
 * @param {unknown} worked
 * @param {...FieldValue} fields
 */
export const restoreDraft = async (notices, worked, ...fields) => {
  defaults = fields;
  const kept = isKeeping() ? read() : {};
  try {
    const values = await restored(kept, fields);
    return isAimed ? values.map((value, at) => (at > 1 ? SAME : value)) : values;
  } finally {
    watchPanel();
  }
};

/**
 * @param {Draft} kept
 * @param {FieldValue[]} fields
 * @returns {Promise<NewValue[]>}
 */
async function restored(kept, fields) {
/** @type {NewValue[]} */
  const values = [SAME, SAME, ...fields.map(() => SAME)];
  const text = typeof kept.text === "string" && kept.text.trim() !== "" ? kept.text : null;
  const isOfPaste = Array.isArray(kept.fields) && Boolean(kept.fields[AIMED]) && kept.fields[AIMED] === kept.fields[0];
  const hasCall = text !== null || Boolean(kept.run) || !isOfPaste; // else the call that named the target is gone
  const isSamePage = JSON.stringify(kept.defaults) === JSON.stringify(fields); // not started with another server since
  if (isSamePage && hasCall && Array.isArray(kept.fields)) {
    kept.fields.forEach((value, at) => {
      if (typeof value === "string" && value !== fields[at] && isOffered(at, value)) values[2 + at] = value;
    });
  }
  const hasText = text !== null;
  if (hasText) {
    values[0] = await packPayload({ state: "ok", summary: kept.isRunning ? LEFT_WORDS : KEPT_WORDS, items: [] });
    const view = await drawn(editorView);
    const isThere = view.state.doc.toString() === text; // the case that the page begins with
    broughtBack = text;
    if (isTouched || (!isThere && !replaceRequest(text))) return values.map((value, at) => (at ? value : SAME));
    if (kept.worked === null) takenOver(kept.isRunning ? ENDED_WORDS : undefined);
    else if (!isThere) editedByHand();
  }
  if (kept.worked !== undefined && (hasText || kept.run) && !isTouched) values[1] = kept.worked;
  if ((hasText || kept.run) && !isTouched) reopen(kept, text);
  else if (runsOfAddress().length) host.compareKept?.(runsOfAddress()); // its panel opens by the address itself
  return values;
}

// The run, the panel that was open, and the two runs in it that were compared.
/**
 * @param {Draft} kept
 * @param {string | null} text
 */
async function reopen(kept, text) {
  const isFree = () => !isTouched;
  await drawn(() => document.getElementById("pd-history-menu"));
  if (kept.run) await host.reopenKept?.(kept.run, text, isFree);
  const panel = panelOfAddress() || kept.panel;
  if (!panel || !isFree() || !document.getElementById("pd-panel-" + panel)) return;
  host.panelChosen = true; // the end of drawing opens no other
  openPanel(panel);
  const compared = runsOfAddress().length ? runsOfAddress() : kept.compared;
  if (panel === "compare" && Array.isArray(compared)) host.compareKept?.(compared);
}

builders.draft = (root) => {
  const { hash, search } = globalThis.location;
  if (!hash.startsWith("#pd=") && !new URLSearchParams(search).has("modelId")) root.pdAsk("change");
  return { show() {} };
};
