// @ts-check
// A file takes the place of the request: dropped anywhere on the page, or chosen. What it holds is read like a paste.
import { host } from "../lib/host.js";
import { button, make, under } from "../lib/dom.js";
import { anotherText } from "./draft.js";
import { editorView, replaceRequest } from "./editor_link.js";
import { bundleInPicture, bundleInText, isPng } from "../lib/embedded.js";

const MAX_BYTES = 8_000_000; // as much as is read of a HAR
const OVER = "pdFileOver";
/** @type {(words: string) => void} */
let say = () => {};

/**
 * What keeps a file from being read, in words; "" if nothing does.
 * @param {number} size
 * @param {string} text
 */
export function refusal(size, text) {
  if (size > MAX_BYTES) return "That file has " + Math.ceil(size / 1e6).toLocaleString("en") + " MB; at most 8 are read.";
  if (!text.trim()) return "That file is empty.";
  return text.includes("\u0000") || text.includes("\ufffd\ufffd") ? "That file is not text." : "";
}

/** @param {string | null} packed */
function openEmbedded(packed) {
  if (!packed || !host.openPacked) return false;
  host.openPacked(packed);
  return true;
}

// The Markdown of a run, pasted: the run opens, and the text that was there stays. Heard before all others: it is no
// text of one's own.
globalThis.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") || "";
  const file = text ? null : event.clipboardData?.files[0]; // a picture that was copied, a file of a folder
  if (file && under(event, "#pd-request")) {
    event.preventDefault();
    event.stopPropagation();
    return void take(file);
  }
  if (!under(event, "#pd-request") || text.length > MAX_BYTES || !openEmbedded(bundleInText(text))) return;
  event.preventDefault();
  event.stopPropagation();
  say("The run in the pasted text.");
}, true);

/** @param {File | null | undefined} file */
async function take(file) {
  if (!file) return;
  const bytes = file.size > MAX_BYTES ? new Uint8Array() : new Uint8Array(await file.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  if (openEmbedded(bundleInPicture(bytes) || bundleInText(text))) return say("The run in " + file.name.slice(0, 80) + ".");
  const words = isPng(bytes) ? "That picture contains no run; one saved by this page does." : refusal(file.size, text);
  if (!words) anotherText();
  if (!words && replaceRequest(text, true)) editorView()?.focus();
  say(words || "From " + file.name.slice(0, 80) + ".");
}

// Adds the button to the editor's row; `tell` says how it went.
/** @param {(words: string) => void} tell */
export function fileButton(tell) {
  say = tell;
  const field = make("input", "pd-live");
  field.type = "file";
  field.id = "pd-file";
  field.tabIndex = -1;
  field.setAttribute("aria-label", "File to read");
  field.addEventListener("change", () => {
    take(field.files && field.files[0]);
    field.value = "";
  });
  return [button("File \u2026", "pd-small", () => field.click(), "Read a file: a request, HAR, bundle, report, picture, JSONL, raw output \u2026 or drop it on the page"), field];
}

/** @param {DragEvent} event */
function hasFile(event) {
  return event.dataTransfer !== null && Array.from(event.dataTransfer.types).includes("Files");
}

// Elsewhere the browser would leave the page for the file, and the editor would put it between two words.
globalThis.addEventListener("dragover", (event) => {
  if (!hasFile(event)) return;
  event.preventDefault();
  document.documentElement.dataset[OVER] = "";
}, true);

globalThis.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) delete document.documentElement.dataset[OVER];
}, true);

globalThis.addEventListener("drop", (event) => {
  delete document.documentElement.dataset[OVER];
  if (!hasFile(event)) return;
  event.preventDefault();
  event.stopPropagation();
  const file = event.dataTransfer?.files[0];
  if (!file || !host.takeDataset?.(file)) take(file);
}, true);
