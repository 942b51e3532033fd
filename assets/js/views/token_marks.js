// @ts-check
// What is marked in a token view: hits of a search, evidence, what is linked to something elsewhere, forged tokens.
import { plural } from "../lib/payload.js";
import { TokenRail } from "./token_bar.js";
import { chipAt, chipOfToken, countOfRanges, isInRanges, rangesOf, rangesOfPoints, rowOfChip, searchChips, valuesInRanges } from "./token_layout.js";

/** @typedef {import("./token_view.js").TokenView} TokenView */

const MAX_FIELDS = 200; // that are lit for one template line

class TokenMarks {
  // `view` has data, rows, window, toolbar, text(), paint() and go(at).
  /** @param {TokenView} view */
  constructor(view) {
    this.view = view;
    this.rail = new TokenRail();
    this.forget();
  }

  forget() {
    /** @type {number[]} */
    this.hits = [];
    /** @type {Set<number>} */
    this.hitSet = new Set();
    /** @type {number} */
    this.hitAt = -1;
    /** @type {number[]} */
    this.lit = [];
    /** @type {number[]} */
    this.shown = [-1, -1];
    this.isAsked = false;
    /** @type {number[] | null} */
    /** @type {number[] | null} */
    this.injected = null;
  }

  /** @param {number} at */
  classOf(at) {
    let name = this.hitSet.has(at) ? " pd-hit" : "";
    if (isInRanges(this.lit, at)) name += " pd-lit";
    return at >= this.shown[0] && at <= this.shown[1] ? name + " pd-shown" : name;
  }

  /** @param {string} query */
  find(query) {
    if (!this.view.data || !this.view.rows) return;
    const { table, index, heat } = this.view.data;
    const flat = searchChips(table, index, this.view.text(), query, heat && heat.values);
    this.hits = [];
    this.hitSet = new Set();
    for (let i = 0; i < flat.length; i += 2) {
      this.hits.push(flat[i]);
      for (let at = flat[i]; at <= flat[i + 1]; at++) this.hitSet.add(at);
    }
    this.hitAt = -1;
    this.view.toolbar.found.textContent = query ? plural(this.hits.length, "hit") : "";
    if (this.hits.length) this.view.window.reveal(rowOfChip(this.view.rows, this.hits[0]));
    this.view.paint();
    this.draw();
  }

  /** @param {number} by */
  step(by) {
    if (!this.hits.length) return;
    this.hitAt = this.hitAt < 0 && by < 0 ? this.hits.length - 1 : (this.hitAt + by + this.hits.length) % this.hits.length;
    this.view.toolbar.found.textContent = this.hitAt + 1 + " of " + this.hits.length;
    this.view.go(this.hits[this.hitAt]);
  }

  /** @param {Goal} evidence */
  chipsOf(evidence) {
    if (evidence.token_span) {
      const [start, stop] = evidence.token_span;
      const merged = this.view.data ? this.view.data.merged : [];
      return [start, Math.max(start, stop - 1)].map((token) => chipOfToken(merged, token));
    }
    const { text, starts, points } = this.view.text();
    if (evidence.char_span) {
      const [start, stop] = evidence.char_span;
      return [chipAt(points, start), chipAt(points, Math.max(start, stop - 1))];
    }
    const quote = evidence.quote || "";
    const at = quote ? text.indexOf(quote) : -1;
    return at < 0 ? [0, 0] : [chipAt(starts, at), chipAt(starts, at + quote.length - 1)];
  }

  // Another view points at a template line, a field, or characters: light what belongs to it.
  /**
   * @param {string | null} source
   * @param {LitFacts} facts
   * @param {boolean} isKept
   */
  light(source, facts, isKept) {
    if (!this.view.data || source === this.view.name) return this.unlight();
    const lit = this.view.where === "prompt" ? rangesOf(this.view.data, facts) : facts.raw ? rangesOfPoints(this.view.text(), facts.raw) : [];
    if (!lit.length) return this.unlight();
    this.lit = lit;
    this.view.root.classList.add("pd-has-lit");
    if (!this.view.rows) return;
    const first = rowOfChip(this.view.rows, lit[0]);
    if (isKept && !this.view.window.isInSight(first)) this.view.window.scrollTo(first);
    if (!this.hits.length) this.view.toolbar.found.textContent = plural(countOfRanges(lit), "token") + " linked";
    this.view.paint();
    this.draw();
  }

  // Template lines that wrote a field, and fields that a template line wrote.
  /** @param {string} field */
  linesOf(field) {
    if (!this.view.data) return [];
    return valuesInRanges(this.view.data.line_runs, rangesOf(this.view.data, { field })).filter((line) => line > 0);
  }

  /** @param {number} template_line */
  fieldsOf(template_line) {
    if (!this.view.data) return [];
    const { fields, field_runs } = this.view.data;
    const numbers = valuesInRanges(field_runs, rangesOf(this.view.data, { template_line }));
    return numbers.map((number) => fields[number]).filter((field) => field).slice(0, MAX_FIELDS);
  }

  unlight() {
    if (!this.lit.length) return;
    this.lit = [];
    this.view.root.classList.remove("pd-has-lit");
    if (!this.hits.length) this.view.toolbar.found.textContent = "";
    this.view.paint();
    this.draw();
  }

  // The rail is drawn with the next frame: it asks for sizes, which no one should wait for.
  draw() {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      this.drawNow();
    });
  }

  drawNow() {
    if (!this.view.data || !this.view.rows) return;
    if (!this.injected) {
      const { table, index } = this.view.data;
      const isForged = table.map((chip) => Boolean(chip.injected));
      this.injected = isForged.includes(true) ? Array.from(index.keys()).filter((at) => isForged[index[at]]) : [];
    }
    const shown = this.shown[0] < 0 ? [] : [this.shown[0], this.shown[1] + 1];
    this.rail.draw(this.view.rows, [["accent", this.lit, true], ["hit-line", this.hits], ["ok", shown, true], ["error", this.injected]]);
  }
}

export { TokenMarks };
