// @ts-check
// Beside the prompt's tokens: the template, line by line, with what ran and what did not, and the variables it was given.
import { builders } from "../lib/builders.js";
import { button, make, region, table, under } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { onLight, pin, point, release } from "./linking.js";
import { cellsOf, plural, visibleText } from "../lib/payload.js";
import { RowWindow } from "./row_window.js";

/**
 * @typedef {{ line: number, end_line: number, kind: string, expression: string, runs: number, skips: number }} Branch
 * @typedef {{ wrote: boolean, branches: Branch[], skippedBy: Branch | null }} LineState
 * @typedef {{ name: string, value: unknown, source: string, read: boolean | null }} Kwarg
 */

const LINE_PX = 19;
const PRINTED_LINES = 600;
const LONGEST_CELLS = 2000;
const SIDE_CELLS = 14; // number, mark and scroll bar
const MIN_CELLS = 16;
const WRAP = "wrap-template";
const EMPTY = "The chat template, with the lines that wrote this prompt.";
const READ_WORDS = new Map([[true, "read"], [false, "\u2205 never read"], [null, "not known"]]);

// What became of every line: {wrote, branches: [branch, …], skippedBy: branch | null}.
/**
 * @param {{ lines: string[], ran: number[], branches?: Branch[] | null }} template
 * @returns {LineState[]}
 */
function readLines({ lines, ran, branches }) {
  /** @type {LineState[]} */
  const states = lines.map(() => ({ wrote: false, branches: [], skippedBy: null }));
  ran.forEach((line) => states[line - 1] && (states[line - 1].wrote = true));
  for (const branch of branches || []) {
    if (states[branch.line - 1]) states[branch.line - 1].branches.push(branch);
    if (branch.runs > 0) continue;
    for (let line = branch.line + 1; line <= Math.min(branch.end_line, lines.length); line++) {
      const state = states[line - 1];
      // Where a body ends, the next tag may stand: it was looked at.
      if (!state.wrote && !state.skippedBy && !(line === branch.end_line && isTag(lines[line - 1]))) state.skippedBy = branch;
    }
  }
  return states;
}

