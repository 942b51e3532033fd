// @ts-check
// A line above the view of a task that came to nothing, until the task is started again.
import { make } from "../lib/dom.js";

/**
 * @param {string} id of the view's element
 * @param {string} words
 */
export function noteTask(id, words) {
  const view = /** @type {HTMLElement | null} */ (id ? document.querySelector("#" + id + " .pd") : null);
  if (!view) return;
  view.parentElement?.querySelectorAll(":scope > .pd-left-task").forEach((old) => old.remove());
  const line = make("p", "pd-left-task", words);
  line.setAttribute("role", "status");
  view.before(line);
  const watcher = new MutationObserver(() => {
    if (view.dataset.state === "empty") return;
    watcher.disconnect();
    line.remove();
  });
  watcher.observe(view, { attributes: true, attributeFilter: ["data-state"], childList: true });
}
