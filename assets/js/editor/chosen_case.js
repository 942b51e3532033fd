// @ts-check
// A worked case is loaded when someone chose it. Gradio calls a list box changed whenever the focus leaves it, and once
// more after a choice: anyone who only passes through, or has pasted since, must not lose what is in the editor.
import { press } from "../lib/dom.js";
import { dropText } from "./draft.js";

const box = () => document.getElementById("pd-case");
let isPressed = false; // the last press was on an option
/** @type {string | null} */
let chosen = null; // the case that was chosen last

// The list box tells of an input.
/** @param {string | null} name */
export const chooseCase = (name) => {
  if (!isPressed || !name) return;
  isPressed = false;
  chosen = name;
  dropText(name);
  press("pd-load-case");
};

export const chosenCase = () => chosen;

// Whatever is pressed decides: an option, or Enter in the field, chooses; anything else does not.
/** @param {Event} event */
function note(event) {
  const found = box();
  const option = event.target instanceof Element && event.target.closest("[role=option]");
  isPressed = Boolean(option && found && (found.contains(option) || found.contains(document.activeElement)));
}

document.addEventListener("pointerdown", note, true);
document.addEventListener("mousedown", note, true);
document.addEventListener("keydown", ({ key, target }) => {
  const found = box();
  isPressed = key === "Enter" && Boolean(found && target instanceof Node && found.contains(target));
}, true);
