// @ts-check
// Two runs side by side: verdicts, facts, and for each stage what one has and the other has not.
import { builders } from "../lib/builders.js";
import { button, copyText, make, prose } from "../lib/dom.js";
import { keepCompared } from "../editor/draft.js";
import { runsOfAddress } from "../page/address.js";
import { drawDifference } from "./experiments_view.js";
import { plural, visibleText } from "../lib/payload.js";
import { drawPair, saveCanvas } from "../views/picture.js";
import { packText, TOO_LONG, unpackText } from "../lib/packing.js";

/**
 * @typedef {{ letter: string, name: string, badge: string, tone: string, sentence: string }} Side
 * @typedef {[text: string, mark: string][]} Stretches
 * @typedef {{ path: string, word: string, left: Stretches, right: Stretches }} Change
 * @typedef {{ title: string, state: string, sentence: string, difference: Difference | null, changes: Change[] }} Part
 * @typedef {[label: string, left: string | null, right: string | null, differs: boolean]} FactRow
 * @typedef {[title: string, items: { severity: string, mark: string, code: string, title: string }[]]} Group
 */

/**
 * @typedef {{ id: number, name: string, packed: string, isCut?: boolean }} Choice A run that can stand on either side; those with an id above 0 are in the history.
 *   isCut: it ended without a verdict, and is compared with nothing.
 */

/** @type {Choice[]} */
let choices = []; // newest first
const [addressed, beside] = runsOfAddress();
/** @type {[number, number] | null} */
let chosen = beside === undefined ? null : [addressed, beside]; // ids of A and B
const MAX_ADDED = 8;
const MAX_NAME = 200;
let notice = ""; // of what was asked for; stays above what is compared, until other runs are
let isPacking = false; // a run has ended and is not among the choices yet
let newestAdded = 0; // ids of bundles go down from 0
/** @type {{ draw(): void, ask(): void, refused(): void } | null} */
let view = null;

// The page's server did not take the question: it is asked again at the next look, or by the button.
export const comparisonRefused = () => view?.refused();

/**
 * The runs that the history holds now.
 * @param {Choice[]} runs newest first
 */
export function offerRuns(runs) {
  choices = [...choices.filter((one) => one.id < 0), ...runs];
  view?.draw();
  view?.ask();
}

/**
 * A run has ended: it will be offered in a moment, or was, or cannot be.
 * @param {boolean} isComing
 */
export function expectRun(isComing) {
  isPacking = isComing;
  view?.draw();
}

/**
 * Chooses runs that the history is about to offer, before anyone can choose others among them.
 * @param {[number, number]} pair ids of A and B
 */
export function expectRuns(pair) {
  chosen = pair;
  notice = "";
}

/**
 * A run that is not in the history: compared with the one that was chosen last.
 * @param {string} name
 * @param {string} packed
 * @returns {number} its id
 */
export function addRun(name, packed) {
  newestAdded -= 1;
  const added = choices.filter((one) => one.id < 0).slice(0, MAX_ADDED - 1);
  choices = [{ id: newestAdded, name, packed }, ...added, ...choices.filter((one) => one.id > 0)];
  chooseRuns([chosen ? chosen[1] : NaN, newestAdded]);
  return newestAdded;
}

/**
 * Something was added to a run that is not in the history.
 * @param {number} id
 * @param {string} packed
 * @returns {boolean} whether it is there
 */
export function changeRun(id, packed) {
  const run = choices.find((one) => one.id === id);
  if (!run) return false;
  choices = choices.map((one) => (one === run ? { ...one, packed } : one));
  view?.ask();
  return true;
}

/** @param {number[]} pair ids of A and B; one that is not there is replaced by the newest other run */
export function chooseRuns([left, right]) {
  chosen = [left, right];
  view?.draw();
  view?.ask();
}

/**
 * The runs that an address, or the last visit, names; it is said where this browser has one of them no longer.
 * @param {number[]} pair ids of A and B
 */
