// @ts-check
// The ledger picture: the raw output coloured by where each character went, and the message that was returned.
import { builders } from "../lib/builders.js";
import { beforeRun, button, make, prose, table, under } from "../lib/dom.js";
import { isWithin } from "../lib/field_paths.js";
import { drawJson, lightJson, walkJson } from "./json_view.js";
import { jump, offerAccount, onLight, pin, point, release, walk } from "./linking.js";
import { visibleText } from "../lib/payload.js";

const ALARMS = new Set(["lost", "altered"]);

class LedgerView {
  /**
   * @param {HTMLElement} root
   * @param {string} name
   */
  constructor(root, name) {
    this.root = root;
    this.name = name;
    /** @type {LedgerPayload | null} */
    this.data = null;
    this.whitespace = false;
    this.chosen = 0;
    root.classList.add("pd-ledger");
    this.calls = make("div", "pd-calls");
    this.bar = make("div", "pd-bar");
    this.raw = make("div", "pd-text pd-raw");
    this.raw.tabIndex = 0;
    this.raw.setAttribute("role", "region");
    this.raw.setAttribute("aria-label", "Raw output, by outcome");
    this.message = make("div", "pd-text pd-message");
    this.message.tabIndex = 0;
    this.message.setAttribute("role", "region");
    this.message.setAttribute("aria-label", "Message as the server returned it");
    const sides = make("div", "pd-sides");
    const left = make("section", "pd-pane"), right = make("section", "pd-pane");
    this.messageHead = make("header", "pd-bar");
    left.append(this.bar, this.raw);
    right.append(this.messageHead, this.message);
    sides.append(left, right);
    this.parsers = make("div", "pd-parsers");
    this.parsers.tabIndex = 0; // it scrolls, so the keyboard must reach it
    this.parsers.setAttribute("role", "region");
    this.parsers.setAttribute("aria-label", "Other parsers");
    this.differences = make("div", "pd-differences");
    this.differences.tabIndex = 0;
    this.differences.setAttribute("role", "region");
    this.differences.setAttribute("aria-label", "Fields that differ from what the model wrote");
    root.append(this.calls, this.differences, sides, this.parsers);
    new ResizeObserver(() => this.drawRail()).observe(this.raw);
    walk(this.raw, name, "[data-segment]", (element) => this.facts(this.segmentOf(element)));
    this.raw.addEventListener("focusin", (event) => {
      const segment = under(event, "[data-segment]");
      if (segment && segment === event.target) point(name, this.facts(this.segmentOf(segment)));
    });
    onLight((source, facts) => this.light(source, facts));
    this.show(null);
  }

  /** @param {Decoded | null} decoded */
  show(decoded) {
    const { empty: reason, message } = /** @type {EmptyPayload} */ (decoded ? decoded.header : {});
    /** @type {LedgerPayload | null} */
    this.data = decoded && !reason ? /** @type {LedgerPayload} */ (decoded.header) : null;
    this.chosen = 0;
    offerAccount(this);
    if (!this.data) {
      this.calls.replaceChildren();
      this.differences.replaceChildren();
      this.parsers.replaceChildren();
      this.bar.replaceChildren(make("span", "pd-counts", "Raw output"));
      this.messageHead.replaceChildren(make("span", "pd-counts", "Message"));
      this.raw.replaceChildren(reason ? make("p", "pd-empty", reason) : beforeRun("The raw output, coloured by where each character went: kept, altered or lost."));
      if (message) drawJson(this.message, message);
      else this.message.replaceChildren(make("p", "pd-empty", reason || "The message as the server returned it, next to what it was made from."));
      return;
    }
    const { calls } = this.data;
    this.calls.replaceChildren(...(calls && calls.rows.length ? [callTable(calls)] : []));
    this.parsers.replaceChildren(...(this.data.parsers.length && !document.getElementById("pd-parser-matrix") ? [parserTable(this.data.parsers)] : []));
    this.draw();
  }

