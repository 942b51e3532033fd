// @ts-check
// A worked case is loaded when somebody chose it. Gradio calls a list box changed whenever the focus leaves it, and once
// more after a choice: whoever only passes through, or has pasted since, must not lose what stands in the editor.

const box = () => document.getElementById("pd-case");
let isPressed = false; // the last press was on an option
/** @type {{ name: string, uses: Set<string> } | null} */
let choice = null; // the last one, and what has been done for it

/**
 * The case that was chosen, once for each use; null where nobody chose one since.
 * @param {string} use
 * @param {string | null} name
 */
export const chosenCase = (use, name) => {
  if (isPressed && name) choice = { name, uses: new Set() };
  isPressed = false;
  if (!choice || choice.uses.has(use)) return null;
  choice.uses.add(use);
  return choice.name;
};

// Whatever is pressed decides: an option, or Enter in the field, chooses; anything else does not.
/** @param {Event} event */
function press(event) {
  const found = box();
  const option = event.target instanceof Element && event.target.closest("[role=option]");
  isPressed = Boolean(option && found && (found.contains(option) || found.contains(document.activeElement)));
}

document.addEventListener("pointerdown", press, true);
document.addEventListener("mousedown", press, true);
document.addEventListener("keydown", ({ key, target }) => {
  const found = box();
  isPressed = key === "Enter" && Boolean(found && target instanceof Node && found.contains(target));
}, true);
