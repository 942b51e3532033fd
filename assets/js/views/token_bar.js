// @ts-check
// The bar above the tokens: counts, search, what is shown, copy; and the rail next to them.
import { button, copyText, make } from "../lib/dom.js";
import { inspect } from "./linking.js";
import { rowOfChip } from "./token_layout.js";

/** @typedef {import("./token_view.js").TokenView} TokenView */

const RAIL_PX = 10;

/**
 * A menu closes at Escape, and when someone presses elsewhere.
 * @param {HTMLDetailsElement} menu
 */
function closesAside(menu) {
  const summary = /** @type {HTMLElement} */ (menu.firstElementChild);
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    summary.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (menu.open && event.target instanceof Node && !menu.contains(event.target)) menu.open = false;
  });
}

class TokenBar {
  // `view` has options, marks, change(option, value) and copy().
  /** @param {TokenView} view */
  constructor(view) {
    this.view = view;
    this.root = make("div", "pd-bar");
    this.counts = make("span", "pd-counts");
    this.search = make("input", "pd-search");
    this.found = make("span", "pd-found");
    this.menu = make("div", "pd-view-items"); // what is seldom switched
    this.heat = this.toggle("heat", "\u25a4 heat", "");
    this.copy = button("copy", "pd-small", (event) => copyText(this.view.copy(), event.currentTarget));
    this.root.append(this.counts, this.searchBox(), this.switches());
  }

  searchBox() {
    const box = make("span", "pd-search-box");
    this.search.type = "search";
    this.search.setAttribute("aria-label", "Find tokens");
    this.found.setAttribute("role", "status");
    const up = button("\u2191", "pd-small", () => this.view.marks.step(-1), "Previous hit (Shift+Enter)");
    const down = button("\u2193", "pd-small", () => this.view.marks.step(1), "Next hit (Enter)");
    up.setAttribute("aria-label", "Previous hit");
    down.setAttribute("aria-label", "Next hit");
    box.append(this.search, up, down, this.found);
    let timer = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.view.marks.find(this.search.value), 60);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.metaKey || event.ctrlKey) return;
      event.preventDefault();
      this.view.marks.step(event.shiftKey ? -1 : 1);
    });
    return box;
  }

  switches() {
    const box = make("span", "pd-switches");
    this.menu.append(this.toggle("whitespace", "\u00b7\u21b5 whitespace", "Show spaces, tabs and line breaks as marks"));
    this.menu.append(this.toggle("wrap", "wrap", "Break long lines at the width of the pane"));
    this.menu.append(this.toggle("turns", "\u2936 turns", "Start a new line where one control token follows another"));
    const view = make("details", "pd-view-menu");
    view.append(make("summary", "pd-button pd-quiet", "View \u25be"), this.menu);
    closesAside(view);
    box.append(this.choice(), this.heat, view, this.copy);
    return box;
  }

  // Text, ids or bytes: one of three.
  choice() {
    const box = make("span", "pd-choice");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Show tokens as");
    const titles = { text: "Show the text of the tokens", ids: "Show ids instead of text", bytes: "Show bytes instead of text" };
    Object.entries(titles).forEach(([value, title]) => {
      const one = button(value, "pd-switch", () => {
        this.view.change("show", value);
        box.querySelectorAll("button").forEach((other) => other.setAttribute("aria-pressed", String(other === one)));
        this.nameCopy();
      }, title);
      one.dataset.option = value;
      one.setAttribute("aria-pressed", String(value === this.view.options.show));
      box.append(one);
    });
    return box;
  }

  /**
   * @param {"whitespace" | "wrap" | "turns" | "heat"} option
   * @param {string} label
   * @param {string} title
   */
  toggle(option, label, title) {
    const element = button(label, "pd-switch", () => {
      if (element.getAttribute("aria-disabled") === "true") return inspect([["heat", element.title]]);
      this.view.change(option, !this.view.options[option]);
      element.setAttribute("aria-pressed", String(this.view.options[option]));
    }, title);
    element.dataset.option = option;
    element.setAttribute("aria-pressed", String(this.view.options[option]));
    return element;
  }

  nameCopy() {
    const what = this.view.options.show;
    this.copy.title = "Copy all " + what + (what === "text" ? ", without marks" : "");
    this.copy.setAttribute("aria-label", this.copy.title);
  }

  // For new data: `heat` says whether log probabilities came with it.
  /**
   * @param {string} counts
   * @param {boolean} hasHeat
   * @param {string} where
   */
  reset(counts, hasHeat, where) {
    this.counts.textContent = counts;
    this.search.value = "";
    this.found.textContent = "";
    this.search.placeholder = hasHeat ? "find text, id:198, p<10%" : "find text, id:198, special:";
    const wish = where === "prompt" ? '"prompt_logprobs": 5' : '"logprobs": true, "top_logprobs": 5';
    if (hasHeat) this.copy.parentElement?.prepend(this.heat);
    else this.menu.append(this.heat);
    this.heat.setAttribute("aria-disabled", String(!hasHeat));
    this.heat.setAttribute("aria-pressed", String(this.view.options.heat));
    this.heat.title = hasHeat ? "Colour tokens by how likely the model found them" : "There are no log probabilities: request them with " + wish;
    this.nameCopy();
  }
}

// Marks over the whole height of a text, on one canvas: where hits, forged tokens, evidence and linked tokens stand.
class TokenRail {
  constructor() {
    this.canvas = make("canvas", "pd-token-rail");
    this.canvas.setAttribute("aria-hidden", "true");
  }

  // layers: [[colour variable, [chip, …] or flat ranges, isRanges], …]; the last is drawn on top.
  /**
   * @param {Rows | null} rows
   * @param {[color: string, chips: number[], isRanges?: boolean][]} layers
   */
  draw(rows, layers) {
    const height = this.canvas.clientHeight;
    const context = this.canvas.getContext("2d");
    if (!height || !rows || !rows.count || !context) return;
    const scale = globalThis.devicePixelRatio || 1;
    this.canvas.width = RAIL_PX * scale;
    this.canvas.height = height * scale;
    const style = getComputedStyle(this.canvas);
    context.scale(scale, scale);
    for (const [color, chips, isRanges] of layers) {
      context.fillStyle = style.getPropertyValue("--pd-" + color);
      let drawnTo = -1;
      for (let i = 0; i < chips.length; i += isRanges ? 2 : 1) {
        const top = Math.floor((rowOfChip(rows, chips[i]) / rows.count) * height);
        const last = isRanges ? rowOfChip(rows, chips[i + 1] - 1) + 1 : rowOfChip(rows, chips[i]) + 1;
        const bottom = Math.max(top + 3, Math.ceil((last / rows.count) * height));
        if (bottom <= drawnTo) continue;
        context.fillRect(1, Math.max(top, drawnTo), RAIL_PX - 2, bottom - Math.max(top, drawnTo));
        drawnTo = bottom;
      }
    }
  }
}

export { TokenBar, TokenRail };
