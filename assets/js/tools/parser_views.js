// @ts-check
// Further questions about a raw output: other parsers, split fuzz, releases of engines.
// All are views of the bench's kind: a sentence first, then what it rests on. Every place leads to the raw tokens.
import { bench } from "./bench.js";
import { builders } from "../lib/builders.js";
import { button, make, press, prose, region, table } from "../lib/dom.js";
import { drawJson } from "../views/json_view.js";
import { jump as jumpTo } from "../views/linking.js";
import { plural, visibleText } from "../lib/payload.js";

/**
 * @typedef {{ name: string, engine: string, own: boolean, first?: boolean, state: string, word: string, calls: string[], stream_state: string, stream: string,
 *   finish: string, content: string, reasoning: string, unequal: string, note: string }} ParserRow
 * @typedef {{ smallest: string, usual: string, parts_at: number, count: number, first: number, deltas: string[], jump: Goal | null,
 *   before: JsonSegment[] | null, after: JsonSegment[] | null, streamed: JsonSegment[] | null }} Split
 * @typedef {{ split: Split | null, whole: JsonSegment[], log?: string[], trials: [name: string, count: number, difference: string][] }} SplitsHeader
 * @typedef {{ engine: string, title: string, versions: string[], calls: { name: string, arguments: string, taken: (boolean | null)[] }[], rows: { version: string,
 *   state: string, word: string, error: string, note: string, calls: string[], content: string | null, finish_reason: string }[] }} Releases
 */

/** @param {string} text */
const shown = (text) => visibleText(text, true);

/**
 * @param {string} label
 * @param {Goal | null} jump
 */
function jumpButton(label, jump) {
  return jump ? button("\u2192 " + label, "pd-jump", () => jumpTo(jump), "Show it in the raw output") : make("span", "pd-muted", label);
}

/**
 * @param {string} symbol
 * @param {string} word
 * @param {string} state
 */
function mark(symbol, word, state) {
  const element = make("span", "pd-verdict-mark pd-mark-" + state, symbol);
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", word);
  element.title = word;
  return element;
}

/**
 * @param {string} summary
 * @param {string} key
 * @param {...Node} children
 */
function folded(summary, key, ...children) {
  const box = make("details", "pd-more");
  box.dataset.key = key;
  box.append(make("summary", "", summary), ...children);
  return box;
}

/** @param {string[]} texts */
function calls(texts) {
  const cell = make("td", "pd-calls-cell");
  if (!texts.length) cell.append(make("span", "pd-muted", "none"));
  texts.forEach((text) => cell.append(make("code", "pd-call-text", text)));
  return cell;
}

// The answer gets the room that the ledger has.
function askAgain() {
  document.getElementById("pd-parse-tools")?.scrollIntoView({ block: "start" });
}

// --- which parser would have parsed this? --------------------------------------------

/** @type {Record<string, [sign: string, words: string]>} */
const MARKS = {
  right: ["\u2713", "reads the output"],
  lossy: ["~", "reads the calls and loses text"],
  wrong: ["\u2715", "does not read it"],
  error: ["!", "failed"],
  "not asked": ["?", "not asked"],
};

builders.parser_matrix = (root, name) => {
  let showsAll = false;
  const view = bench(
    root,
    name,
    "All of vLLM's tool parsers on this output: which of them would have read it, and is the result the same when streamed? They are tested automatically when a call was lost. For any other run, press the button.",
    (header) => {
      if (header.asks) {
        root.isStopped = false; // that was another run's
        setTimeout(() => press("pd-lost-call"));
      }
      return header.rows && header.rows.length ? [matrix(header, () => showsAll, (all) => (showsAll = all))] : [];
    },
  );
  return view;
};

/**
 * @param {{ rows: ParserRow[] }} header
 * @param {() => boolean} showsAll
 * @param {(all: boolean) => void} setShowsAll
 */
function matrix(header, showsAll, setShowsAll) {
  const rest = header.rows.filter((row) => !isOpen(row));
  const rows = header.rows.map((row) => matrixRow(row));
  const titles = ["parser", "outcome", "calls it returns", "streaming", "details"];
  const element = table("What each parser returns for the raw output", titles, grouped(header.rows, rows, titles.length));
  const apply = () => rows.forEach((row, i) => (row.hidden = !showsAll() && !isOpen(header.rows[i])));
  apply();
  const box = region("Other parsers", "pd-scroll", element);
  // Where the page has the tool that asks releases; a report has not.
  const since = document.getElementById("pd-parse-releases") ? [button("Since which release?", "pd-switch pd-since", openReleases, "The same output in several releases of each engine")] : [];
  if (!rest.length) return since.length ? beside(box, ...since) : box;
  const label = () => (showsAll() ? "Hide" : "Show") + " the other " + rest.length;
  const toggle = button(label(), "pd-switch pd-show-all", () => {
    setShowsAll(!showsAll());
    toggle.textContent = label();
    toggle.setAttribute("aria-expanded", String(showsAll()));
    apply();
  });
  toggle.setAttribute("aria-expanded", String(showsAll()));
  return beside(box, toggle, ...since);
}

