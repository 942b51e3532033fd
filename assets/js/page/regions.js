// @ts-check
// F6 goes from one region of the page to the next, Shift + F6 back: what a pointer reaches at once, a key does, too.

const USABLE = "button, input, select, textarea, summary, a[href], [tabindex='0'], [contenteditable='true']";

/** @param {string} selector */
function firstIn(selector) {
  const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(selector));
  return [...all].flatMap((part) => (part.matches(USABLE) ? [part] : /** @type {HTMLElement[]} */ ([...part.querySelectorAll(USABLE)]))).find(isUsable);
}

/** @param {HTMLElement} part */
function isUsable(part) {
  const isOff = "disabled" in part && part.disabled === true;
  return !isOff && (part.tabIndex >= 0 || part.isContentEditable) && part.checkVisibility({ visibilityProperty: true }) && !part.closest(".pd-unseen");
}

// What each begins with; the order is that of a look at the page.
/** @type {[around: string, begins: () => HTMLElement | undefined][]} */
const REGIONS = [
  ["#pd-top", () => firstIn("#pd-top")],
  ["#pd-verdict", () => firstIn("#pd-verdict .pd-actions") || firstIn("#pd-verdict")],
  ["#pd-left", () => firstIn("#pd-request .cm-content")],
  ["#pd-stages", () => firstIn("#pd-stages [role=tab][aria-selected=true]")],
  ["#pd-right", () => firstIn("#pd-panel-" + document.documentElement.dataset.panel)],
];

/** @param {number} step */
function goOn(step) {
  const here = document.activeElement;
  // The panels are around the cards: the innermost one counts.
  const at = here ? REGIONS.findIndex(([around]) => here.closest(around)) : -1;
  const from = at < 0 && step < 0 ? 0 : at;
  for (let i = 1; i <= REGIONS.length; i++) {
    const begins = REGIONS[(from + step * i + REGIONS.length * 2) % REGIONS.length][1]();
    if (!begins) continue;
    begins.focus();
    return;
  }
}

document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "F6" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    event.stopPropagation();
    goOn(event.shiftKey ? -1 : 1);
  },
  true,
);
