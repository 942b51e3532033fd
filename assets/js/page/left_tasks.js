// @ts-check
// A check, a verification, a fix on trial or another task ends when the page is left: after a reload its place says so,
// where it would be as empty as if nobody had begun.
import { isKeeping } from "../editor/draft.js";
import { drawn } from "../lib/dom.js";
import { onVerdict } from "../lib/host.js";
import { whenDrawn } from "../lib/settling.js";
import { codesOnTrial, showOutcome } from "../views/offered_fix.js";
import { noteTask } from "./task_notes.js";

/** @typedef {{ names: string[], code: string | null, strip: string }} Left Tasks by name, and a fix by its finding and the verdict. */

const LEFT = "pd-left-tasks"; // of this tab: names of their places, the finding and the verdict of a fix
const WORDS = "This was running when the page was left, which ended it. Start it again to see the result.";
const FIX_WORDS = "The fix was being tried when the page was left, which ended the trial.";
const OF_STOP = "pd-stop-";
let strip = ""; // the verdict that is shown: an example's, or a run's that comes back

function note() {
  /** @type {NodeListOf<HTMLButtonElement>} */
  const stops = document.querySelectorAll("[id^=" + OF_STOP + "]:not(:disabled):not(#pd-stop-fix)"); // that one is never disabled
  const names = [...stops].map((stop) => stop.id.slice(OF_STOP.length));
  const [code] = codesOnTrial();
  try {
    if ((names.length || code) && isKeeping()) globalThis.sessionStorage.setItem(LEFT, JSON.stringify({ names, code: code || null, strip }));
  } catch {
    // a browser that keeps nothing
  }
}

/** @returns {Left} */
function taken() {
  try {
    const kept = JSON.parse(globalThis.sessionStorage.getItem(LEFT) || "{}");
    globalThis.sessionStorage.removeItem(LEFT);
    /** @type {unknown[]} */
    const names = Array.isArray(kept.names) ? kept.names : [];
    const isCode = typeof kept.code === "string" && /^PD\d{3}$/.test(kept.code);
    return {
      names: names.filter((name) => typeof name === "string").filter((name) => /^[a-z-]{1,40}$/.test(name)),
      code: isCode ? kept.code : null, strip: String(kept.strip || ""),
    };
  } catch {
    return { names: [], code: null, strip: "" };
  }
}

const left = taken();

onVerdict((verdict) => {
  if (verdict.state !== "running") strip = verdict.state + " " + verdict.sentence;
  const { code } = left;
  if (!code || strip !== left.strip) return;
  left.code = null;
  drawn(() => document.querySelector(".pd-offered[data-code=" + CSS.escape(code) + "]")).then(() => {
    if (!codesOnTrial().includes(code)) showOutcome({ code, state: "stopped", sentence: FIX_WORDS, hint: "", short: "" });
  });
});

globalThis.addEventListener("pagehide", note);
whenDrawn(document, () => left.names.forEach((name) => noteTask("pd-" + name, WORDS)));
