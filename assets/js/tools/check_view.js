// @ts-check
// A check of a model: what to start a server with, and the matrix of answers and parsers.
// A cell has two marks, left for the whole output, right for the same output streamed.
import { bench } from "./bench.js";
import { builders } from "../lib/builders.js";
import { saveCheckPicture } from "./check_picture.js";
import { button, commandText, copyText, make, prose, region, table, under } from "../lib/dom.js";
import { ruleName } from "../views/findings_view.js";
import { open as openPanel, point } from "../views/linking.js";
import { plural } from "../lib/payload.js";

/**
 * @typedef {{ whole: boolean, streamed: string, state: string, problem: string, remark?: string }} CheckCell
 * @typedef {{ name: string, short: string, kind: string, chosen: boolean, passed: number, asked: number, whole: number,
 *   cells: Record<string, CheckCell | undefined> }} CheckRow
 * @typedef {{ name: string, about: string, unasked: boolean }} CheckAnswer
 * @typedef {{ engine: string, title: string, command: string, is_tried: boolean, flags: [words: string, reason: string][], note: string }} Command
 * @typedef {{ state: string, sentence: string, source: string, verdict: string, missing: string, rows: CheckRow[], answers: CheckAnswer[],
 *   commands: Command[], plugin: [what: string, command: string][], reasons: string[], features: [answer: string, about: string,
 *   state: string, problem: string][], findings: FindingCard[], supports: [name: string, isHeld: boolean][], engines: { sentence: string,
 *   note: string, differ: [name: string, about: string, causes: string][] },
 *   asked: { engine: string, parser: string, returned: string, streamed: string, verdict: string }[] }} CheckHeader
 */

/** @type {((parser: string, answer: string) => void) | null} */
export let takeCell = null; // as long as its view is there
/** @type {Record<string, string>} */
const VERDICTS = { works: "WORKS", "works-with-limits": "WITH LIMITS", "nothing-works": "NOTHING WORKS", unknown: "UNKNOWN" };
const KINDS = [["all", "All"], ["tool", "Tool parsers"], ["reasoning", "Reasoning parsers"], ["pair", "Pairs"]];
/** @type {Record<string, [sign: string, words: string]>} */
const STATES = { pass: ["\u2713", "comes back"], limit: ["~", "only in small deltas"], fail: ["\u2715", "not returned correctly"], unasked: ["\u2013", "not asked"] };
/** @type {Record<string, [sign: string, tone: string, words: string]>} */
const STREAMED = {
  same: ["\u2713", "pass", "the same in every chunking"],
  larger: ["~", "limit", "token by token, not in larger deltas"],
  differs: ["\u2715", "fail", "differs token by token"],
  untried: ["\u00b7", "untried", "not tried"],
};

