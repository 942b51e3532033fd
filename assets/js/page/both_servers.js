// @ts-check
// One request on two servers: first on the lab, then on the one under Target, and the two runs side by side.
import { make, under } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { open } from "../views/linking.js";

/** @typedef {{ id: number, packed: string }} Kept A run of the history, or of this page alone. */

const BOTH = "both";
const ENDPOINT = 0; // among the inputs of a run after the request
const ALONE = "The lab's run is in the lists of Compare. The two are not compared, as this one has no result.";
const RUN_ON = -3; // before the API and the saved servers
/** @type {"" | "first" | "between" | "second"} */
let step = "";
let isAsking = false; // vLLM's parsers, about a call that the run which is shown has lost
/** @type {Kept | null} */
let unasked = null; // the first run, if the second began before they had answered: they are asked about it after that

document.addEventListener("click", (event) => void (under(event, "#pd-lost-call") && (isAsking = true)), true);

/**
 * The inputs of a run after the request, with where this one of two goes.
 * @param {unknown[]} rest
 */
export function aimed(rest) {
  const isForBoth = rest.at(RUN_ON) === BOTH && String(rest[ENDPOINT] || "").trim() !== ""; // else the server says why
  step = isForBoth ? (step === "between" ? "second" : "first") : "";
  isAsking = false; // a run ends the questions about the one before
  return isForBoth ? rest.with(RUN_ON, step === "first" ? "lab" : "auto") : rest;
}

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
 * @param {Kept} run
 */
export function runIsKept(isWhole, run) {
  const was = step;
  step = was === "first" && isWhole ? "between" : "";
  if (step) {
    unasked = isAsking ? run : null;
    return pressRun();
  }
  if (was !== "second") return;
  if (isWhole) showBoth();
  else document.querySelector("#pd-verdict .pd-verdict-text")?.append(make("p", "pd-both-next", ALONE));
  if (unasked) host.order?.("pd-ask-kept", unasked.id + "\n" + unasked.packed, null);
  unasked = null;
}

function showBoth() {
  host.panelChosen = true;
  open("compare");
}
