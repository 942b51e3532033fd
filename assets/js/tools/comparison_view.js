// @ts-check
// Two runs side by side: verdicts, facts, and for each stage what one has and the other has not.
import { builders } from "../lib/builders.js";
import { button, copyText, make, prose } from "../lib/dom.js";
import { drawDifference } from "./experiments_view.js";
import { plural, visibleText } from "../lib/payload.js";
import { packText, TOO_LONG } from "../lib/packing.js";

/**
 * @typedef {{ letter: string, name: string, badge: string, tone: string, sentence: string }} Side
 * @typedef {[text: string, mark: string][]} Stretches
 * @typedef {{ path: string, word: string, left: Stretches, right: Stretches }} Change
 * @typedef {{ title: string, state: string, sentence: string, difference: Difference | null, changes: Change[] }} Part
 * @typedef {[label: string, left: string | null, right: string | null, differs: boolean]} FactRow
 * @typedef {[title: string, items: { severity: string, mark: string, code: string, title: string }[]]} Group
 */

/** @type {((packed: string) => Promise<void>) | null} */
export let askComparison = null; // as long as its view is there
/** @type {Record<string, [mark: string, words: string]>} */
const STATES = { same: ["=", "the same"], differs: ["\u2260", "they differ"], missing: ["?", "not in both"] };

builders.comparison = (root) => {
  root.classList.add("pd-comparison");
  const body = make("div", "pd-comparison-body");
  const status = make("p", "pd-share-hint");
  status.setAttribute("role", "status");
  root.append(picker(), status, body);
  let answered = () => {};
  // Adds a run; the answer is awaited, for a second one that comes meanwhile would take the first one's place.
  askComparison = (packed) =>
    new Promise((resolve) => {
      answered = resolve;
      root.pdAsk("submit", { packed });
    });
  empty();

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
      const packed = await packText(await file.files[0].text());
      file.value = "";
      if (packed === null) status.replaceChildren(prose("span", "", TOO_LONG));
      else root.pdAsk("submit", { packed });
    });
    box.append(button("Add a bundle \u2026", "", () => file.click(), "A run saved as JSON becomes a choice for either side"), file);
    return box;
  }

  function empty() {
    body.replaceChildren(make("p", "pd-empty", "Two runs stand here side by side, with what differs between them. Run twice, or add a bundle: the last runs of this page are the choices above."));
  }

  return {
    show(decoded) {
      if (!decoded) return empty();
      const { header } = decoded;
      status.textContent = header.note || "";
      status.dataset.tone = header.tone || "";
      if (header.kind === "note") return answered();
      const head = make("div", "pd-comparison-head");
      head.append(prose("p", "pd-sentence", header.sentence));
      head.append(button("Copy sentence", "", (event) => copyText(header.sentence, event.currentTarget)));
      body.replaceChildren(head, sides(header.sides), facts(header.facts), ...header.parts.map(part), findings(header.findings));
      return undefined;
    },
  };
};

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
  const equal = rows.filter((row) => !row[3]);
  const box = section("Server and run", differing.length ? "differs" : "same", differing.length ? plural(differing.length, "fact") + " differ" + (differing.length === 1 ? "s" : "") + "." : "The same in both.");
  if (differing.length) box.append(factTable(differing));
  if (equal.length) {
    const more = make("details", "pd-more");
    more.append(make("summary", "", plural(equal.length, "fact") + " the same in both"), factTable(equal));
    box.append(more);
  }
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
    row.append(name, ...[left, right].map((value) => make("td", value === null ? "pd-muted" : "", value === null ? "not told" : value)));
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
