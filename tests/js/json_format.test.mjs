import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { formatJson, isSameJson } = await load(["json_format.js"]);

test("parts get a line each, and empty containers none", () => {
  const text = '{"messages":[{"role":"user","content":"Hi"}],"tools":[],"x":{}}';
  assert.equal(
    formatJson(text),
    '{\n  "messages": [\n    {\n      "role": "user",\n      "content": "Hi"\n    }\n  ],\n  "tools": [],\n  "x": {}\n}',
  );
});

test("numbers, escapes, keys and their order stay as they were written", () => {
  const parts = ['"b"', "12345678901234567890", '"\\u00e9\\/\\n {}[],:"', "1E+400", "-0.0", '"b"', '"\\ud800"', "1e-7", '"\u2028"', '"a"', "2.50"];
  const text = `{${parts[0]}:${parts[1]},"1":[${parts[2]},${parts[3]},${parts[4]}],${parts[5]}:${parts[6]},"c":${parts[7]},"d":${parts[8]},${parts[9]}:${parts[10]}}`;
  const laidOut = formatJson(text);
  assert.equal(laidOut.replace(/\n +|\n/g, "").replaceAll('": ', '":'), text);
  assert.equal(formatJson(laidOut), laidOut);
});

test("what is no JSON is left alone", () => {
  for (const text of ["", "curl http://x -d '{}'", '{"a": 1,}', "{'a': 1}", '{"a": NaN}', '{"a": 1} {"b": 2}', '{"a": "', "<tool_call>"]) {
    assert.equal(formatJson(text), null, text);
  }
});

test("a text that is one value is JSON, too", () => {
  assert.equal(formatJson("  12345678901234567890 "), "12345678901234567890");
  assert.equal(formatJson('"a  b"'), '"a  b"');
});

test("deep nesting does not blow the text up", () => {
  const deep = "[".repeat(3000) + "]".repeat(3000);
  const laidOut = formatJson(deep);
  assert.ok(laidOut.length < 3000 * 2 * 210);
  assert.equal(laidOut.replace(/\s/g, ""), deep);
});

test("space between parts makes no other JSON, a digit or a key's place does", () => {
  assert.ok(isSameJson('{"a":1, "b": [ ]}', '{\n "a" : 1,"b":[]}'));
  assert.ok(!isSameJson('{"a": 1}', '{"a": 1.0}'));
  assert.ok(!isSameJson('{"a": "x y"}', '{"a": "x  y"}'));
  assert.ok(!isSameJson('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'));
  assert.ok(!isSameJson("same", "same"));
});

test("a very long text is no fault", () => {
  const text = JSON.stringify(["a\n".repeat(5_000_000)]);
  assert.equal(formatJson(text).length, text.length + "\n  \n".length);
});
