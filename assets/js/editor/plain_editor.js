// @ts-check
// Colours of the request's editor take longer at each key the longer a text is: a very long one goes without.
import { press } from "../lib/dom.js";
import { editorView } from "./editor_link.js";

export const LONG_CHARS = 300_000;
const WORDS = "Long text: colours are off";
let isPlain = false;

// What the press of the button changes in gradio's editor.
export const editorLanguage = () => ({ __type__: "update", language: isPlain ? null : "json" });

/** Switches colours off and on with the length of the text; says whether they changed. */
export function followLength() {
  const view = editorView();
  if (!view || view.state.doc.length > LONG_CHARS === isPlain) return false;
  isPlain = !isPlain;
  press("pd-recolour");
  return true;
}

/** What the line under the editor says of it; nothing about a text of usual length. */
export const plainWords = () => (isPlain ? WORDS : "");
