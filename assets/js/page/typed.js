// @ts-check
// What follows a key in the request: at once, or where the text is long, once someone pauses. To hand a long text over
// takes the browser longer than a key may.
import { press, under } from "../lib/dom.js";
import { editorView } from "../editor/editor_link.js";
import { keepText } from "../editor/draft.js";
import { editedByHand } from "./outdated.js";

const LONG_CHARS = 100_000;
const PAUSE_MS = 500;
let timer = 0;
let aimTimer = 0;

// Returns what *Example* is to name.
export const typed = () => {
  const view = editorView();
  press("pd-keep-typed");
  editedByHand();
  clearTimeout(timer);
  if (!view || view.state.doc.length < LONG_CHARS) press("pd-check-request");
  else timer = setTimeout(() => press("pd-check-request"), PAUSE_MS);
  return keepText(view ? view.state.doc.toString() : "");
};

// An address that is typed ends a check of the text that is under way, and what is said of a pasted call's server goes by
// the address. Where that was deleted, a check would fill in the pasted one again: only the words on Run are asked for.
document.addEventListener("input", (event) => {
  if (under(event, "#pd-endpoint") === null) return;
  clearTimeout(aimTimer);
  const { value } = /** @type {HTMLInputElement} */ (event.target);
  aimTimer = setTimeout(() => press(value.trim() ? "pd-check-request" : "pd-name-run"), PAUSE_MS);
}, true);
