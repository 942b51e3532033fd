// @ts-check
// The primary button of the verdict, and below the result how trying the fix went, with what can be done then.
import { button, make, press, prose } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { onOffered, showOutcome } from "./offered_fix.js";
import { jump, open } from "./linking.js";

/** @typedef {{ kind: string, label: string, code: string | null }} Step */

/** @type {Record<string, (step: Step, said: HTMLElement) => void>} */
const STEPS = {
  try: ({ code }, said) => tryFix(code || "", said),
  show: ({ code }) => showFix(code || ""),
  ask: (_, said) => host.order?.("pd-ask-again", "", said),
  target: () => fillIn("#pd-endpoint textarea, #pd-endpoint input"),
  key: () => fillIn(KEY),
  tokenizer: () => fillIn(TOKENIZER),
  run: () => press("pd-run"),
  reload: () => globalThis.location.reload(),
  parsers: () => {
    open("parse");
    press("pd-start-parser-matrix");
  },
};
const KEY = "#pd-key input";
const TOKENIZER = "#pd-tokenizer :is(input, textarea)";
const HINTS = {
  try: "Run the changed request on the same server: is the fault gone, without a new one?",
  show: "Show what to change",
  ask: "Run the request in this paste, so that raw output and message come from one run",
  target: "Open the fields of the target",
  key: "Open the field for this server's key",
  tokenizer: "Open the field for the tokenizer: with it, the prompt is rendered here and the output is split into tokens",
  run: "Ask the model again with what is in the editor",
  reload: "Your text and the target come back",
  parsers: "Which parser reads this output?",
};
/** @type {{ root: HTMLElement, code: string } | null} */
let watched = null; // the strip that shows a fix of this finding

/**
 * @param {Step | null | undefined} step
 * @param {HTMLElement} said
 */
export function nextStep(step, said) {
  if (!step || (!host.order && step.kind !== "show")) return null; // a report has nothing to ask
  const field = step.kind === "key" ? KEY : step.kind === "tokenizer" ? TOKENIZER : "body";
  if (!document.querySelector(field)) return null; // a public page takes none
  const made = button(step.label, "pd-primary pd-step", () => STEPS[step.kind](step, said), HINTS[/** @type {keyof typeof HINTS} */ (step.kind)]);
  return made;
}

/**
 * @param {string} code
 * @param {HTMLElement} said
 */
function tryFix(code, said) {
  showOutcome({ code, state: "running", sentence: "Starting \u2026", hint: "", short: "" });
  host.order?.("pd-try-fix", code, said);
}

/** @param {string} code */
function showFix(code) {
  host.panelChosen = true;
  jump({ in: "finding", finding: code });
}

// A field under Target, which opens for it.
/** @param {string} selector */
function fillIn(selector) {
  const field = /** @type {HTMLElement | null} */ (document.querySelector(selector));
  if (field && !field.checkVisibility()) /** @type {HTMLElement | null} */ (document.querySelector("#pd-target button"))?.click();
  requestAnimationFrame(() => field?.focus());
}

/**
 * @param {HTMLElement} root
 * @param {string | null} code
 */
export function watchTrial(root, code) {
  watched = code ? { root, code } : null;
}

/**
 * How trying a fix goes or went: in few words, and whole where it worked.
 * @param {string} state
 * @param {string} short
 * @param {string} whole
 */
export function trialLine(state, short, whole) {
  const line = make("p", "pd-trial");
  line.dataset.state = state;
  if (state === "worked") line.append(make("span", "pd-badge", "FIXED"));
  line.append(prose("span", "pd-trial-words", short));
  if (whole && state === "worked") line.append(prose("span", "pd-trial-more", whole));
  return line;
}

// How it goes is in place of the cause; the badge stays the run's own.
onOffered((news) => {
  if (!watched || news.code !== watched.code || !watched.root.isConnected || news.state === "untried") return;
  const { root, code } = watched;
  const text = root.querySelector(".pd-verdict-text");
  root.querySelectorAll(".pd-trial").forEach((old) => old.remove());
  const whole = news.state === "running" ? "Trying the fix: " + news.sentence : news.short || [news.sentence, news.hint].filter(Boolean).join(" ");
  const line = trialLine(news.state, whole, news.short ? news.sentence : "");
  text?.append(line);
  if (news.state === "running") showClock(line, news);
  root.dataset.trial = news.state;
  drawActions(root, code, news);
});

let since = 0; // when the trial began

// How long a trial has taken; no one hears its seconds.
/**
 * @param {HTMLElement} line
 * @param {import("./offered_fix.js").News} news
 */
function showClock(line, { sentence }) {
  if (sentence === "Starting \u2026") since = Date.now();
  const clock = make("span", "pd-muted", "");
  clock.setAttribute("aria-live", "off");
  line.append(clock);
  const tick = () => {
    const seconds = Math.round((Date.now() - since) / 1_000);
    clock.textContent = since && seconds ? seconds + " s" : "";
    if (line.isConnected) setTimeout(tick, 1_000);
  };
  tick();
}

// The run has the proof now, or it could not be added.
/** @param {boolean} isThere */
export const proofAdded = (isThere) => {
  /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(".pd-step[data-adding]")).forEach((add) => {
    delete add.dataset.adding;
    [add.disabled, add.textContent] = isThere ? [true, "In the report \u2713"] : [false, "Add to report"];
  });
};

/**
 * @param {HTMLElement} root
 * @param {string} code
 * @param {import("./offered_fix.js").News} news
 */
function drawActions(root, code, news) {
  const box = root.querySelector(".pd-actions");
  const said = /** @type {HTMLElement | null} */ (box && box.querySelector("[role=status]"));
  if (!box || !said) return;
  const had = box.contains(document.activeElement);
  box.querySelectorAll(".pd-step").forEach((old) => old.remove());
  const made = buttonsFor(code, news, said);
  box.prepend(...made);
  if (had) made[0]?.focus();
}

/**
 * @param {string} code
 * @param {import("./offered_fix.js").News} news
 * @param {HTMLElement} said
 */
function buttonsFor(code, news, said) {
  if (news.state === "running") return [button("Stop", "pd-step", () => {
    host.order?.("pd-stop-fix", code, said);
    showOutcome({ code, state: "stopped", sentence: "Stopped before it ended.", hint: "", short: "" });
  })];
  /** @param {boolean} goesOn */
  const apply = (goesOn) => {
    host.goesOn = goesOn;
    host.order?.("pd-apply-fix", code, said);
  };
  if (news.revealed) {
    return [button("Apply, go on to " + news.revealed, "pd-primary pd-step", () => apply(true), "Put the changed request into the editor and run it: the verdict is then about the next error"),
      button("Show the fix", "pd-step", () => showFix(code))];
  }
  if (news.state !== "worked") return [button("Try again", "pd-step", () => tryFix(code, said)), button("Show the fix", "pd-step", () => showFix(code))];
  const add = button("Add to report", "pd-step", () => {
    host.order?.("pd-add-proof", JSON.stringify({ code, sentence: news.sentence, calls: news.calls }), said);
    [add.disabled, add.textContent, add.dataset.adding] = [true, "Adding \u2026", ""];
  }, "What was changed, and the result, are included in everything that Share creates from this run");
  if (!news.applies) return [button("Show the fix", "pd-step", () => showFix(code)), add];
  return [button("Apply", "pd-primary pd-step", () => apply(false), "Put the changed request into the editor and run it; Compare then shows both runs"), add];
}