builders.model_check = (root, name) => {
  const state = { kind: "all", failing: false, showsAll: false, open: null };
  /** @type {CheckHeader} */
  let header;
  const view = bench(root, name, "Which parsers read what this model's template teaches it to write, and which flags does a server need? The template prints seventeen answers; every parser of the engine is tested on them, whole and streamed. No weights, no GPU. Leave empty for the page's current model.", (next) => {
    header = next;
    if (next.state !== "done") return [];
    state.open = null;
    return [recommendation(next), matrixBox(), reasons(next), template(next)];
  });

  /**
   * @param {string} act
   * @param {{ name: string }} row
   * @param {string} answer
   */
  function ask(act, row, answer) {
    root.pdAsk("select", { index: 0, value: { act, parser: row.name, answer } });
  }

  function matrixBox() {
    if (!header.rows.length) return null;
    const box = make("section", "pd-check-matrix");
    const draw = () => box.replaceChildren(filters(draw), region("Matrix of answers and parsers", "pd-scroll pd-check-scroll", matrix()), legend());
    draw();
    return box;
  }

  /** @param {() => void} redraw */
  function filters(redraw) {
    const bar = make("div", "pd-switches pd-check-filters");
    /** @type {(label: string, isOn: boolean, change: () => void) => void} */
    const choose = (label, isOn, change) => {
      const one = button(label, "pd-switch", () => {
        change();
        redraw();
        const again = /** @type {HTMLElement | null} */ (root.querySelector(".pd-check-filters [data-label='" + CSS.escape(label) + "']"));
        again?.focus();
      });
      one.dataset.label = label;
      one.setAttribute("aria-pressed", String(isOn));
      bar.append(one);
    };
    KINDS.forEach(([kind, label]) => choose(label, state.kind === kind, () => (state.kind = kind)));
    choose("Only failing", state.failing, () => (state.failing = !state.failing));
    const rest = wanted().length - shown().length;
    if (rest || state.showsAll) choose(state.showsAll ? "Hide those that read nothing" : "Show the other " + rest, state.showsAll, () => (state.showsAll = !state.showsAll));
    bar.append(button("Picture", "pd-switch", () => saveCheckPicture(header, shown(), columns()), "Save the matrix as a PNG"));
    return bar;
  }

  const wanted = () => header.rows.filter((row) => (state.kind === "all" || row.kind === state.kind) && (!state.failing || row.passed < row.asked));
  const shown = () => wanted().filter((row) => state.showsAll || row.chosen || row.whole > 0);
  const columns = () => header.answers.filter((answer) => !answer.unasked && (!state.failing || shown().some((row) => (row.cells[answer.name]?.state ?? "pass") !== "pass")));

  function matrix() {
    const table = make("table", "pd-check-table");
    const head = make("tr");
    head.append(heading("parser"), heading("passed"));
    columns().forEach((answer) => {
      const cell = heading("");
      cell.className = "pd-check-answer";
      const label = make("span", "", answer.name);
      label.title = answer.about;
      cell.append(label);
      head.append(cell);
    });
    const top = make("thead"), body = make("tbody");
    top.append(head);
    body.append(...shown().map(tableRow));
    table.append(make("caption", "pd-live", "What each parser returns of each answer"), top, body);
    const first = /** @type {HTMLElement | null} */ (table.querySelector(".pd-check-cell"));
    if (first) first.tabIndex = 0;
    table.addEventListener("keydown", walk);
    return table;
  }

  /** @param {CheckRow} row */
  function tableRow(row) {
    const element = make("tr", row.chosen ? "pd-check-chosen" : "");
    const title = make("th", "pd-parser-name", row.short);
    title.scope = "row";
    if (row.chosen) title.append(make("span", "pd-own-mark", "recommended"));
    element.append(title, make("td", "pd-figure-cell", row.passed + " of " + row.asked));
    columns().forEach((answer) => element.append(tableCell(row, answer)));
    return element;
  }

  /**
   * @param {CheckRow} row
   * @param {CheckAnswer} answer
   */
  function tableCell(row, answer) {
    const box = make("td", "pd-check-place");
    const cell = row.cells[answer.name];
    if (!cell) {
      box.append(make("span", "pd-check-none", "\u2013"));
      return box;
    }
    const [sign, tone, streamed] = STREAMED[cell.streamed];
    const one = make("button", "pd-check-cell");
    one.type = "button";
    one.tabIndex = -1;
    one.append(make("span", "pd-check-half pd-check-" + (cell.whole ? "pass" : "fail"), cell.whole ? "\u2713" : "\u2715"), make("span", "pd-check-half pd-check-" + tone, sign));
    const words = (cell.whole ? "whole: returned correctly" : "whole: not returned correctly") + "; streamed: " + streamed;
    one.setAttribute("aria-label", row.short + ", " + answer.name + ": " + words);
    one.addEventListener("mouseover", () => pointAt(row, answer, cell, words));
    one.addEventListener("focus", () => pointAt(row, answer, cell, words));
    one.addEventListener("click", () => {
      root.querySelectorAll(".pd-check-open").forEach((other) => other.classList.remove("pd-check-open"));
      one.classList.add("pd-check-open");
      ask("open", row, answer.name);
    });
    box.append(one);
    return box;
  }

  /**
   * @param {CheckRow} row
   * @param {CheckAnswer} answer
   * @param {CheckCell} cell
   * @param {string} words
   */
  function pointAt(row, answer, cell, words) {
    /** @type {Fact[]} */
    const parts = [["", row.short], ["answer", answer.name], ["", answer.about], ["", words]];
    if (cell.problem) parts.push(["", cell.problem, "bad"]);
    point("model_check", { parts });
  }

  takeCell = (/** @type {string} */ parser, /** @type {string} */ answer) => {
    ask("take", { name: parser }, answer);
    openPanel("parse");
  };
  return view;
};