export function chooseNamedRuns(pair) {
  chooseRuns(pair);
  const isThere = pair.every((id) => choices.some((one) => one.id === id));
  if (!isThere) notice = "The address names a run that this browser does not have: it was made in another one, or forgotten." + (settled() ? " The newest runs are shown instead." : "");
  view?.draw();
}

// Two runs that are there: what was chosen, else the newest.
function settled() {
  const ids = choices.map((one) => one.id);
  const whole = choices.filter((one) => !one.isCut).map((one) => one.id);
  const right = chosen && ids.includes(chosen[1]) ? chosen[1] : whole.find((id) => id !== chosen?.[0]);
  const left = chosen && ids.includes(chosen[0]) ? chosen[0] : whole.find((id) => id !== right);
  return left === undefined || right === undefined ? null : [left, right];
}

/** @type {Record<string, [mark: string, words: string]>} */
const STATES = { same: ["=", "the same"], differs: ["\u2260", "they differ"], missing: ["?", "not in both"] };

builders.comparison = (root) => {
  root.classList.add("pd-comparison");
  const body = make("div", "pd-comparison-body");
  const status = make("p", "pd-share-hint");
  status.setAttribute("role", "status");
  const [left, right] = ["A", "B"].map((letter) => {
    const list = make("select", "pd-comparison-choice");
    list.setAttribute("aria-label", "Run " + letter);
    list.addEventListener("change", () => chooseRuns([Number(left.value), Number(right.value)]));
    return list;
  });
  const swap = button("\u21c4", "pd-small", () => chooseRuns([Number(right.value), Number(left.value)]), "Swap A and B");
  swap.setAttribute("aria-label", "Swap A and B");
  root.append(picker(), status, body);
  let asked = ""; // the pair that is shown, or on its way, as it is by now
  let shown = ""; // what is drawn of it
  let isAsking = false; // the page's server, which has not answered
  /** @type {string[]} */
  let names = []; // of that pair
  view = { draw, ask, refused };
  draw();
  new MutationObserver(ask).observe(document.documentElement, { attributes: true, attributeFilter: ["data-panel"] });
  ask(); // panel and runs may have been there before this view

  function draw() {
    const pair = settled();
    [left, right].forEach((list, side) => {
      list.replaceChildren(...(choices.length ? choices.map((one) => new Option(visibleText(one.name, false), String(one.id))) : [new Option("No runs yet", "")]));
      if (pair) list.value = String(pair[side]);
      else list.selectedIndex = Math.max(0, choices.length - 1);
      list.disabled = choices.length === 0;
    });
    swap.disabled = pair === null;
    if (!shown) empty();
    if (notice) status.textContent = notice;
  }

  function refused() {
    asked = "";
    isAsking = false;
    if (!shown) empty();
    const words = prose("span", "", "The page's server did not accept the two runs. See the error notice.");
    status.replaceChildren(words, " ", button("Compare again", "pd-small", ask));
  }

  // Only what is looked at is compared.
  async function ask() {
    const pair = settled();
    const both = (pair || []).map((id) => /** @type {Choice} */ (choices.find((one) => one.id === id)));
    const wanted = both.map((one) => [one.id, one.packed.length]).join(); // what parsers say later makes it longer
    if (document.documentElement.dataset.panel !== "compare" || !pair || asked === wanted) return;
    asked = wanted;
    isAsking = true;
    if (!shown) empty();
    names = both.map((one) => [...one.name].slice(0, MAX_NAME).join(""));
    const bundles = await Promise.all(both.map((one) => unpackText(one.packed)));
    const texts = names.map((name, at) => [name, bundles[at]]);
    const packed = await packText(JSON.stringify(texts));
    if (asked !== wanted) return; // others were chosen meanwhile
    keepCompared(pair.every((id) => id > 0) ? pair : []);
    isAsking = packed !== null;
    if (!shown) empty();
    if (packed === null) status.replaceChildren(prose("span", "", "These two runs are too long for the page: `run --bundle B --compare-with A` compares them."));
    else root.pdAsk("submit", { packed });
  }

  function picker() {
    const box = make("div", "pd-comparison-bar");
    const file = make("input", "pd-live");
    file.type = "file";
    file.accept = ".json,application/json";
    file.setAttribute("aria-label", "Bundle to compare with");
    file.tabIndex = -1;
    file.addEventListener("change", async () => {
      if (!file.files?.length) return;
      status.textContent = "Reading it \u2026";
      const { name } = file.files[0];
      const packed = await packText(await file.files[0].text());
      file.value = "";
      if (packed === null) status.replaceChildren(prose("span", "", TOO_LONG));
      else addRun(name.slice(0, 80), packed);
    });
    box.append(letter("A"), left, swap, letter("B"), right);
    box.append(button("Add a bundle \u2026", "", () => file.click(), "A run saved as JSON becomes a choice for either side"), file);
    return box;
  }

  function empty() {
    shown = "";
    const words = emptyWords();
    if (body.textContent !== words || !words) body.replaceChildren(...(words ? [make("p", "pd-empty", words)] : []));
  }

  // What is missing, or under way; nothing where the line above says why two runs are not compared.
  function emptyWords() {
    if (isPacking) return "The run that has just ended is being prepared \u2026";
    if (isAsking) return "Comparing the two runs \u2026";
    if (settled()) return "";
    const next = choices.length ? "One is here: run again, or add a bundle." : "Run twice, or add a bundle: the runs of this browser's history are the choices above.";
    return "Two runs are shown side by side, with their differences. " + next;
  }

  return {
    show(decoded) {
      if (!decoded) return empty();
      const { header } = decoded;
      isAsking = false;
      if (header.sides && header.sides.some((/** @type {Side} */ side, /** @type {number} */ at) => side.name !== names[at])) return undefined; // of others
      status.textContent = header.note || notice;
      notice = "";
      status.dataset.tone = header.tone || "";
      if (header.kind === "note") return shown ? undefined : empty();
      const drawn = JSON.stringify(header);
      if (drawn === shown) return undefined; // what was opened in it stays open
      shown = drawn;
      const head = make("div", "pd-comparison-head");
      head.append(prose("p", "pd-sentence", header.sentence));
      if (header.explanation) head.firstElementChild?.after(prose("p", "pd-comparison-why", header.explanation));
      head.append(button("Picture", "", () => savePair(header), "Before and after with the change between, as a PNG"));
      head.append(button("Copy sentence", "", (event) => copyText(header.sentence, event.currentTarget)));
      body.replaceChildren(head, sides(header.sides), facts(header.facts), ...header.parts.map(part), findings(header.findings));
      return undefined;
    },
  };
};