  draw() {
    if (!this.data) return;
    const account = this.data.accounts[this.chosen];
    this.bar.replaceChildren(...this.barItems(account));
    this.raw.replaceChildren(make("div", "pd-rail"), ...account.segments.map((segment, i) => this.segment(segment, i)));
    const figures = make("span", "pd-counts", account.figures);
    figures.title = visibleText(account.figures, false); // a narrow pane cuts them
    this.messageHead.replaceChildren(this.accountTitle(account), figures);
    drawJson(this.message, account.message);
    if (!account.message.length) this.message.append(make("p", "pd-empty", "No message came with this output."));
    walkJson(this.message, this.name, "message", (path) => ({ target: path }));
    if (account.nulls.length) this.message.append(make("p", "pd-nulls", "null: " + account.nulls.join(", ")));
    this.drawDifferences(account.differences);
    if (account.note) this.message.append(prose("p", "pd-account-note", account.note));
    if (account.missing) this.message.prepend(make("p", "pd-missing", account.missing)); // above all: never out of sight
    requestAnimationFrame(() => this.drawRail());
  }

  // Field by field, what the model wrote above what the message says.
  /** @param {FieldDifference[]} differences */
  drawDifferences(differences) {
    const items = differences.map((one) => {
      const item = make("div", "pd-field-difference pd-differs-" + one.state);
      const head = make("p", "pd-field-head");
      head.append(make("code", "pd-inline-code", one.target), " ", make("span", "pd-field-word", DIFFERENCE_MARKS[one.state] + " " + one.word));
      if (one.char_span) head.append(" ", button("show", "pd-small", () => jump({ in: "raw", char_span: one.char_span }), "Show it in the raw output"));
      item.append(head, differenceLine("written", one.written), differenceLine("returned", one.returned));
      item.addEventListener("mouseover", () => point(this.name, this.factsOfDifference(one)));
      return item;
    });
    this.differences.replaceChildren(...items);
  }

  /**
   * @param {FieldDifference} one
   * @returns {Facts}
   */
  factsOfDifference(one) {
    return { parts: [["message", one.target], ["", one.word, one.state === "soft" ? "" : "bad"]], target: one.target, raw: one.char_span ? [one.char_span] : undefined };
  }

  // The name of the message; a choice, where there are two.
  /** @param {LedgerAccount} account */
  accountTitle(account) {
    const accounts = this.data ? this.data.accounts : [account];
    if (accounts.length === 1) return make("span", "pd-pane-title", account.title);
    const box = make("span", "pd-switches");
    accounts.forEach((one, i) => {
      const choose = button(one.title, "pd-switch", () => {
        this.chosen = i;
        this.draw();
      }, "Account against this message");
      choose.setAttribute("aria-pressed", String(i === this.chosen));
      box.append(choose);
    });
    return box;
  }

  /** @param {LedgerAccount} account */
  barItems(account) {
    const legend = make("span", "pd-legend");
    for (const [fate, word, count] of account.legend) {
      const item = make("span", "pd-legend-item");
      item.append(make("span", "pd-fate pd-fate-" + fate, word), " ", make("span", "pd-muted", String(count)));
      legend.append(item);
    }
    const marks = button("\u00b7\u21b5 whitespace", "pd-switch", () => {
      this.whitespace = !this.whitespace;
      this.draw();
    }, "Show spaces, tabs and line breaks as marks");
    marks.setAttribute("aria-pressed", String(this.whitespace));
    return [make("span", "pd-pane-title", "Raw output"), legend, marks];
  }

  /**
   * @param {LedgerSegment} segment
   * @param {number} i
   */
  segment(segment, i) {
    const isAlarm = ALARMS.has(segment.fate);
    const element = make("span", "pd-fate pd-fate-" + segment.fate);
    element.append(...wrapped(visibleText(segment.text, this.whitespace || isAlarm)));
    element.dataset.segment = String(i);
    if (isAlarm) {
      element.tabIndex = 0;
      element.setAttribute("role", "mark");
      element.setAttribute("aria-label", segment.word + ": " + visibleText(segment.text, false));
    }
    return element;
  }