// Arrow keys go from cell to cell; Tab goes past the matrix.
/** @param {KeyboardEvent} event */
function walk(event) {
  /** @type {Record<string, [down: number, across: number]>} */
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const step = steps[event.key];
  const cell = under(event, ".pd-check-cell"), place = cell?.parentElement, row = place?.parentElement;
  if (!step || !cell || !place || !row) return;
  event.preventDefault();
  /** @type {HTMLElement | null} */
  let next = null;
  if (step[1]) {
    for (let at = step[1] > 0 ? place.nextElementSibling : place.previousElementSibling; at && !next; at = step[1] > 0 ? at.nextElementSibling : at.previousElementSibling) next = at.querySelector(".pd-check-cell");
  } else {
    const index = [...row.children].indexOf(place);
    for (let at = step[0] > 0 ? row.nextElementSibling : row.previousElementSibling; at && !next; at = step[0] > 0 ? at.nextElementSibling : at.previousElementSibling) next = at.children[index].querySelector(".pd-check-cell");
  }
  if (!next) return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** @param {string} text */
function heading(text) {
  const cell = make("th", "", text);
  cell.scope = "col";
  return cell;
}

function legend() {
  const line = make("p", "pd-muted pd-check-legend", "Left: the whole output. Right: the same output streamed. ");
  [["pass", "\u2713", "comes back"], ["limit", "~", "not in larger deltas"], ["fail", "\u2715", "does not"], ["untried", "\u00b7", "not tried"]].forEach(([tone, sign, words]) => {
    line.append(make("span", "pd-check-half pd-check-" + tone, sign), " " + words + "  ");
  });
  return line;
}

// --- what to start a server with -------------------------------------------------------

/** @param {CheckHeader} header */
function recommendation(header) {
  const box = make("section", "pd-check-recommended");
  const head = make("div", "pd-check-verdict pd-check-is-" + header.verdict);
  head.append(make("span", "pd-badge", VERDICTS[header.verdict]));
  if (header.missing) head.append(prose("span", "", header.missing));
  box.append(head);
  if (header.asked.length) box.append(region("Engines", "pd-scroll", engineTable(header.asked)));
  const ways = make("div", "pd-check-ways"); // folded, side by side
  header.commands.forEach((one) => {
    if (one.is_tried && !head.querySelector(".pd-check-command")) {
      head.append(commandLine(one));
      return box.append(flags(one));
    }
    const other = make("details", "pd-more");
    other.dataset.key = "serve-" + one.engine;
    other.append(make("summary", "", one.title + (one.is_tried ? ", tested, too" : ", not tested here")), commandLine(one), flags(one));
    ways.append(other);
  });
  if (header.plugin.length) ways.append(plugin(header));
  if (ways.childElementCount) box.append(ways);
  return box;
}

/** @param {CheckHeader["asked"]} asked */
function engineTable(asked) {
  const rows = asked.map((one) => {
    const row = make("tr");
    row.append(make("td", "", one.engine), make("td", "pd-parser-name", one.parser || "none"), make("td", "", one.returned), make("td", "", one.streamed), make("td", "", VERDICTS[one.verdict].toLowerCase()));
    return row;
  });
  return table("Engines", ["engine", "parser", "answers returned", "of them", "verdict"], rows);
}

// Where a parser of the engine's own will do, the other way is folded: the grid stands higher than it.
/** @param {CheckHeader} header */
function plugin(header) {
  const way = make("details", "pd-more pd-check-plugin");
  way.dataset.key = "plugin";
  way.open = header.verdict === "nothing-works";
  way.append(make("summary", "", "Alternative: Prompt Debugger's own reader, as a parser plugin for vLLM"));
  header.plugin.forEach(([what, command]) => way.append(make("p", "pd-muted", what + ":"), commandLine({ command })));
  return way;
}

/** @param {{ command: string }} one */
function commandLine(one) {
  const line = make("div", "pd-check-command");
  line.append(commandText(one.command, "pd-check-words"), button("Copy", "", (event) => copyText(one.command, event.currentTarget)));
  return line;
}

/** @param {Command} one */
function flags(one) {
  const list = make("dl", "pd-facts");
  one.flags.forEach(([words, reason]) => list.append(make("dt", "pd-check-flag", words), prose("dd", "", reason)));
  if (!one.note) return list;
  const box = make("div", "");
  box.append(list, prose("p", "pd-muted", one.note));
  return box;
}

/** @param {CheckHeader} header */
function reasons(header) {
  if (!header.reasons.length && !header.features.length) return null;
  const box = make("section", "pd-check-recommended");
  box.append(make("h2", "pd-check-title", header.commands.length ? "Why, and what each parser returns" : "Why"));
  header.reasons.forEach((reason) => box.append(prose("p", "pd-check-reason", reason)));
  if (header.features.length) box.append(features(header));
  return box;
}

/** @param {CheckHeader} header */
function features(header) {
  const list = make("ul", "pd-check-features");
  header.features.forEach(([answer, about, state, problem]) => {
    const item = make("li", "pd-check-feature pd-check-feature-" + state);
    const mark = make("span", "pd-verdict-mark", STATES[state][0]);
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", STATES[state][1]);
    item.append(mark, make("span", "", about));
    if (state !== "pass" && problem) item.append(prose("span", "pd-check-problem", ": " + problem));
    item.title = answer;
    list.append(item);
  });
  return list;
}

// --- the template by itself -----------------------------------------------------------------

/** @param {CheckHeader} header */
function template(header) {
  const box = make("section", "pd-check-template");
  box.append(make("h2", "pd-check-title", header.findings.length ? "The template: " + plural(header.findings.length, "finding") : "The template: no problems found"));
  header.findings.forEach((finding) => {
    const item = make("div", "pd-check-finding pd-" + finding.severity);
    const head = make("p", "pd-check-finding-head");
    const code = ruleName(finding.code, finding.name, "pd-code-name");
    head.append(make("span", "pd-severity", finding.mark + " " + finding.severity), prose("strong", "", finding.title), code);
    item.append(head, prose("p", "", finding.detail));
    if (finding.fix) item.append(prose("p", "pd-muted", "Fix: " + finding.fix));
    box.append(item);
  });
  const supports = make("ul", "pd-check-supports");
  header.supports.forEach(([name, isHeld]) => {
    const item = make("li", isHeld ? "pd-check-held" : "pd-check-absent");
    const mark = make("span", "pd-verdict-mark", isHeld ? "\u2713" : "\u2715");
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", isHeld ? "yes" : "no");
    item.append(mark, make("code", "pd-check-probe", name));
    supports.append(item);
  });
  const more = make("details", "pd-more");
  more.dataset.key = "supports";
  if (header.engines.sentence) box.append(prose("p", "", header.engines.sentence));
  if (header.engines.note) box.append(prose("p", "pd-muted", header.engines.note));
  header.engines.differ.forEach(([name, about, causes]) => {
    const line = make("p", "pd-check-reason");
    line.append(make("code", "pd-inline-code", name), " " + about + ": ", prose("span", "", causes));
    box.append(line);
  });
  more.append(make("summary", "", "What it supports: " + header.supports.filter(([, isHeld]) => isHeld).length + " of " + header.supports.length), supports);
  box.append(more);
  return box;
}