// A as before, B as after.
/** @param {{ sides: (Side & import("../views/picture.js").PairSide)[], parts: Part[] }} header */
function savePair({ sides: both, parts }) {
  const request = parts.find((one) => one.title === "Request");
  /** @type {(stretches: Stretches) => string} */
  const textOf = (stretches) => stretches.map(([text]) => text).join("");
  const changes = (request ? request.changes : []).map((one) => ({ path: one.path, before: textOf(one.left), after: textOf(one.right) }));
  return saveCanvas(drawPair(both, changes), "before-after.png");
}

/** @param {string} name */
const letter = (name) => make("strong", "pd-letter", name);

/** @param {Side[]} pair */
function sides(pair) {
  const box = make("div", "pd-comparison-sides");
  pair.forEach((side) => {
    const one = make("div", "pd-comparison-side");
    one.dataset.tone = side.tone;
    const title = make("p", "pd-comparison-name");
    title.append(make("strong", "pd-letter", side.letter), " ", make("span", "pd-muted", side.name));
    one.append(title, make("span", "pd-badge", side.badge), prose("p", "", side.sentence));
    box.append(one);
  });
  return box;
}

/** @param {FactRow[]} rows */
function facts(rows) {
  const differing = rows.filter((row) => row[3]);
  const unknown = rows.filter((row) => !row[3] && (row[1] === null || row[2] === null));
  const equal = rows.filter((row) => !row[3] && !unknown.includes(row));
  const box = section("Server and run", differing.length ? "differs" : "same", differing.length ? plural(differing.length, "fact") + " differ" + (differing.length === 1 ? "s" : "") + "." : "None is known to differ.");
  if (differing.length) box.append(factTable(differing));
  const folded = [/** @type {const} */ ([equal, " the same in both"]), /** @type {const} */ ([unknown, " known for one run only"])];
  folded.filter(([some]) => some.length).forEach(([some, words]) => {
    const more = make("details", "pd-more");
    more.append(make("summary", "", plural(some.length, "fact") + words), factTable(some));
    box.append(more);
  });
  return box;
}

