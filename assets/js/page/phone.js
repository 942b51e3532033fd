// @ts-check
// A narrow window: what the run came to stands right below the verdict, Run in a bar that stays in sight, and the request
// folds to one line once it has run; the bar brings it back.
import { button } from "../lib/dom.js";
import { onVerdict } from "../lib/host.js";

const NARROW = globalThis.matchMedia("(max-width: 900px)");
const root = document.documentElement;
/** @type {HTMLButtonElement | null} */
let toggle = null;
/** @type {number | null} */
let foldedFor = null; // the run whose end has folded the request

/** @param {boolean} isFolded */
function fold(isFolded) {
  root.toggleAttribute("data-request-folded", isFolded);
  if (!toggle) return;
  toggle.setAttribute("aria-expanded", String(!isFolded));
  toggle.textContent = isFolded ? "Request \u25b8" : "Request \u25be";
}

function openRequest() {
  const isFolded = root.hasAttribute("data-request-folded");
  const left = document.getElementById("pd-left");
  const isInSight = left !== null && left.getBoundingClientRect().top >= 0 && left.getBoundingClientRect().top < globalThis.innerHeight / 2;
  if (!isFolded && isInSight) return fold(true);
  fold(false);
  left?.scrollIntoView({ block: "start" });
}

// Into the bar, before Run: gradio draws the bar once and leaves what is added alone.
function addToggle() {
  const bar = document.getElementById("pd-buttons");
  if (!bar || toggle) return;
  toggle = button("Request \u25be", "pd-request-toggle", openRequest, "Show or fold the request");
  toggle.setAttribute("aria-controls", "pd-left");
  toggle.setAttribute("aria-expanded", "true");
  bar.classList.add("pd");
  bar.prepend(toggle);
}

// What a press brings about is in its place at once: what came later would move the page under the reader's eyes.
document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element) || !target.closest("#pd-run") || !NARROW.matches) return;
  root.toggleAttribute("data-has-result", true);
  document.getElementById("pd-verdict")?.scrollIntoView({ block: "nearest" });
}, true);

onVerdict((verdict) => {
  addToggle();
  root.toggleAttribute("data-has-result", verdict.state !== "idle");
  if (verdict.state !== "done" || !verdict.run || verdict.run === foldedFor) return;
  foldedFor = verdict.run;
  fold(true);
});
