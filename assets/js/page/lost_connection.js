// @ts-check
// The connection to the page's server broke while something ran. Gradio would wait for ever, or load the page again and
// drop what had come: instead the page says so, keeps it, and offers to go on once the server answers again.
import { onVerdict } from "../lib/host.js";
import { button, make, press } from "../lib/dom.js";
import { packPayload } from "../lib/packing.js";
import { placeOf } from "./costly_events.js";
import { noteTask } from "./task_notes.js";
import { settle } from "../tools/bench.js";
import { stopTrials } from "../views/offered_fix.js";

const IDENTITY = "/app_id"; // of the server, as gradio asks for it
const PAUSE_MS = 1_000;
const PAUSES = 30; // the longest between two questions, in times of that
const LOST = "The connection to this page's server was lost during the run. What had arrived is below.";
const NOT_SENT = "The connection to this page's server was lost: the run was not sent.";
const MAY_HAVE_BEGUN = "The connection to this page's server was lost while the run was being sent: it may have begun there. It is not sent twice.";
const TASK_NOT_SENT = "The connection to this page's server was lost: this was not sent. Start it again once the server answers.";
const TASK_MAY_HAVE_BEGUN = "The connection to this page's server was lost while this was being sent: it may have begun there. It is not sent twice: start it again once the server answers.";
const NOTHING_RUNS = "The connection to this page's server is lost. What you press is sent once it answers again.";
const WAITING = "Run can be pressed again as soon as the server answers.";
const BACK = "The server answers again: press Run to ask again.";
const RESTARTED = "The server was started again: load the page again to go on. Your text is kept.";
const LOST_WORDS = "The connection to this page's server was lost";
const BADGE = "CONNECTION LOST";
const STOPS = "[id^=pd-stop-]:not(:disabled):not(#pd-stop-fix)"; // that one is pressed by the views, and never disabled

let isRunning = false;
/** @type {number} */
let run = 0; // its number
let isLost = false;
let isLeft = false; // the page itself
let wasRun = false; // what was lost, until another run begins
let sentence = LOST;
let note = ""; // what the strip says besides, where no run was lost
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
  drawNote();
  if (isLost && isRunning) setTimeout(() => press("pd-tell-lost")); // it had come before, and was drawn late
});

globalThis.addEventListener("pagehide", () => (isLeft = true));
globalThis.addEventListener("pageshow", () => (isLeft = false));

/** @returns {HTMLElement[]} */
const stopsOfTasks = () => [...document.querySelectorAll(STOPS)].filter((one) => one instanceof HTMLElement);

/**
 * The stream of answers broke while an event waited for its answer, or an event on its way did.
 * @param {string} root of the addresses of events
 * @param {typeof fetch} send
 * @returns {boolean} whether the page goes on: else Gradio loads it again
 */
export function connectionLost(root, send) {
  if (isLost) return true;
  if (isLeft) return false;
  isLost = true;
  wasRun = isRunning;
  [sentence, detail, step] = [LOST, WAITING, null];
  stopsOfTasks().forEach((stop) => settle(stop.id.replace("pd-stop-", "pd-"), LOST_WORDS));
  stopTrials(LOST_WORDS + ".");
  if (isRunning) setTimeout(() => press("pd-tell-lost")); // once gradio has heard of the failure
  else setNote(NOTHING_RUNS);
  back = waitForServer(root + IDENTITY, send);
  return true;
}

export const isConnectionLost = () => isLost;

/**
 * What Gradio gets for an event that was not sent, as the connection is lost.
 * @param {string} name
 */
export const notSent = (name) => refusal(name, NOT_SENT, TASK_NOT_SENT);

/**
 * What Gradio gets for an event that was being sent when the connection broke.
 * @param {string} name
 */
export const mayHaveBegun = (name) => refusal(name, MAY_HAVE_BEGUN, TASK_MAY_HAVE_BEGUN);

/**
 * @param {string} name
 * @param {string} ofRun
 * @param {string} ofTask
 */
function refusal(name, ofRun, ofTask) {
  if (name === "run") {
    [wasRun, sentence] = [true, ofRun];
    setNote("");
    setTimeout(() => press("pd-tell-lost"));
  }
  const words = name === "run" ? ofRun : ofTask;
  if (name === "try_fix") stopTrials(ofTask, LOST_WORDS + ".");
  else if (name !== "run") noteTask(placeOf(name), ofTask);
  return new Response(JSON.stringify({ detail: words, error: words }), { status: 500 });
}

/** @param {string} words */
function setNote(words) {
  note = words;
  drawNote();
}

// It is added to the strip and takes no one's place: what had run before is whole.
function drawNote() {
  document.querySelectorAll(".pd-lost-note").forEach((old) => old.remove());
  if (!note) return;
  const line = make("p", "pd-lost-note", note);
  line.setAttribute("role", "status");
  if (note === RESTARTED) line.append(" ", button("Load again", "pd-small", () => globalThis.location.reload()));
  document.querySelector("#pd-verdict .pd-verdict")?.append(line);
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
  setNote(isSame || wasRun ? "" : RESTARTED);
  if (isSame) stopsOfTasks().forEach((stop) => stop.click());
  if (wasRun) press("pd-run-over"); // and tells the strip
}

/** The strip of a run whose connection broke. */
export function lostStrip() {
  return packPayload({
    state: "error", badge: BADGE, sentence, detail, tone: "warning", log: "", place: null, evidence: null, open: null,
    fraction: null, cause: [], quote: "", step, run, tag: null, proof: null, asks_margin: false, bare: [],
  });
}

/**
 * The strip after an event of a run failed: a connection that broke is no refusal.
 * @param {string} shown
 */
export const failedStrip = (shown) => (wasRun ? lostStrip() : shown);