/** @param {FactRow[]} rows */
function factTable(rows) {
  const table = make("table", "pd-table");
  const head = make("tr", "");
  ["", "A", "B"].forEach((name) => {
    const cell = make(name ? "th" : "td", "", name);
    if (name) cell.scope = "col";
    head.append(cell);
  });
  table.append(head);
  rows.forEach(([label, left, right]) => {
    const row = make("tr", "");
    const name = make("th", "", label);
    name.scope = "row";
    row.append(name, ...[left, right].map((value) => make("td", value === null ? "pd-muted" : "", value === null ? "not known" : value)));
    table.append(row);
  });
  return table;
}

/**
 * @param {string} title
 * @param {string} state
 * @param {string} sentence
 */
function section(title, state, sentence) {
  const box = make("section", "pd-comparison-part");
  box.dataset.state = state;
  const head = make("h2", "pd-comparison-title");
  const mark = make("span", "pd-comparison-mark", STATES[state][0]);
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", STATES[state][1]);
  head.append(mark, " ", title);
  box.append(head, prose("p", "pd-comparison-sentence", sentence));
  return box;
}

/** @param {Part} one */
function part(one) {
  const box = section(one.title, one.state, one.sentence);
  if (one.difference) box.append(drawDifference(one.difference, "compare-" + one.title));
  one.changes.forEach((change) => box.append(changed(change)));
  return box;
}

/** @param {Change} change */
function changed({ path, word, left, right }) {
  const box = make("div", "pd-comparison-change");
  const head = make("p", "");
  head.append(make("code", "pd-inline-code", path), " ", make("span", "pd-muted", word));
  box.append(head);
  /** @type {[string, Stretches, string][]} */
  const both = [["A", left, "removed"], ["B", right, "added"]];
  both.forEach(([letter, stretches, mark]) => {
    if (!stretches.length) return;
    const row = make("div", "pd-comparison-value");
    const text = make("code", "");
    stretches.forEach(([shown, kind]) => {
      const visible = visibleText(shown, Boolean(kind) && left.length > 0 && right.length > 0);
      text.append(kind ? make(kind === "soft" ? "span" : "mark", "pd-" + kind + " pd-" + mark, visible) : visible);
    });
    row.append(make("strong", "pd-letter", letter), text);
    box.append(row);
  });
  return box;
}

/** @param {[Group, Group, Group]} groups */
function findings(groups) {
  const [left, right, both] = groups;
  const differs = left[1].length + right[1].length > 0;
  const count = left[1].length + right[1].length;
  const box = section("Findings", differs ? "differs" : "same", differs ? plural(count, "finding") + " in one run only." : both[1].length ? "The same in both." : "None in either.");
  groups.filter(([, items]) => items.length).forEach(([title, items]) => {
    const list = make("ul", "pd-comparison-findings");
    items.forEach((item) => {
      const line = make("li", "pd-" + item.severity);
      line.append(make("strong", "", item.mark + " " + item.code), " ", prose("span", "", item.title));
      list.append(line);
    });
    box.append(make("h3", "", title), list);
  });
  return box;
}
