import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { layOut } = await load(["payload.js", "picture_rows.js"]);
const texts = (runs, columns) => layOut(runs, columns).map((row) => row.map((run) => run.text).join(""));

test("a marker that does not fit into the rest of a row begins the next", () => {
  assert.deepEqual(texts([{ text: "abc<|tool_call_begin|>x" }], 20), ["abc", "<|tool_call_begin|>x"]);
});

test("a marker longer than a row is cut, as any text", () => {
  assert.deepEqual(texts([{ text: "<|tool_call|>" }], 5), ["<|too", "l_cal", "l|>"]);
});

test("other text fills its rows, and a line break ends one", () => {
  assert.deepEqual(texts([{ text: "abcdef\ng" }, { text: "h < i" }], 4), ["abcd", "ef", "gh <", " i"]);
});