/**
 * The matrix with its buttons below it.
 * @param {HTMLElement} box
 * @param {...HTMLElement} buttons
 */
function beside(box, ...buttons) {
  const whole = make("div", "pd-matrix");
  whole.append(box, ...buttons);
  return whole;
}

function openReleases() {
  const tab = document.getElementById("pd-tab-of-pd-parse-releases");
  if (tab?.getAttribute("aria-selected") === "false") tab.click();
  tab?.focus();
}

/**
 * The rows with a heading over those of each engine, where there are several.
 * @param {ParserRow[]} facts
 * @param {HTMLTableRowElement[]} rows
 * @param {number} width
 */
function grouped(facts, rows, width) {
  if (new Set(facts.map((row) => row.engine).filter(Boolean)).size < 2) return rows;
  return rows.flatMap((row, i) => {
    if (i && facts[i].engine === facts[i - 1].engine) return [row];
    const cell = make("th", "", facts[i].engine || "this server");
    cell.setAttribute("colspan", String(width));
    cell.setAttribute("scope", "colgroup");
    const heading = make("tr", "pd-matrix-engine");
    heading.append(cell);
    return [heading, row];
  });
}

/** @param {ParserRow} row */
const isOpen = (row) => row.own || row.first || row.state === "right" || row.state === "lossy";

/** @param {ParserRow} row */
function matrixRow(row) {
  const element = make("tr", "pd-matrix-" + row.state + (row.own ? " pd-own" : ""));
  const title = make("td", "pd-parser-name");
  title.append(make("span", "", row.name));
  if (row.own) title.append(make("span", "pd-own-mark", "this server's"));
  const verdict = make("td", "pd-words");
  verdict.append(mark(MARKS[row.state][0], MARKS[row.state][1], row.state), " " + row.word);
  const stream = make("td", "pd-words");
/** @type {Record<string, [sign: string, words: string]>} */
  const streams = { same: ["\u2713", "the same"], differs: ["\u2715", "differs"], untried: ["\u2013", "not tried"] };
  const same = streams[row.stream_state];
  stream.append(mark(same[0], same[1], row.stream_state === "same" ? "right" : row.stream_state === "differs" ? "wrong" : "untried"), " " + row.stream);
  const more = make("td", "pd-words");
  const facts = [["content", row.content], ["reasoning", row.reasoning], ["streamed", row.unequal], ["finish reason", row.finish], ["note", row.note]].filter(([, text]) => text);
  if (facts.length) {
    const list = make("dl", "pd-facts");
    facts.forEach(([label, text]) => list.append(make("dt", "", label), make("dd", "", shown(text))));
    more.append(folded("more", row.name, list));
  }
  element.append(title, verdict, calls(row.calls), stream, more);
  return element;
}

// --- split fuzz ------------------------------------------------------------------------

builders.splits = (root, name) =>
  bench(
    root,
    name,
    "The output as a stream, split in every interesting way: whole, token by token, at special tokens, several tokens at a time as with speculative decoding, at random, and once at each position. Does the parser return the same message each time? If not, you see the smallest split that fails and the delta at which the messages diverge.",
    (header) => (header.trials ? [...(header.split ? [smallest(header, header.split)] : []), ...log(header), trials(header)] : []),
  );

/**
 * @param {SplitsHeader} header
 * @param {Split} split
 */
function smallest(header, split) {
  const box = make("div", "pd-split");
  box.append(prose("p", "pd-split-told", "The smallest failing split: " + split.smallest + "."));
  if (split.usual) box.append(prose("p", "pd-muted", "Token by token: " + split.usual + "."));
  box.append(deltas(split));
  const sides = make("div", "pd-split-sides");
  const at = split.parts_at + 1;
  sides.append(
    message("Streamed, before delta " + at, split.before, "Nothing had arrived yet."),
    message("Streamed, after delta " + at, split.after, "Streaming failed here."),
    message("Parsed whole", header.whole, ""),
  );
  if (split.count > at) sides.append(message("Streamed, at the end", split.streamed, "Streaming failed."));
  box.append(sides);
  return box;
}