/** @param {string} line */
function isTag(line) {
  return /^\s*\{%[-+]?\s*(end|el)/.test(line);
}

/** @param {number} count */
function times(count) {
  return count === 1 ? "once" : count.toLocaleString("en") + " times";
}

// What happened at a branch, in words.
/** @param {Branch} branch */
function branchWords({ kind, expression, runs, skips }) {
  const what = kind + (expression ? " " + expression : "");
  if (runs === 0) return [what, skips ? "not taken, evaluated " + times(skips) : "not reached"];
  const passed = skips ? (kind === "for" ? ", empty " : ", passed over ") + times(skips) : "";
  return [what, (kind === "for" ? "went round " : kind === "macro" ? "called " : "taken ") + times(runs) + passed];
}

/** @param {LineState} state */
function markOf(state) {
  if (!state.branches.length) return state.skippedBy ? "\u2506" : "";
  const runs = Math.max(...state.branches.map((branch) => branch.runs));
  return runs === 0 ? "\u2205" : "\u00d7" + (runs > 999 ? "999+" : runs);
}

/**
 * Rows of `columns` cells at most: {line, from, to} for each, `line` from 0; a line breaks behind whitespace where it can.
 * @param {string[]} lines
 * @param {number} columns
 */
function wrapLines(lines, columns) {
  return lines.flatMap((text, line) => {
    const rows = [];
    for (let from = 0; from < text.length || !from; ) {
      const to = endOfRow(text, from, columns);
      rows.push({ line, from, to });
      if (to === text.length) break;
      from = to;
    }
    return rows;
  });
}

/**
 * @param {string} text
 * @param {number} from
 * @param {number} columns
 */
function endOfRow(text, from, columns) {
  let behindSpace = 0;
  let cells = 0;
  for (let at = from; at < text.length; ) {
    const code = Number(text.codePointAt(at));
    cells += cellsOf(code);
    if (cells > columns && at > from) return behindSpace > from ? behindSpace : at;
    at += code > 0xffff ? 2 : 1;
    if (code === 32 && cells > columns / 2) behindSpace = at;
  }
  return text.length;
}

class TemplateView {
  /**
   * @param {HTMLElement} root
   * @param {string} name
   */
  constructor(root, name) {
    this.root = root;
    this.name = name;
    /** @type {string[]} */
    this.lines = [];
    /** @type {Set<number>} */
    this.lit = new Set();
    this.at = -1;
    /** @type {{ line: number, from: number, to: number }[]} */
    this.rows = []; // {line, from, to}
    /** @type {LineState[]} */
    this.states = [];
    /** @type {HTMLElement | null} */
    this.whole = null; // all lines, while it is printed
    this.columns = 0;
    this.isWrapped = host.readLayout === null || host.readLayout(WRAP) !== false; // a line of Jinja is often longer than any pane
    root.classList.add("pd-template");
    this.head = make("div", "pd-bar");
    this.variables = make("details", "pd-variables");
    this.source = make("div", "pd-source");
    this.source.tabIndex = 0;
    this.source.setAttribute("role", "region");
    this.source.setAttribute("aria-label", "Chat template");
    this.empty = make("p", "pd-empty", EMPTY);
    root.append(this.head, this.variables, this.source);
    this.window = new RowWindow(this.source, LINE_PX, (r) => this.row(r));
    this.source.append(this.empty);
    new ResizeObserver(() => this.onResize()).observe(this.source);
    this.listen();
  }

  listen() {
    /** @type {(event: Event) => number} */
    const line = (event) => {
      const found = Number(under(event, "[data-line]")?.dataset.line);
      return this.states[found - 1] ? found : 0; // what is laid out on paper may be of an earlier template
    };
    this.source.addEventListener("mouseover", (event) => line(event) && point(this.name, this.facts(line(event))));
    this.source.addEventListener("click", (event) => {
      if (line(event) && document.getSelection()?.isCollapsed) pin(this.name, this.facts(line(event)));
    });
    this.source.addEventListener("keydown", (event) => this.onKey(event));
    onLight((source, facts) => this.light(source, facts));
    const print = globalThis.matchMedia("print");
    print.addEventListener("change", (event) => this.layOutWhole(event.matches));
    globalThis.addEventListener("beforeprint", () => this.layOutWhole(true));
    globalThis.addEventListener("afterprint", () => this.layOutWhole(false));
  }

  /** @param {Decoded | null} given */
  show(given) {
    const reason = given ? /** @type {EmptyPayload} */ (given.header).empty : undefined;
    const decoded = reason ? null : given;
    this.empty.textContent = visibleText(reason || EMPTY, false);
    this.lines = decoded ? decoded.header.lines : [];
    this.states = decoded ? readLines(decoded.header) : [];
    this.at = -1;
    this.lit = new Set();
    this.empty.hidden = Boolean(decoded);
    this.head.replaceChildren(make("span", "pd-counts", decoded ? decoded.header.caption : "Template"));
    const hasBranches = this.states.some((state) => state.branches.length);
    if (hasBranches) this.head.append(legend());
    if (decoded) this.head.append(this.wrapSwitch());
    this.root.classList.toggle("pd-has-branches", hasBranches);
    this.showVariables((decoded && decoded.header.kwargs) || []);
    this.layOut();
    this.source.scrollTop = 0;
    this.window.paint(true);
  }

  wrapSwitch() {
    const element = button("wrap", "pd-switch", () => {
      this.isWrapped = !this.isWrapped;
      element.setAttribute("aria-pressed", String(this.isWrapped));
      if (host.storeLayout) host.storeLayout(WRAP, this.isWrapped);
      this.layAgain();
    }, "Break long lines at the width of the pane");
    element.setAttribute("aria-pressed", String(this.isWrapped));
    return element;
  }

  // The rows of all lines: one each, or as many as it takes to show the whole line.
  layOut() {
    const longest = this.lines.reduce((most, line) => Math.max(most, line.length), 0);
    this.columns = this.isWrapped ? this.fitting() : Infinity;
    this.rows = this.isWrapped ? wrapLines(this.lines, this.columns) : this.lines.map((text, line) => ({ line, from: 0, to: text.length }));
    this.window.sizer.style.minWidth = this.isWrapped ? "" : Math.min(LONGEST_CELLS, longest) + SIDE_CELLS + "ch";
    this.window.resize(this.rows.length);
  }

  // Cells of a row that can be seen; the least while the view has no size.
  fitting() {
    const probe = make("div", "pd-line");
    const text = make("span", "", "x".repeat(100));
    probe.style.cssText = "position:absolute;visibility:hidden;width:max-content";
    probe.append(text);
    this.window.box.append(probe);
    const cell = text.getBoundingClientRect().width / 100;
    probe.remove();
    return cell ? Math.max(MIN_CELLS, Math.floor(this.source.clientWidth / cell) - SIDE_CELLS) : MIN_CELLS;
  }

  // Lays out again and keeps the line at the top in place.
  layAgain() {
    const top = this.rows[Math.floor(this.source.scrollTop / LINE_PX)];
    this.layOut();
    if (top) this.source.scrollTop = this.rowOf(top.line) * LINE_PX;
    this.window.paint(true);
  }

  onResize() {
    if (this.isWrapped && this.lines.length && !this.whole && this.fitting() !== this.columns) this.layAgain();
    else this.window.paint(false);
  }

  // The first row of a line, counted from 0.
  /** @param {number} line */
  rowOf(line) {
    return this.isWrapped ? this.rows.findIndex((row) => row.line === line) : line;
  }

  /** @param {number} r */
  row(r) {
    const { line, from, to } = this.rows[r];
    const state = this.states[line];
    let name = "pd-line";
    if (state.wrote) name += " pd-ran";
    if (state.skippedBy) name += " pd-skipped";
    if (this.lit.has(line + 1)) name += " pd-lit";
    if (this.at === line + 1) name += " pd-at";
    const row = make("div", name);
    row.dataset.line = String(line + 1);
    row.dataset.gutter = from ? "" : String(line + 1);
    const code = make("span", "pd-code", this.lines[line].slice(from, to));
    if (markOf(state) && !from) code.dataset.mark = markOf(state);
    row.append(code);
    return row;
  }

  /**
   * @param {number} line
   * @returns {Facts}
   */
  facts(line) {
    const state = this.states[line - 1];
    /** @type {Fact[]} */
    const parts = [["template line", line], ["", this.lines[line - 1], "text"]];
    if (state.wrote) parts.push(["", "wrote to this prompt"]);
    state.branches.forEach((branch) => {
      const [what, words] = branchWords(branch);
      parts.push([what, words, branch.runs ? "" : "bad"]);
    });
    if (state.skippedBy) {
      const [what, words] = branchWords(state.skippedBy);
      parts.push(["skipped, inside " + what, words, "bad"]);
    }
    return { parts, template_line: line };
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.lines.length) return;
    const page = this.window.pageRows;
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 1, End: this.lines.length };
    const to = steps[event.key];
    if (event.key === "Enter" && this.at > 0) return pin(this.name, this.facts(this.at));
    if (to === undefined) return;
    event.preventDefault();
    this.at = Math.max(1, Math.min(this.lines.length, to));
    this.window.reveal(this.rowOf(this.at - 1));
    release();
    this.window.paint(true);
    point(this.name, this.facts(this.at));
  }

  /**
   * @param {string | null} source
   * @param {LitFacts} facts
   */
  light(source, facts) {
    if (!this.lines.length) return;
    const had = this.lit.size;
    const lines = source === this.name ? [] : facts.template_lines;
    this.lit = new Set(lines);
    if (!had && !lines.length) return;
    if (lines.length && !lines.some((line) => this.window.isInSight(this.rowOf(line - 1)))) this.window.scrollTo(this.rowOf(lines[0] - 1));
    this.window.paint(true);
  }

  /** @param {Kwarg[]} kwargs */
  showVariables(kwargs) {
    this.variables.hidden = !kwargs.length;
    if (!kwargs.length) return;
    const unread = kwargs.filter((one) => one.read === false).length;
    const summary = make("summary", "", plural(kwargs.length, "template variable") + (unread ? ", " + unread + " never read" : ""));
    const rows = kwargs.map((one) => {
      const row = make("tr", one.read === false ? "pd-unread" : "");
      const value = make("td", "");
      value.append(make("code", "", JSON.stringify(one.value)));
      const name = make("th", "", one.name);
      name.scope = "row";
      row.append(name, value, make("td", "", one.source), make("td", "", READ_WORDS.get(one.read)));
      return row;
    });
    const made = table("Template variables", ["variable", "value", "set by", "template"], rows);
    const box = region("Template variables", "pd-variables-box", made);
    this.variables.replaceChildren(summary, box);
  }

  // Paper does not scroll: before printing, all lines are drawn.
  /** @param {boolean} isPrinted */
  layOutWhole(isPrinted) {
    if (!this.lines.length || isPrinted === Boolean(this.whole)) return;
    if (isPrinted) {
      const count = Math.min(PRINTED_LINES, this.rows.length);
      const whole = make("div", "pd-whole");
      for (let r = 0; r < count; r++) whole.append(this.row(r));
      if (count < this.rows.length) whole.append(make("p", "pd-muted", "\u2026 " + (this.rows.length - count) + " more lines"));
      this.window.hide(true);
      this.source.append(whole);
      this.whole = whole;
    } else {
      this.whole?.remove();
      this.whole = null;
      this.window.hide(false);
    }
  }
}

function legend() {
  const box = make("span", "pd-legend");
  [["\u00d7n", "taken n times"], ["\u2205", "not taken"], ["\u2506", "skipped"]].forEach(([mark, word]) => {
    const item = make("span", "pd-legend-item");
    item.append(make("span", "pd-branch-mark", mark), " " + word);
    box.append(item);
  });
  return box;
}

export { readLines, branchWords, wrapLines };
builders.template = (root, name) => new TemplateView(root, name);
