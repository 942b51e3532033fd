// @ts-check
// A worked case is loaded when somebody chose it. Gradio calls a list box changed whenever the focus leaves it: whoever
// only passes through must not lose what stands in the editor.

const box = () => document.getElementById("pd-case");

// Whatever is pressed decides: an option, or Enter in the field, chooses; anything else does not.
/** @param {boolean} isChosen */
function set(isChosen) {
  const found = box();
  if (!found) return;
  if (isChosen) found.dataset.chosen = "true";
  else delete found.dataset.chosen;
}

/** @param {Event} event */
function press(event) {
  const found = box();
  const option = event.target instanceof Element && event.target.closest("[role=option]");
  set(Boolean(option && found && (found.contains(option) || found.contains(document.activeElement))));
}

document.addEventListener("pointerdown", press, true);
document.addEventListener("mousedown", press, true);
document.addEventListener("keydown", ({ key, target }) => {
  const found = box();
  set(key === "Enter" && Boolean(found && target instanceof Node && found.contains(target)));
}, true);