/** @param {Split} split */
function deltas(split) {
  const row = make("div", "pd-deltas");
  if (split.first) row.append(make("span", "pd-muted", "\u2026 " + plural(split.first, "delta") + " before"));
  split.deltas.forEach((text, i) => {
    const isParting = split.first + i === split.parts_at;
    const one = make("span", "pd-delta" + (isParting ? " pd-parting" : ""));
    one.append(make("code", "pd-delta-text", shown(text) || "\u2205"));
    if (isParting) one.append(make("span", "pd-parting-word", "they diverge here"), split.jump ? jumpButton("raw", split.jump) : "");
    row.append(one);
  });
  const after = split.count - split.first - split.deltas.length;
  if (after) row.append(make("span", "pd-muted", "\u2026 " + plural(after, "delta") + " after"));
  return row;
}

/**
 * @param {string} title
 * @param {JsonSegment[] | null} segments
 * @param {string} empty
 */
function message(title, segments, empty) {
  const pane = make("section", "pd-pane");
  const head = make("header", "pd-bar");
  head.append(make("span", "pd-pane-title", title));
  const body = make("div", "pd-text");
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", title);
  if (segments) drawJson(body, segments);
  else body.append(make("p", "pd-empty", empty));
  pane.append(head, body);
  return pane;
}

/** @param {SplitsHeader} header */
function trials(header) {
  const rows = header.trials.map(([name, count, difference]) => {
    const row = make("tr");
    const word = make("td", "pd-words");
    word.append(mark(difference ? "\u2715" : "\u2713", difference ? "differs" : "the same", difference ? "wrong" : "right"), " " + (difference ? shown(difference) : "the same"));
    row.append(make("td", "pd-words", name), make("td", "pd-figure-cell", plural(count, "delta")), word);
    return row;
  });
  const box = folded("Every chunking that was tried", "trials", region("Chunkings", "pd-scroll", table("Chunkings", ["chunking", "deltas", "message"], rows)));
  if (!header.split) box.open = header.trials.length <= 12;
  return box;
}

/**
 * @param {SplitsHeader} header
 * @returns {HTMLElement[]}
 */
function log(header) {
  if (!header.log || !header.log.length) return [];
  return [folded("What the parser logged", "log", ...header.log.map((line) => make("p", "pd-muted", line)))];
}

// --- releases --------------------------------------------------------------------------

builders.releases = (root, name) =>
  bench(
    root,
    name,
    "The same output through several releases of vLLM, SGLang, mlx-lm and LMDeploy, with each release's own code: since which release does each engine read it, and in which one did a call disappear? Write the releases as ENGINE==VERSION, separated by commas. Releases that are not available yet are downloaded (0.5 to 107 MB each) and kept; nothing is installed.",
    (header) => (header.tables || []).flatMap((/** @type {Releases} */ one) => (one.versions.length ? [...heading(one), ...history(one), releaseTable(one)] : [])),
  );

/** @param {Releases} one */
const heading = (one) => (one.title ? [make("h4", "pd-releases-of", one.title)] : []);

/**
 * @param {Releases} one
 * @returns {HTMLElement[]}
 */
function history(one) {
  if (!one.calls.length) return [];
  const rows = one.calls.map((call) => {
    const row = make("tr");
    const title = make("th", "pd-parser-name", visibleText(call.name, false));
    title.scope = "row";
    title.title = visibleText(call.arguments, false);
    row.append(title);
    call.taken.forEach((taken) => {
      const cell = make("td", "pd-taken");
      if (taken === null) cell.append(mark("?", "not asked", "untried"));
      else cell.append(mark(taken ? "\u2713" : "\u2715", taken ? "taken" : "not taken", taken ? "right" : "wrong"));
      row.append(cell);
    });
    return row;
  });
  const label = "Calls by release of " + one.engine;
  return [region(label, "pd-scroll", table("Which release of " + one.engine + " reads which call", ["call", ...one.versions], rows))];
}

/** @param {Releases} one */
function releaseTable(one) {
  const rows = one.rows.map((release) => {
    const row = make("tr");
    const verdict = make("td", "pd-words");
    const state = release.state || "not asked";
    verdict.append(mark(MARKS[state][0], MARKS[state][1], state), " " + release.word);
    if (release.error) verdict.append(prose("p", "pd-muted", release.error));
    if (release.note) verdict.append(make("p", "pd-muted", release.note));
    row.append(make("td", "pd-figure-cell", release.version), verdict, calls(release.calls));
    row.append(make("td", "pd-words", release.content === null ? "\u2013" : shown(release.content)), make("td", "pd-words", release.finish_reason || "\u2013"));
    return row;
  });
  const titles = [one.engine, "outcome", "calls it returns", "content", "finish_reason"];
  return region("Releases of " + one.engine, "pd-scroll", table("What each release of " + one.engine + " returns for the output", titles, rows));
}

export { askAgain, jumpButton, mark, shown };
