import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const pd = await load(["payload.js", "field_paths.js", "token_layout.js"]);
const PLAIN = { whitespace: false, show: "text" };

function chips(texts, kinds = {}) {
  const table = texts.map((text, i) => ({ ids: [i + 10], text, kind: kinds[i] || 0 }));
  return { table, index: Uint16Array.from(texts.keys()) };
}

function rowsOf(texts, columns, options = PLAIN, startsTurn = null) {
  const { table, index } = chips(texts);
  const rows = pd.layoutRows(index, pd.displayTable(table, options), columns, startsTurn);
  return Array.from({ length: rows.count }, (_, r) => [rows.chip[r], rows.offset[r]]);
}

test("chips that fit share a row, the next one opens another", () => {
  assert.deepEqual(rowsOf(["abc", "def", "ghi"], 6), [[0, 0], [2, 0]]);
});

test("a chip longer than a row is split", () => {
  assert.deepEqual(rowsOf(["abcdefgh"], 3), [[0, 0], [0, 3], [0, 6]]);
});

test("a line break ends a row, also inside a chip", () => {
  assert.deepEqual(rowsOf(["a\n", "b"], 10), [[0, 0], [1, 0]]);
  assert.deepEqual(rowsOf(["a\nb", "c"], 10), [[0, 0], [0, 2]]);
});

test("a wide character does not straddle the edge", () => {
  assert.deepEqual(rowsOf(["ab\u4e2d"], 3), [[0, 0], [0, 2]]);
});

test("a turn opens a row where it is told to", () => {
  assert.deepEqual(rowsOf(["a", "b", "c"], 10, PLAIN, (at) => at === 2), [[0, 0], [2, 0]]);
});

test("no chip is lost whatever the width", () => {
  const texts = ["", "\n", "ab\ncd\n\n", "\u4e2d\u6587", "x".repeat(50), "\u{1f600}", "\t\t"];
  for (let columns = 2; columns < 40; columns++) {
    const rows = rowsOf(texts, columns);
    for (let r = 1; r < rows.length; r++) {
      const [chip, offset] = rows[r], [before, from] = rows[r - 1];
      assert.ok(chip > before || (chip === before && offset > from), `rows go forward at ${columns}`);
    }
  }
});

test("ids are shown in place of text, joined where a character took several tokens", () => {
  const shown = pd.displayTable([{ ids: [1, 22], text: "\u4e2d", kind: 3 }], { whitespace: false, show: "ids" }).shown;

  assert.deepEqual(shown, ["1+22 "]);
});

test("a forged control token says so, an empty chip shows its bytes", () => {
  const table = [{ ids: [1], text: "<|x|>", kind: 1, injected: true }, { ids: [2], text: "", kind: 3, hex: "e4" }];

  assert.deepEqual(pd.displayTable(table, PLAIN).shown, ["injected\u25b8<|x|>", "\u27e8e4\u27e9"]);
});

test("tokens and chips find each other around merged ones", () => {
  const merged = [2, 3, 5, 2]; // chip 2 holds tokens 2, 3, 4; chip 5 holds tokens 7, 8

  assert.deepEqual([0, 1, 2, 3, 5, 6].map((chip) => pd.tokenOfChip(merged, chip)), [0, 1, 2, 5, 7, 9]);
  assert.deepEqual([0, 2, 3, 4, 5, 7, 8, 9].map((token) => pd.chipOfToken(merged, token)), [0, 2, 2, 2, 3, 5, 5, 6]);
});

test("a run-length column answers for every chip", () => {
  assert.deepEqual([0, 3, 4, 9].map((at) => pd.runValue([0, 7, 4, 8], at)), [7, 7, 8, 8]);
  assert.equal(pd.runValue([], 3), -1);
});

test("search finds text across chips, ids, and control tokens", () => {
  const { table, index } = chips(["Hel", "lo ", "wor", "ld"], { 2: 1 });
  const joined = pd.joinText(table, index);

  assert.deepEqual(pd.searchChips(table, index, joined, "lo w"), [1, 2]);
  assert.deepEqual(pd.searchChips(table, index, joined, "id:13"), [3, 3]);
  assert.deepEqual(pd.searchChips(table, index, joined, "special:"), [2, 2]);
  assert.deepEqual(pd.searchChips(table, index, joined, ""), []);
  assert.deepEqual(pd.searchChips(table, index, joined, "zzz"), []);
});

// --- links and heat ----------------------------------------------------------------

