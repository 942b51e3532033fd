// @ts-check
// Handles between panes: dragged, or moved with the arrow keys; a double click gives the width back to the style sheet.
import { make } from "../lib/dom.js";
import { storeLayout, readLayout } from "./stored_layout.js";

const STEP = 2; // per cent

/**
 * A handle is behind the first of two panes and sets that pane's share of the box around them, in per cent.
 * @typedef {{name: string, first: string, label: string, least: number, most: number}} Split
 */

/** @type {Split[]} */
const SPLITS = [
  { name: "main", first: "#pd-left", label: "Width of the request", least: 18, most: 60 },
  { name: "render", first: "#pd-prompt-tokens", label: "Width of the tokens", least: 20, most: 80 },
  { name: "parse", first: "#pd-ledger .pd-sides > :first-child", label: "Width of the raw output", least: 20, most: 80 },
];

/**
 * @param {Split} split
 * @param {number} share
 */
export function within({ least, most }, share) {
  return Math.min(most, Math.max(least, share));
}

/**
 * Where a key leads from a share; null if it leads nowhere.
 * @param {Split} split
 * @param {string} key
 * @param {number} share
 */
export function shareAfter(split, key, share) {
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: split.least, End: split.most };
  const to = steps[key];
  return to === undefined ? null : within(split, to);
}

/**
 * The share that was kept; null without one that makes sense.
 * @param {Split} split
 */
export function keptShare(split) {
  const kept = readLayout(split.name);
  return typeof kept === "number" && Number.isFinite(kept) ? within(split, kept) : null;
}

class Splitter {
  /**
   * @param {Split} split
   * @param {HTMLElement} pane
   */
  constructor(split, pane) {
    this.split = split;
    this.pane = pane;
    this.property = "--pd-split-" + split.name;
    this.handle = make("div", "pd-splitter");
    pane.id = pane.id || "pd-pane-of-" + split.name;
    Object.entries({
      role: "separator", "aria-orientation": "vertical", "aria-label": split.label, "aria-controls": pane.id,
      "aria-valuemin": split.least, "aria-valuemax": split.most, title: "Drag, or use the arrow keys; a double click resets",
    }).forEach(([key, value]) => this.handle.setAttribute(key, String(value)));
    this.handle.tabIndex = 0;
    pane.after(this.handle);
    this.set(keptShare(split));
    this.listen();
  }

  listen() {
    this.handle.addEventListener("keydown", (event) => {
      const share = event.ctrlKey || event.metaKey || event.altKey ? null : shareAfter(this.split, event.key, this.measured());
      if (share === null) return;
      event.preventDefault();
      this.choose(share);
    });
    this.handle.addEventListener("dblclick", () => this.choose(null));
    this.handle.addEventListener("pointerdown", (event) => this.drag(event));
    new ResizeObserver(() => this.updateValue()).observe(this.pane);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    if (event.button) return;
    event.preventDefault();
    this.handle.focus();
    this.handle.setPointerCapture(event.pointerId);
    /** @type {number | null} */
    let share = null; // a press that moves nothing chooses nothing
    /** @param {PointerEvent} event */
    const move = ({ clientX }) => {
      const { left, width } = this.around();
      share = within(this.split, ((clientX - left) / width) * 100);
      this.set(share);
    };
    this.handle.addEventListener("pointermove", move);
    this.handle.addEventListener("lostpointercapture", () => {
      this.handle.removeEventListener("pointermove", move);
      if (share !== null) this.choose(share);
    }, { once: true });
  }

  /** @param {number | null} share null is what the style sheet says. */
  set(share) {
    const { style } = document.documentElement;
    if (share === null) style.removeProperty(this.property);
    else style.setProperty(this.property, share.toFixed(1) + "%");
  }

  /** @param {number | null} share */
  choose(share) {
    this.set(share);
    storeLayout(this.split.name, share);
    this.updateValue();
  }

  // The box that both panes share.
  around() {
    return (this.pane.parentElement || this.pane).getBoundingClientRect();
  }

  // What it is now, measured: the style sheet has the first word.
  measured() {
    const whole = this.around().width;
    return within(this.split, whole ? (this.pane.getBoundingClientRect().width / whole) * 100 : 50);
  }

  updateValue() {
    this.handle.setAttribute("aria-valuenow", String(Math.round(this.measured())));
  }
}

export function addSplitters() {
  SPLITS.forEach((split) => {
    const pane = /** @type {HTMLElement | null} */ (document.querySelector(split.first));
    if (pane) new Splitter(split, pane).updateValue();
  });
}
