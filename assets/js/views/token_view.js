// @ts-check
// Token view: every token of a text, however long. Only the rows on screen exist in the DOM.
import { builders } from "../lib/builders.js";
import { make } from "../lib/dom.js";
import { heatOf, HeatStrip } from "./heat.js";
import { host } from "../lib/host.js";
import { offerOrigins, onLight, pin, point, release } from "./linking.js";
import { hexOfText, visibleText } from "../lib/payload.js";
import { RowWindow } from "./row_window.js";
import { TokenBar } from "./token_bar.js";
import { drawRow, factsOf } from "./token_chips.js";
import { displayTable, joinText, layoutRows, rowOfChip } from "./token_layout.js";
import { TokenMarks } from "./token_marks.js";

const ROW_PX = 22;
const GUTTER_CELLS = 7;
const UNWRAPPED_CELLS = 1000; // a text without a line break is cut somewhere all the same
const SIDE_PX = 24; // scroll bar and rail
const STRIP_PX = 64;

/** @param {string} name */
const wrapOf = (name) => "wrap-" + name;

/** @param {string} name */
function keptWrap(name) {
  return host.readLayout === null || host.readLayout(wrapOf(name)) !== false;
}

class TokenView {
  /**
   * @param {HTMLElement} root
   * @param {string} name
   */
  constructor(root, name) {
    this.root = root;
    this.name = name;
    this.where = name === "raw_tokens" ? "raw" : "prompt";
    /** @type {TokenData | null} */
    this.data = null;
    /** @type {TokenOptions} */
    this.options = { show: "text", whitespace: false, turns: true, wrap: keptWrap(name), heat: false };
    /** @type {Joined | null} */
    this.joined = null;
    /** @type {Rows | null} */
    this.rows = null;
    /** @type {Display} */
    this.display = { shown: [], cells: new Int32Array(), breaks: new Uint8Array() };
    this.active = 0;
    this.width = 0;
    this.cell = 8;
    this.isAllChosen = false;
    this.toolbar = new TokenBar(this);
    this.bar = this.toolbar.root;
    this.frame = make("div", "pd-grid-frame");
    this.scroller = make("div", "pd-grid");
    this.window = new RowWindow(this.scroller, ROW_PX, (r) => drawRow(this, r), () => this.nameActive());
    this.marks = new TokenMarks(this);
    this.strip = new HeatStrip();
    this.live = make("div", "pd-live");
    this.empty = make("p", "pd-empty", this.emptyText());
    this.plain = make("pre", "pd-text pd-plain-prompt", ""); // of a prompt whose tokens are unknown
    this.build();
  }

  // What belongs to one text and goes with it.
  forget() {
    this.joined = null;
    this.rows = null;
    this.active = 0;
    this.marks.forget();
  }

