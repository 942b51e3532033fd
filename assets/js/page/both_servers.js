// @ts-check
// One request on two servers: first on the lab, then on the one under Target, and the two runs side by side.
import { make, under } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { open } from "../views/linking.js";

const BOTH = "both";
const ENDPOINT = 0; // among the inputs of a run after the request
const RUN_ON = -3; // before the API and the saved servers
const MOST_S = 10; // for what the parsers said to be kept
const NEXT = "Next: the same request on the other server, once vLLM's parsers have answered.";
/** @type {"" | "first" | "between" | "second"} */
let step = "";
let isAsking = false; // vLLM's parsers, about a call that the run which is shown has lost
let isWaiting = false; // the second run, for what they say: it belongs to what is kept of the first

document.addEventListener("click", (event) => void (under(event, "#pd-lost-call") && (isAsking = true)), true);

/**
 * The inputs of a run after the request, with where this one of two goes.
 * @param {unknown[]} rest
 */
export function aimed(rest) {
  const isForBoth = rest.at(RUN_ON) === BOTH && String(rest[ENDPOINT] || "").trim() !== ""; // else the server says why
  step = isForBoth ? (step === "between" ? "second" : "first") : "";
  isAsking = isWaiting = false; // a run ends the questions about the one before
  return isForBoth ? rest.with(RUN_ON, step === "first" ? "lab" : "auto") : rest;
}

function wait() {
  isWaiting = true;
  document.querySelector(".pd-verdict-text")?.append(make("p", "pd-both-next", NEXT));
}

/** The parsers have been asked, or no one wants to know any more. */
export function questionEnded() {
  isAsking = false;
  if (!isWaiting) return;
  isWaiting = false;
  document.querySelectorAll(".pd-both-next").forEach((note) => note.remove());
  pressRun();
}

/** The parsers have answered: what they said is on its way to the kept run. */
export const answersCome = () => void setTimeout(questionEnded, MOST_S * 1000);

// Pressed as soon as it can be: the buttons of a run that has ended come back a moment after it.
function pressRun() {
  const run = /** @type {HTMLButtonElement | null} */ (document.getElementById("pd-run"));
  if (!run || !run.disabled) return run?.click();
  const watcher = new MutationObserver(() => {
    if (run.disabled) return;
    watcher.disconnect();
    run.click();
  });
  watcher.observe(run, { attributes: true });
}

/**
 * A run has ended and is kept: the other server's turn, or both are there.
 * @param {boolean} isWhole whether it has a verdict
 */
export function runIsKept(isWhole) {
  const was = step;
  step = was === "first" && isWhole ? "between" : "";
  if (step && isAsking) return wait();
  if (step) return pressRun();
  if (was !== "second") return;
  host.panelChosen = true;
  open("compare");
}
