// @ts-check
// The connection to the page's server broke while something ran. Gradio would wait for ever, or load the page again and
// drop what had come: instead the page says so, keeps it, and offers to go on once the server answers again.
import { onVerdict } from "../lib/host.js";
import { press } from "../lib/dom.js";
import { packPayload } from "../lib/packing.js";
import { settle } from "../tools/bench.js";

const IDENTITY = "/app_id"; // of the server, as gradio asks for it
const PAUSE_MS = 1_000;
const PAUSES = 30; // the longest between two questions, in times of that
const LOST = "The connection to this page's server was lost during the run. What had arrived is below.";
const WAITING = "Run can be pressed again as soon as the server answers.";
const BACK = "The server answers again: press Run to ask again.";
const RESTARTED = "The server was started again: load the page again to go on. Your text is kept.";
const LOST_WORDS = "The connection to this page's server was lost: ";
const BADGE = "CONNECTION LOST";
const STOPS = "[id^=pd-stop-]:not(:disabled)";

let isRunning = false;
/** @type {number} */
let run = 0; // its number
let isLost = false;
let isLeft = false; // the page itself
let wasRun = false; // what was lost, until another run begins
/** @type {Promise<void>} */
let back = Promise.resolve();
let detail = WAITING;
/** @type {VerdictPayload["step"]} */
let step = null;
const appId = () => /** @type {{ app_id?: string }} */ (/** @type {any} */ (globalThis).gradio_config || {}).app_id;

onVerdict((verdict) => {
  isRunning = verdict.state === "running";
  run = verdict.run;
  if (!isLost && isRunning) wasRun = false;
  if (isLost && isRunning) setTimeout(() => press("pd-tell-lost")); // it had come before, and was drawn late
});

globalThis.addEventListener("pagehide", () => (isLeft = true));
globalThis.addEventListener("pageshow", () => (isLeft = false));

/** @returns {HTMLElement[]} */
const stopsOfTasks = () => [...document.querySelectorAll(STOPS)].filter((one) => one instanceof HTMLElement);

/**
 * The stream of answers broke, or an event on its way, and something waited for an answer.
 * @param {string} root of the addresses of events
 * @param {typeof fetch} send
 * @returns {boolean} whether the page goes on: else Gradio loads it again, and nothing is lost by that
 */
export function connectionLost(root, send) {
  const tasks = stopsOfTasks();
  if (isLost) return true;
  if (isLeft || (!isRunning && !tasks.length)) return false;
  isLost = true;
  wasRun = isRunning;
  [detail, step] = [WAITING, null];
  tasks.forEach((stop) => settle(stop.id.replace("pd-stop-", "pd-"), LOST_WORDS));
  if (isRunning) setTimeout(() => press("pd-tell-lost")); // once gradio has heard of the failure
  back = waitForServer(root + IDENTITY, send);
  return true;
}

/**
 * @param {string} url
 * @param {typeof fetch} send
 */
async function waitForServer(url, send) {
  for (let pause = 1; ; pause = Math.min(pause * 2, PAUSES)) {
    await new Promise((done) => setTimeout(done, pause * PAUSE_MS));
    const answer = await send(url).catch(() => null);
    if (!answer?.ok) continue;
    const { app_id: id } = await answer.json();
    return isBack(appId() === undefined || id === appId());
  }
}

/** Once the server can be asked again: what is asked meanwhile waits. Gradio would take a failure for its end. */
export const serverIsThere = () => back;

/** @param {boolean} isSame server, which knows this page */
function isBack(isSame) {
  [detail, step] = isSame ? [BACK, { kind: "run", label: "Run again", code: null }] : [RESTARTED, { kind: "reload", label: "Load again", code: null }];
  isLost = false;
  if (isSame) stopsOfTasks().forEach((stop) => stop.click());
  if (wasRun) press("pd-run-over"); // and tells the strip
}

/** The strip of a run whose connection broke. */
export function lostStrip() {
  return packPayload({
    state: "error", badge: BADGE, sentence: LOST, detail, tone: "warning", log: "", place: null, evidence: null, open: null,
    fraction: null, cause: [], quote: "", step, run, tag: null, proof: null, asks_margin: false, bare: [],
  });
}

/**
 * The strip after an event of a run failed: a connection that broke is no refusal.
 * @param {string} shown
 */
export const failedStrip = (shown) => (wasRun ? lostStrip() : shown);