  // Marks in the margin, seen while scrolling: one bar per lost or altered stretch.
  drawRail() {
    const rail = this.raw.querySelector(".pd-rail");
    if (!rail || !this.raw.clientHeight) return;
    const top = this.raw.getBoundingClientRect().top - this.raw.scrollTop;
    /** @type {HTMLElement[]} */
    const marks = [];
    this.raw.querySelectorAll(".pd-fate-lost, .pd-fate-altered").forEach((element) => {
      const box = element.getBoundingClientRect();
      const fate = element.classList.contains("pd-fate-lost") ? "lost" : "altered";
      const mark = make("span", "pd-rail-mark pd-rail-" + fate);
      mark.style.top = box.top - top + "px";
      mark.style.height = Math.max(14, box.height) + "px";
      marks.push(mark);
    });
    rail.replaceChildren(...marks);
  }

  /**
   * @param {LedgerSegment} segment
   * @returns {Facts}
   */
  facts(segment) {
    /** @type {Fact[]} */
    const parts = [
      ["characters", segment.start + "\u2013" + segment.stop],
      ["", JSON.stringify(segment.text), "text"],
      ["", segment.word, ALARMS.has(segment.fate) ? "bad" : ""],
    ];
    if (segment.target) parts.push(["in", segment.target]);
    return { parts, target: segment.target, raw: [[segment.start, segment.stop]], place: "raw.c" + segment.start + "-" + segment.stop };
  }

  /**
   * @param {HTMLElement} element
   * @returns {LedgerSegment}
   */
  segmentOf(element) {
    return /** @type {LedgerPayload} */ (this.data).accounts[this.chosen].segments[Number(element.dataset.segment)];
  }

  // The field of the message that holds any of the given raw characters.
  /** @param {[number, number][]} spans */
  targetOf(spans) {
    const segments = this.data ? this.data.accounts[0].segments : [];
    const found = segments.find((one) => one.target && spans.some(([start, stop]) => one.start < stop && one.stop > start));
    return found ? found.target : undefined;
  }

  // The raw characters that became a field, or what is below it.
  /**
   * @param {string} target
   * @returns {[number, number][]}
   */
  spansOf(target) {
    const segments = this.data ? this.data.accounts[0].segments : [];
    /** @type {(one: LedgerSegment) => boolean} */
    const isOf = (one) => one.target !== null && (isWithin(one.target, target) || isWithin(target, one.target));
    return segments.filter(isOf).map((one) => [one.start, one.stop]);
  }

  /**
   * @param {string | null} source
   * @param {LitFacts} facts
   */
  light(source, facts) {
    lightJson(this.message, facts.target);
    if (!this.data) return;
    const spans = facts.raw || [];
    /** @type {NodeListOf<HTMLElement>} */ (this.raw.querySelectorAll("[data-segment]")).forEach((element) => {
      const { start, stop } = this.segmentOf(element);
      element.classList.toggle("pd-lit", spans.some((span) => start < span[1] && stop > span[0]));
    });
  }

  /** @param {Goal} evidence */
  jump(evidence) {
    if (!this.data) return;
    if (evidence.in === "message") {
      release();
      point(this.name, { parts: [["message", evidence.field || ""]], target: evidence.field });
      const lit = this.message.querySelector(".pd-lit") || this.message;
      lit.scrollIntoView({ block: "nearest" });
      if (!evidence.quiet) this.message.focus({ preventScroll: true });
      return;
    }
    const segments = this.data.accounts[this.chosen].segments;
    const span = evidence.char_span;
    /** @type {(segment: LedgerSegment) => boolean} */
    const isHit = span
      ? (segment) => segment.start < Math.max(span[1], span[0] + 1) && segment.stop > span[0]
      : (segment) => ALARMS.has(segment.fate) || Boolean(evidence.quote && segment.text.includes(evidence.quote));
    /** @type {(segment: LedgerSegment) => boolean} */
    const isAlarm = (segment) => ALARMS.has(segment.fate) && isHit(segment);
    const first = Math.max(0, segments.findIndex(segments.some(isAlarm) ? isAlarm : isHit));
    /** @type {NodeListOf<HTMLElement>} */ (this.raw.querySelectorAll("[data-segment]")).forEach((element) =>
      element.classList.toggle("pd-shown", !evidence.quiet && isHit(segments[Number(element.dataset.segment)])));
    const element = /** @type {HTMLElement | null} */ (this.raw.querySelector('[data-segment="' + CSS.escape(String(first)) + '"]'));
    if (!element) return;
    element.scrollIntoView({ block: "nearest" });
    if (evidence.quiet) point(this.name, this.facts(segments[first]));
    else {
      (element.tabIndex < 0 ? this.raw : element).focus({ preventScroll: true });
      pin(this.name, this.facts(segments[first]));
    }
  }
}

