// @ts-check
// When the page may be shown: once every view has drawn what it came with.

const MARKS = ["data-ready", "data-shown"]; // of the page, of each view
const LIMIT_MS = 10_000; // a view that never draws holds the page back no longer than this

/** @param {Document} page */
export function isDrawn(page) {
  const views = /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll(".pd-view .pd"));
  return Boolean(page.documentElement.dataset.ready) && views.length > 0 && [...views].every((view) => view.dataset.shown);
}

/**
 * Calls `done` once: when all is drawn, or some time after the page is ready.
 * @param {Document} page
 * @param {() => void} done
 */
export function whenDrawn(page, done) {
  let limit = 0;
  const watcher = new MutationObserver(look);
  function end() {
    clearTimeout(limit);
    watcher.disconnect();
    done();
  }
  function look() {
    if (isDrawn(page)) return end();
    if (page.documentElement.dataset.ready && !limit) limit = setTimeout(end, LIMIT_MS);
  }
  watcher.observe(page.documentElement, { attributes: true, attributeFilter: MARKS, subtree: true });
  look();
}
