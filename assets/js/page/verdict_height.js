// @ts-check
// The verdict strip keeps its height whatever it says, and on a narrow window the end of a run brings it into view.
import { make } from "../lib/dom.js";
import { onVerdict } from "../lib/host.js";

const LINES = 2;
const NARROW = globalThis.matchMedia("(max-width: 900px)");
const ENDS = ["done", "error", "stopped"];

// The detail takes the lines that the sentence leaves; a button shows all of it.
function fitDetail() {
  const text = /** @type {HTMLElement | null} */ (document.querySelector("#pd-verdict .pd-verdict-text"));
  const detail = text && text.querySelector(".pd-detail");
  const sentence = text && /** @type {HTMLElement | null} */ (text.querySelector(".pd-result"));
  if (!detail || !sentence) return;
  const lines = Math.round(sentence.clientHeight / parseFloat(getComputedStyle(sentence).lineHeight));
  text.style.setProperty("--pd-lines", String(NARROW.matches ? 3 : Math.max(1, LINES - lines)));
  const more = /** @type {HTMLElement} */ (text.querySelector(".pd-detail-more") || addMore(text, detail));
  more.hidden = !text.classList.contains("pd-whole") && detail.scrollHeight <= detail.clientHeight + 1;
}

/**
 * @param {HTMLElement} text
 * @param {Element} detail
 */
function addMore(text, detail) {
  const row = make("div", "pd-detail-row");
  const more = make("button", "pd-detail-more", "more");
  more.type = "button";
  more.setAttribute("aria-expanded", "false");
  more.addEventListener("click", () => {
    const isWhole = text.classList.toggle("pd-whole");
    more.textContent = isWhole ? "less" : "more";
    more.setAttribute("aria-expanded", String(isWhole));
    fitDetail();
  });
  detail.replaceWith(row);
  row.append(detail, more);
  return more;
}

// A run so quick that only its end is drawn has ended all the same; a case that was merely chosen has not run.
let wasRunning = false;
/** @type {number | null} */
let lastRun = null;
/** @param {VerdictPayload} verdict */
function isEnd({ state, run }) {
  const isNew = run !== lastRun;
  const found = ENDS.includes(state) && (wasRunning || isNew);
  wasRunning = state === "running";
  lastRun = run;
  return found;
}

/** @param {VerdictPayload} verdict */
function showEnd(verdict) {
  const strip = isEnd(verdict) && NARROW.matches ? document.getElementById("pd-verdict") : null;
  if (!strip) return;
  const { top, bottom } = strip.getBoundingClientRect();
  if (top < 0 || bottom > globalThis.innerHeight) strip.scrollIntoView({ block: "start" });
}

// What stands next to the sentence comes and goes without a resize of the window: so the sentence itself is watched.
const resized = new ResizeObserver(fitDetail);
onVerdict((verdict) => {
  resized.disconnect();
  const sentence = document.querySelector("#pd-verdict .pd-result");
  if (sentence) resized.observe(sentence);
  fitDetail();
  showEnd(verdict);
});
