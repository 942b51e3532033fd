import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const pd = await load(["payload.js", "template_view.js"]);

const LINES = ["{%- if a -%}", "  x", "  y", "{%- else -%}", "  z", "{%- endif -%}"];
const taken = (branches, ran = []) => pd.readLines({ lines: LINES, ran, branches });

test("the body of a branch that was not taken is skipped, its tags are not", () => {
  const states = taken([{ kind: "if", expression: "a", line: 1, end_line: 4, runs: 0, skips: 2 }, { kind: "else", expression: "", line: 4, end_line: 6, runs: 2, skips: 0 }], [5]);

  assert.deepEqual(states.map((state) => state.skippedBy !== null), [false, true, true, false, false, false]);
  assert.deepEqual(states.map((state) => state.branches.length), [1, 0, 0, 1, 0, 0]);
});

test("a line that wrote is never called skipped, whatever a branch says", () => {
  const states = taken([{ kind: "if", expression: "a", line: 1, end_line: 6, runs: 0, skips: 1 }], [3]);

  assert.equal(states[2].skippedBy, null);
  assert.equal(states[2].wrote, true);
});

test("lines outside the template are no lines", () => {
  assert.equal(taken([{ kind: "if", expression: "a", line: 90, end_line: 99, runs: 0, skips: 1 }], [77]).length, 6);
});

test("what happened at a branch is said in words", () => {
  const words = (kind, runs, skips) => pd.branchWords({ kind, expression: "e", runs, skips })[1];

  assert.equal(words("if", 3, 1), "taken 3 times, passed over once");
  assert.equal(words("if", 0, 2), "not taken, evaluated 2 times");
  assert.equal(words("if", 0, 0), "not reached");
  assert.equal(words("for", 4, 1), "went round 4 times, empty once");
  assert.equal(words("macro", 1, 0), "called once");
});

function wrapped(text, columns) {
  const rows = pd.wrapLines([text], columns);
  return rows.map(({ from, to }) => text.slice(from, to));
}

test("a long line breaks behind white space, or where it must", () => {
  assert.deepEqual(wrapped("{%- if tools is defined and tools -%}", 20), ["{%- if tools is ", "defined and tools ", "-%}"]);
  assert.deepEqual(wrapped("x".repeat(25), 10), ["x".repeat(10), "x".repeat(10), "x".repeat(5)]);
});

test("wide characters take two cells, and none is cut in two", () => {
  assert.deepEqual(wrapped("\u4e2d\u6587\u4e2d\u6587", 5), ["\u4e2d\u6587", "\u4e2d\u6587"]);
  assert.deepEqual(wrapped("\u{1f600}\u{1f600}", 1), ["\u{1f600}", "\u{1f600}"]);
});

test("every line keeps all its text, and an empty one a row", () => {
  const lines = ["", "a b c", " ".repeat(40), "x".repeat(99) + " y", ""];
  for (let columns = 1; columns < 50; columns++) {
    const joined = lines.map(() => "");
    const rows = pd.wrapLines(lines, columns);
    rows.forEach(({ line, from, to }) => (joined[line] += lines[line].slice(from, to)));
    assert.deepEqual(joined, lines);
    assert.deepEqual([...new Set(rows.map((row) => row.line))], [0, 1, 2, 3, 4]);
  }
});
