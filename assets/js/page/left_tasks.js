// @ts-check
// A check, a verification or another task of a panel ends when the page is left: after a reload its place says so, where
// it would be as empty as if nobody had begun.
import { isKeeping } from "../editor/draft.js";
import { make } from "../lib/dom.js";
import { whenDrawn } from "../lib/settling.js";

const LEFT = "pd-left-tasks"; // of this tab: nothing but the names of their places
const WORDS = "This was running when the page was left, which ended it. Start it again to see the result.";
const OF_STOP = "pd-stop-";

function note() {
  /** @type {NodeListOf<HTMLButtonElement>} */
  const stops = document.querySelectorAll("[id^=" + OF_STOP + "]:not(:disabled)");
  const names = [...stops].map((stop) => stop.id.slice(OF_STOP.length));
  try {
    if (names.length && isKeeping()) globalThis.sessionStorage.setItem(LEFT, JSON.stringify(names));
  } catch {
    // a browser that keeps nothing
  }
}

/** @returns {string[]} */
function taken() {
  try {
    const kept = JSON.parse(globalThis.sessionStorage.getItem(LEFT) || "[]");
    globalThis.sessionStorage.removeItem(LEFT);
    return Array.isArray(kept) ? kept.filter((name) => typeof name === "string" && /^[a-z-]{1,40}$/.test(name)) : [];
  } catch {
    return [];
  }
}

/** @param {string} name */
function showNotice(name) {
  const view = /** @type {HTMLElement | null} */ (document.querySelector("#pd-" + name + " .pd"));
  if (!view) return;
  const words = make("p", "pd-left-task", WORDS);
  words.setAttribute("role", "status");
  view.before(words);
  const watcher = new MutationObserver(() => {
    if (view.dataset.state === "empty") return;
    watcher.disconnect();
    words.remove();
  });
  watcher.observe(view, { attributes: true, attributeFilter: ["data-state"] });
}

globalThis.addEventListener("pagehide", note);
whenDrawn(document, () => taken().forEach(showNotice));
