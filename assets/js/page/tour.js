// @ts-check
// A short tour on demand: one part of the page after the other is framed, and a box at the lower edge says what it is for.
import { button, make, prose } from "../lib/dom.js";

const FRAME = "pd-toured";
/** @type {[string, string, string][]} */
const STOPS = [
  ["#pd-request", "The request", "Paste what you have: JSON, `curl`, Python; also a model's output or a server's answer. Use *File* or drop a file. The line below shows what it was recognized as."],
  ["#pd-tab-render", "Render", "The prompt that the model reads, token by token. It is rendered while you type, without a run."],
  ["#pd-target", "Target", "Where requests go: the lab, a real vLLM with a miniature model, or your own server, with its key if it requires one."],
  ["#pd-run", "Run", "Requests the raw output and the chat response, and compares the two."],
  ["#pd-tab-parse", "Parse", "Where every character of the raw output ended up: which calls were returned, dropped, altered or invented."],
  ["#pd-verdict", "Verdict", "One sentence to quote: what happened, and which stage is guilty. *Evidence* goes to the place, and the filled button is the next step."],
  ["#pd-tab-findings", "Findings", "What is wrong, worst first. Each code leads to its page; one click tests a fix, with before and after side by side."],
  ["#pd-inspector", "Inspector", "Everything about what is under the pointer: a token's id and bytes, the field and the template line it came from."],
  ["#pd-history", "Keep and send", "*History* keeps the runs of this browser. *Share* makes links, reports and a text for an issue, without keys."],
];
/** @type {HTMLElement | null} */
let box = null;
/** @type {HTMLElement | null} */
let opener = null;
let at = 0;

// The parts of the tour that this page has: a public one has fewer.
function parts() {
  return STOPS.flatMap(([where, name, words]) => {
    const part = /** @type {HTMLElement | null} */ (document.querySelector(where));
    return part && part.offsetParent !== null ? [{ part, name, words }] : [];
  });
}

function unframe() {
  document.querySelectorAll("." + FRAME).forEach((part) => part.classList.remove(FRAME));
}

function end() {
  unframe();
  if (box) box.remove();
  box = null;
  document.removeEventListener("keydown", onKey, true);
  if (opener) opener.focus();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.stopPropagation();
  end();
}

/** @param {number} step */
function go(step) {
  const all = parts();
  at = Math.min(Math.max(0, at + step), all.length);
  if (!box || at === all.length) return end();
  const { part, name, words } = all[at];
  unframe();
  part.classList.add(FRAME);
  part.scrollIntoView({ block: "nearest" });
  const back = button("Back", "pd-small", () => go(-1));
  back.disabled = at === 0;
  const next = button(at === all.length - 1 ? "Done" : "Next", "pd-small pd-tour-next", () => go(1));
  const bar = make("p", "pd-tour-bar");
  bar.append(make("span", "pd-muted", at + 1 + " of " + all.length), back, next, button("End the tour", "pd-small", end));
  const said = make("p", "pd-tour-words");
  words.split("*").forEach((piece, number) => said.append(number % 2 ? make("em", "", piece) : prose("span", "", piece)));
  box.replaceChildren(make("h2", "", name), said, bar);
  box.setAttribute("aria-label", "Tour: " + name);
  next.focus({ preventScroll: true });
}

/** @param {HTMLElement | null} from Takes the focus back at the end. */
export function startTour(from) {
  end();
  opener = from;
  at = 0;
  box = make("section", "pd pd-tour");
  box.setAttribute("role", "dialog");
  box.setAttribute("aria-live", "polite");
  document.body.append(box);
  document.addEventListener("keydown", onKey, true);
  go(0);
}