const MARKERS = /(<\|?[^<>\s]{1,32}>)/; // of the families' forms, as long as a narrow pane is wide
const MAX_WRAPPED = 20_000;

/**
 * A stretch of the output so that lines break between markers and after spaces that are shown, in no marker.
 * @param {string} text
 * @returns {(string | Node)[]}
 */
function wrapped(text) {
  if (text.length > MAX_WRAPPED) return [text];
  return text.split(MARKERS).flatMap((piece, i) => {
    if (i % 2) return [make("wbr", ""), make("span", "pd-marker", piece), make("wbr", "")];
    return piece.split(/(?<=\u00b7)(?!\u00b7)/).flatMap((word, k) => (k ? [make("wbr", ""), word] : [word]));
  });
}

/** @type {Record<string, string>} */
const DIFFERENCE_MARKS = { hard: "\u2260", missing: "\u2715", added: "+", soft: "\u2423", spelling: "\u2248" };

// Hard differences in words and strokes; of soft ones the whitespace itself.
/**
 * @param {string} label
 * @param {[text: string, mark: string][]} stretches
 */
function differenceLine(label, stretches) {
  const line = make("div", "pd-side");
  const text = make("code", "");
  stretches.forEach(([stretch, mark]) => {
    if (!mark) return text.append(make("span", "pd-muted", stretch));
    text.append(make("mark", "pd-" + mark, visibleText(stretch, true)));
  });
  if (!stretches.length) text.append(make("span", "pd-muted", "\u2205"));
  line.append(make("span", "pd-side-label", label), text);
  return line;
}

// The caption is seen here.
/**
 * @param {string} caption
 * @param {string[]} heads
 * @param {HTMLTableRowElement[]} rows
 */
function tableWithTitle(caption, heads, rows) {
  const element = table(caption, heads, rows);
  if (element.caption) element.caption.className = "";
  return element;
}

/**
 * @param {unknown[]} texts
 * @param {string} [className]
 */
function cells(texts, className) {
  const row = make("tr", className);
  texts.forEach((text, i) => row.append(i === texts.length - 1 ? prose("td", "", String(text)) : make("td", "", text)));
  return row;
}

/** @param {NonNullable<LedgerPayload["calls"]>} calls */
function callTable(calls) {
  const rows = calls.rows.map((call) => {
    const row = cells([call.number, call.written, call.returned, call.word], "pd-call pd-call-" + call.state);
    if (call.char_span) {
      row.lastElementChild?.append(" ", button("show", "pd-small", () => jump({ in: "raw", char_span: call.char_span }), "Show it in the raw output"));
    }
    return row;
  });
  return tableWithTitle(calls.caption, ["call", "written by the model", "returned by the server", "outcome"], rows);
}

/** @param {LedgerPayload["parsers"]} parsers */
function parserTable(parsers) {
  const rows = parsers.map((one) => cells([one.name, one.calls, one.content, one.reasoning, one.stream, one.error]));
  const box = make("details", "pd-parser-table");
  box.append(make("summary", "", "The same raw output through " + parsers.length + " other parsers"));
  box.append(tableWithTitle("What each of them returns", ["parser", "calls", "content", "reasoning", "streaming", "error"], rows));
  return box;
}

builders.ledger = (root, name) => new LedgerView(root, name);