  build() {
    this.root.classList.add("pd-tokens");
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "listbox");
    this.scroller.setAttribute("aria-label", this.where === "prompt" ? "Tokens of the prompt" : "Tokens of the raw output");
    this.frame.append(this.scroller, this.marks.rail.canvas);
    this.live.setAttribute("role", "status");
    this.root.append(this.bar, this.frame, this.strip.root, this.live, this.empty, this.plain);
    this.listen();
    this.plain.tabIndex = 0;
    this.plain.setAttribute("role", "region");
    this.plain.setAttribute("aria-label", "Text of the prompt");
    this.showEmpty(true);
  }

  emptyText() {
    if (this.name === "live_tokens") return "The prompt of the text in the editor comes here, token by token.";
    if (this.name === "edited_tokens") return "The prompt of the template in the editor, token by token, with the line that wrote each.";
    return this.where === "prompt"
      ? "The prompt the server really used, token by token, with the source of each."
      : "The raw output, token by token, before any parser touched it.";
  }

  /** @param {boolean} isEmpty */
  showEmpty(isEmpty) {
    this.empty.hidden = !isEmpty;
    this.frame.hidden = this.bar.hidden = isEmpty;
    this.plain.hidden = !this.plain.textContent;
    if (isEmpty) this.strip.root.hidden = true;
  }

  listen() {
    this.scroller.addEventListener("mouseover", (event) => this.onPointer(event, false));
    this.scroller.addEventListener("click", (event) => this.onPointer(event, true));
    this.scroller.addEventListener("keydown", (event) => this.onKey(event));
    this.scroller.addEventListener("focus", () => this.data && this.inspect(this.active));
    this.scroller.addEventListener("copy", (event) => this.onCopy(event));
    this.scroller.addEventListener("pointerdown", () => (this.isAllChosen = false));
    new ResizeObserver(() => this.onResize()).observe(this.scroller);
    onLight((source, facts, isKept) => this.marks.light(source, facts, isKept));
  }

  /** @param {Decoded<TokensHeader> | null} decoded */
  show(decoded) {
    this.forget();
    this.data = null;
    this.plain.textContent = decoded?.header.text ? visibleText(decoded.header.text, true) : "";
    this.empty.textContent = decoded && decoded.header.empty ? visibleText(decoded.header.empty, false) : this.emptyText();
    if (!decoded || decoded.header.empty) return this.showEmpty(true);
    const { header, columns } = decoded;
    const index = header.wide ? new Uint32Array(columns, 0, header.count) : new Uint16Array(columns, 0, header.count);
    this.data = { ...header, index, heat: heatOf(header, columns) };
    this.options.heat = this.options.heat && this.data.heat !== null;
    if (this.name === "prompt_tokens") offerOrigins(this.marks);
    this.toolbar.reset(header.counts, this.data.heat !== null, this.where);
    this.showEmpty(false);
    this.showHeat();
    this.measure();
    this.scroller.scrollTop = 0;
    this.refresh();
    this.prepare(this.data);
  }

  // What search and links need is made while no one waits: the first paint comes first.
  /** @param {TokenData} data */
  prepare(data) {
    const idle = globalThis.requestIdleCallback || ((/** @type {() => void} */ work) => setTimeout(work, 50));
    idle(() => {
      if (this.data !== data) return;
      this.text();
      idle(() => {
        if (this.data === data) this.marks.draw();
      });
    });
  }

  measure() {
    const probe = make("div", "pd-row", "x".repeat(100));
    probe.style.cssText = "position:absolute;visibility:hidden;width:max-content";
    this.window.box.append(probe);
    this.cell = probe.getBoundingClientRect().width / 100 || 8;
    probe.remove();
    this.width = this.scroller.clientWidth;
  }

  // Lays everything out again.
  refresh() {
    if (!this.data || !this.scroller.clientWidth) return;
    const { table, index } = this.data;
    this.display = displayTable(table, this.options);
    const fitting = Math.max(16, Math.floor((this.scroller.clientWidth - SIDE_PX) / this.cell) - GUTTER_CELLS);
    const columns = this.options.wrap ? fitting : Math.max(fitting, UNWRAPPED_CELLS);
    /** @type {(at: number) => boolean} */
    const isSpecial = (at) => table[index[at]].kind === 1;
    const startsTurn = this.options.turns ? (/** @type {number} */ at) => at > 0 && isSpecial(at) && isSpecial(at - 1) : null;
    this.rows = layoutRows(index, this.display, columns, startsTurn);
    this.window.sizer.style.minWidth = this.options.wrap ? "" : (this.rows.widest + GUTTER_CELLS + 1) * this.cell + "px";
    this.window.resize(this.rows.count);
    this.paint();
    if (this.marks.injected) this.marks.draw();
  }

  onResize() {
    if (!this.data || !this.scroller.clientWidth) return;
    if (this.scroller.clientWidth !== this.width) this.layAgain();
    else this.window.paint(false);
  }

  // Lays out again and keeps what is at the top in place.
  layAgain() {
    const top = this.rows ? this.rows.chip[Math.floor(this.scroller.scrollTop / ROW_PX)] || 0 : 0;
    this.measure();
    this.refresh();
    if (this.rows) this.scroller.scrollTop = rowOfChip(this.rows, top) * ROW_PX;
    this.window.paint(false);
  }

  /**
   * @template {keyof TokenOptions} Name
   * @param {Name} option
   * @param {TokenOptions[Name]} value
   */
  change(option, value) {
    this.options[option] = value;
    if (option === "heat") this.showHeat();
    if (option === "wrap" && host.storeLayout) host.storeLayout(wrapOf(this.name), value);
    if (!this.data || !this.rows) return;
    if (option === "heat") this.paint();
    else this.layAgain();
  }

  showHeat() {
    const isOn = this.options.heat;
    const wasOn = !this.strip.root.hidden;
    this.root.classList.toggle("pd-heated", isOn);
    this.strip.root.hidden = !isOn;
    const height = parseFloat(this.root.style.height); // of a report: it fits the view to its rows
    if (height && isOn !== wasOn) this.root.style.height = height + (isOn ? STRIP_PX : -STRIP_PX) + "px";
    if (isOn && this.data?.heat) this.strip.show(this.data.heat, this.active, this.chipOf(this.active));
  }

  // Height in which every row is seen.
  wholeHeight() {
    return (this.rows ? this.rows.count : 0) * ROW_PX + this.bar.offsetHeight + (this.options.heat ? STRIP_PX : 0) + 14;
  }

  paint() {
    if (this.data && this.rows) this.window.paint(true);
  }

  nameActive() {
    const active = document.getElementById(this.activeId());
    if (active) this.scroller.setAttribute("aria-activedescendant", this.activeId());
    else this.scroller.removeAttribute("aria-activedescendant");
  }

  activeId() {
    return "pd-active-" + this.name;
  }

  /**
   * @param {number} at
   * @returns {Chip}
   */
  chipOf(at) {
    const { table, index } = this.shownData();
    return table[index[at]];
  }

  // The data, where something is drawn of them.
  shownData() {
    return /** @type {TokenData} */ (this.data);
  }

  // The rows, likewise.
  shownRows() {
    return /** @type {Rows} */ (this.rows);
  }

  /**
   * @param {number} at
   * @param {boolean} [isPin]
   */
  inspect(at, isPin) {
    if (this.options.heat && this.data?.heat) this.strip.show(this.data.heat, at, this.chipOf(at));
    (isPin ? pin : point)(this.name, factsOf(this, at));
  }

  /**
   * @param {MouseEvent} event
   * @param {boolean} isClick
   */
  onPointer(event, isClick) {
    const at = event.target instanceof HTMLElement ? event.target.dataset.at : undefined;
    if (at === undefined || !this.data) return;
    if (!isClick) return this.inspect(Number(at));
    if (!document.getSelection()?.isCollapsed) return; // the end of choosing text, not a click
    this.active = Number(at);
    this.paint();
    this.inspect(this.active, true);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!this.data) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "a") {
      event.preventDefault();
      document.getSelection()?.selectAllChildren(this.window.box);
      this.isAllChosen = true; // also of rows that are not drawn
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = this.window.pageRows;
    const last = this.data.index.length - 1;
    /** @type {Record<string, () => void>} */
    const moves = {
      ArrowRight: () => this.go(this.active + 1),
      ArrowLeft: () => this.go(this.active - 1),
      ArrowDown: () => this.walkRows(1),
      ArrowUp: () => this.walkRows(-1),
      PageDown: () => this.walkRows(page),
      PageUp: () => this.walkRows(-page),
      Home: () => this.go(0),
      End: () => this.go(last),
      Enter: () => this.inspect(this.active, true),
      " ": () => this.inspect(this.active, true),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }

  /** @param {number} rows */
  walkRows(rows) {
    const { count, offset, chip } = this.shownRows();
    const here = rowOfChip(this.shownRows(), this.active);
    const row = Math.max(0, Math.min(count - 1, here + rows));
    const continues = offset[row] > 0 && rows > 0 ? 1 : 0;
    this.go(chip[row] + continues);
  }

  /** @param {number} at */
  go(at) {
    const { index } = this.shownData();
    if (!index.length) return;
    this.active = Math.max(0, Math.min(index.length - 1, at));
    this.window.reveal(rowOfChip(this.shownRows(), this.active));
    release();
    this.inspect(this.active);
    this.paint();
    this.showSideways();
    const facts = factsOf(this, this.active);
    this.live.textContent = facts.parts.map((part) => part[0] + " " + visibleText(String(part[1]), false)).join(", ");
  }

  // A row that is not wrapped may reach out of sight.
  showSideways() {
    const active = document.getElementById(this.activeId());
    if (!active || this.options.wrap) return;
    const chip = active.getBoundingClientRect(), around = this.scroller.getBoundingClientRect();
    if (chip.left < around.left) this.scroller.scrollLeft -= around.left - chip.left + GUTTER_CELLS * this.cell;
    else if (chip.right > around.right) this.scroller.scrollLeft += Math.min(chip.right - around.right + SIDE_PX, chip.left - around.left);
  }

  text() {
    const { table, index } = this.shownData();
    this.joined = this.joined || joinText(table, index);
    return this.joined;
  }

  // Shows a stretch of the text: by tokens, by characters (code points), or by quote.
  /** @param {Goal} evidence */
  jump(evidence) {
    if (!this.data) return;
    const [first, last] = this.marks.chipsOf(evidence);
    this.marks.shown = [first, last];
    if (!this.rows) this.refresh();
    if (!this.rows) return; // it has no size: no one sees it
    this.window.scrollTo(rowOfChip(this.rows, first));
    this.go(first);
    this.marks.draw();
    if (evidence.quiet) return;
    this.scroller.focus({ preventScroll: true });
    this.inspect(this.active, true); // the pointer lies on the panel now, and would speak at once
  }

  // All of it, as the bar's button copies it.
  copy() {
    const { table, index } = this.shownData();
    if (this.options.show === "ids") return "[" + Array.from(index, (entry) => table[entry].ids.join(", ")).join(", ") + "]";
    if (this.options.show === "bytes") return Array.from(index, (entry) => table[entry].hex || hexOfText(table[entry].text)).filter(Boolean).join(" ");
    return this.text().text;
  }

  // Copies the text itself, without marks, by whole tokens; after "select all" also of rows that are not on screen.
  /** @param {ClipboardEvent} event */
  onCopy(event) {
    const selection = document.getSelection();
    if (!this.data || !selection || selection.isCollapsed) return;
    const { text, starts } = this.text();
    const chips = /** @type {NodeListOf<HTMLElement>} */ (this.window.box.querySelectorAll("[data-at]"));
    const chosen = [...chips].filter((chip) => selection.containsNode(chip, true));
    if (!chosen.length) return;
    const low = this.isAllChosen ? 0 : Number(chosen[0].dataset.at);
    const high = this.isAllChosen ? this.data.index.length - 1 : Number(chosen[chosen.length - 1].dataset.at);
    event.clipboardData?.setData("text/plain", text.slice(starts[low], starts[high + 1]));
    event.preventDefault();
  }
}

export { TokenView };

builders.token_view = (root, name) => new TokenView(root, name);
