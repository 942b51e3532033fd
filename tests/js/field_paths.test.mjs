import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const pd = load("payload.js", "field_paths.js");

const TEXT = `{
  "messages": [
    {"role": "user", "content": "a \\"b\\" ] } , c"},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "x", "function": {"arguments": "{}"}}]}
  ],
  "odd key.[0]": [1, [2, {"deep": -1.5e3}]],
  "n": 7
}`;

function found(path) {
  const span = pd.locateField(TEXT, path);
  return span && TEXT.slice(span[0], span[1]);
}

test("a field path is split into its parts", () => {
  assert.deepEqual(pd.splitPath("messages[2].tool_calls[0].id"), ["messages", 2, "tool_calls", 0, "id"]);
  assert.deepEqual(pd.splitPath('a["x.y"][3]'), ["a", "x.y", 3]);
});

test("a field is found in the text as it was pasted", () => {
  assert.equal(found("n"), "7");
  assert.equal(found("messages[0].content"), '"a \\"b\\" ] } , c"');
  assert.equal(found("messages[1].content"), "null");
  assert.equal(found("messages[1].tool_calls[0].function.arguments"), '"{}"');
  assert.equal(found("messages[0]"), '{"role": "user", "content": "a \\"b\\" ] } , c"}');
  assert.equal(found('["odd key.[0]"][1][1].deep'), "-1.5e3");
});

test("of a field that is not there its parent is found", () => {
  assert.equal(found("messages[1].tool_calls[0].function.name"), '{"arguments": "{}"}');
});

test("text that is no JSON gives no place and no endless loop", () => {
  for (const text of ["", "{", '{"a', "[[[[", "curl http://x -d '{}'", '{"a" 1', "}"]) {
    const span = pd.locateField(text, "a.b[0]");
    assert.ok(span === null || span[1] <= text.length + 1);
  }
});
