// @ts-check
// What helps in the request's editor: JSON laid out, a word where it is empty, whether what is there is at fault.
import { builders } from "../lib/builders.js";
import { button, make, under } from "../lib/dom.js";
import { REQUEST, markWrong } from "./editor_marks.js";
import { editorView, replaceRequest } from "./editor_link.js";
import { fileButton } from "./file_drop.js";
import { formatJson } from "../lib/json_format.js";
import { onDrawn, relaid } from "../page/outdated.js";
import { followLength, plainWords } from "./plain_editor.js";

const PLACEHOLDER = "Paste a request: JSON, curl, Python \u2026 or a model's output, or a server's answer.";
const NO_JSON = "This is not JSON, so it is left unchanged.";
/** @type {unknown} */
let saidOf = null; // the text that the words next to the button are about
/** @type {(words: string) => void} */
let say = () => {};

// Lays the request out, one part a line; as if typed, so that it can be undone.
export function formatRequest() {
  const view = editorView();
  if (!view) return;
  const text = view.state.doc.toString();
  const laidOut = formatJson(text);
  saidOf = view.state.doc;
  if (laidOut === null) return say(text.trim() ? NO_JSON : "There is nothing to format yet.");
  say(laidOut === text ? "It is already formatted." : "Formatted: numbers, strings and keys are unchanged.");
  if (laidOut !== text) {
    relaid(laidOut);
    replaceRequest(laidOut, true);
  }
  saidOf = view.state.doc;
}

// The words about a file stay as long as its text does.
/** @param {string} words */
function fromFile(words) {
  const view = editorView();
  saidOf = view && view.state.doc;
  say(words);
}

builders.format = (root) => {
  const status = make("span", "pd-format-words");
  status.setAttribute("role", "status");
  say = (words) => (status.textContent = [words, plainWords()].filter(Boolean).join(" "));
  const format = button("Format", "pd-small", formatRequest, "Format the request as JSON (Shift + Alt + F)");
  format.setAttribute("aria-keyshortcuts", "Shift+Alt+F");
  root.append(format, ...fileButton(fromFile), status);
  return { show() {} };
};

// The lines under the editor were drawn: a fault among them is marked at its place.
/**
 * @param {string} state
 * @param {(Place & { message?: string })[]} items
 */
export function markNotices(state, items) {
  const view = editorView();
  const isWrong = state === "error";
  markWrong("notices", REQUEST, isWrong ? items : items.filter((item) => item.line)); // a comma too many is read all the same
  const editor = view && view.contentDOM; // it looks at itself again whenever an attribute changes
  if (editor && editor.getAttribute("aria-invalid") !== String(isWrong)) editor.setAttribute("aria-invalid", String(isWrong));
}

onDrawn(() => {
  const view = editorView();
  if (!view) return;
  if (!view.contentDOM.hasAttribute("aria-placeholder")) view.contentDOM.setAttribute("aria-placeholder", PLACEHOLDER);
  document.documentElement.toggleAttribute("data-empty-request", view.state.doc.length === 0);
  if (view.state.doc.length === 0) markNotices("ok", []);
  const isRecoloured = followLength();
  if (view.state.doc !== saidOf || isRecoloured) say("");
});

document.addEventListener(
  "keydown",
  (event) => {
    if (event.code !== "KeyF" || !event.shiftKey || !event.altKey || event.ctrlKey || event.metaKey) return;
    if (!under(event, "#pd-left")) return;
    event.preventDefault(); // on a Mac these keys write a sign
    event.stopPropagation();
    formatRequest();
  },
  true,
);