const RUNS = {
  index: new Uint16Array(10),
  fields: ["", "messages[0].content", "messages[1].content", "tools"],
  field_runs: [0, 0, 2, 1, 5, 2, 8, 0],
  line_runs: [0, 3, 4, 7, 6, 3],
};

test("a line and a field are lit where they wrote, and a container lights all below it", () => {
  assert.deepEqual(pd.rangesOf(RUNS, { template_line: 3 }), [0, 4, 6, 10]);
  assert.deepEqual(pd.rangesOf(RUNS, { field: "messages[1].content" }), [5, 8]);
  assert.deepEqual(pd.rangesOf(RUNS, { field: "messages" }), [2, 8]);
  assert.deepEqual(pd.rangesOf(RUNS, { field: "messages[2]" }), []);
  assert.deepEqual(pd.rangesOf({ ...RUNS, field_runs: [0, 3] }, { field: "tools[0].function.name" }), [0, 10]);
  assert.deepEqual(pd.rangesOf(RUNS, {}), []);
});

test("values inside ranges come once each", () => {
  assert.deepEqual(pd.valuesInRanges(RUNS.line_runs, [5, 8]), [7, 3]);
  assert.deepEqual(pd.valuesInRanges(RUNS.line_runs, [0, 2]), [3]);
  assert.deepEqual(pd.valuesInRanges([], [0, 2]), []);
});

test("membership and size of ranges", () => {
  const ranges = [2, 4, 8, 9];
  assert.deepEqual([0, 2, 3, 4, 8, 9].map((at) => pd.isInRanges(ranges, at)), [false, true, true, false, true, false]);
  assert.equal(pd.isInRanges([], 0), false);
  assert.equal(pd.countOfRanges(ranges), 3);
});

test("characters are counted as Python does, also around surrogates", () => {
  const { table, index } = chips(["a", "\u{1f600}b", "", "c", "\ud800"]);
  const joined = pd.joinText(table, index);

  assert.deepEqual([...joined.points], [0, 1, 3, 3, 4, 5]);
  assert.deepEqual([...joined.starts], [0, 1, 4, 4, 5, 6]);
  assert.deepEqual(pd.rangesOfPoints(joined, [[1, 2]]), [1, 2]);
  assert.deepEqual(pd.rangesOfPoints(joined, [[0, 1], [3, 4]]), [0, 1, 3, 4]);
  assert.deepEqual(pd.rangesOfPoints(joined, [[2, 2]]), []);
});

test("a search hit that spans chips names the first and the last, hit after hit", () => {
  const { table, index } = chips(["ab", "", "ab", "a", "b"]);
  const joined = pd.joinText(table, index);

  assert.deepEqual(pd.searchChips(table, index, joined, "ab"), [0, 0, 2, 2, 3, 4]);
  assert.deepEqual(pd.searchChips(table, index, joined, "ba"), [0, 2, 2, 3]);
});

test("unlikely tokens are found by probability, where there is one", () => {
  const { table, index } = chips(["a", "b", "c"]);
  const joined = pd.joinText(table, index);
  const heat = Float32Array.from([-0.1, -3, NaN]);

  assert.deepEqual(pd.searchChips(table, index, joined, "p<10%", heat), [1, 1]);
  assert.deepEqual(pd.searchChips(table, index, joined, "p < 0.95", heat), [0, 0, 1, 1]);
  assert.deepEqual(pd.searchChips(table, index, joined, "p<10%", null), []);
});

test("bytes are shown for every chip", () => {
  const { shown } = pd.displayTable([{ ids: [1], text: "\u4e2d", kind: 0 }, { ids: [2], text: "", hex: "ff", kind: 3 }], { show: "bytes" });

  assert.deepEqual(shown, ["e4 b8 ad  ", "ff  "]);
});

test("the widest row is known, so that rows that are not wrapped can be scrolled to their end", () => {
  const widest = (texts, columns, startsTurn = null) => {
    const { table, index } = chips(texts);
    return pd.layoutRows(index, pd.displayTable(table, PLAIN), columns, startsTurn).widest;
  };

  assert.equal(widest(["abc", "def", "ghi"], 6), 6);
  assert.equal(widest(["abc", "def", "ghi"], 1000), 9);
  assert.equal(widest(["ab\n", "\u4e2d\u6587c\n"], 1000), 5);
  assert.equal(widest(["abcd", "ef"], 1000, (at) => at === 1), 4);
  assert.equal(widest([], 1000), 0);
});
