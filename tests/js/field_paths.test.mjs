import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const pd = await load(["payload.js", "field_paths.js"]);

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

// --- other forms, and the way back -----------------------------------------------

function at(text, needle) {
  return pd.fieldAt(pd.readFields(text), text.indexOf(needle) + 1);
}

test("the field under a place is the innermost one, key or value", () => {
  assert.equal(at(TEXT, '"messages"'), "messages");
  assert.equal(at(TEXT, "] } , c"), "messages[0].content");
  assert.equal(at(TEXT, '"role": "assistant"'), "messages[1].role");
  assert.equal(at(TEXT, '"x", "function"'), "messages[1].tool_calls[0].id");
  assert.equal(at(TEXT, "-1.5e3"), '["odd key.[0]"][1][1].deep');
  assert.equal(pd.fieldAt(pd.readFields(TEXT), 0), null);
});

test("every field leads back to itself", () => {
  const fields = pd.readFields(TEXT);
  for (const field of fields) {
    const path = pd.fieldAt(fields, field.keyStart ?? field.start);
    const [start] = pd.locateField(TEXT, path, fields);
    assert.ok(start >= field.start, path);
  }
});

test("a body inside a shell command is found", () => {
  const text = "curl http://localhost:8000/v1/chat/completions \\\n -H 'Content-Type: application/json' \\\n -d '{\"messages\": [{\"content\": \"hi\"}]}'";
  assert.equal(at(text, '"hi"'), "messages[0].content");
  const [start, stop] = pd.locateField(text, "messages[0].content");
  assert.equal(text.slice(start, stop), '"hi"');
});

test("a call of the Python client is read: keywords, quotes, long strings, comments, extra_body", () => {
  const text = `client = OpenAI(base_url="x")  # {not this}
client.chat.completions.create(
    model='m',  # a "comment", with { brackets
    messages=[{'role': "user", "content": """two
lines"""}],
    extra_body={"chat_template_kwargs": {"thinking": True}},
)`;
  const value = (path) => text.slice(...pd.locateField(text, path));
  assert.equal(value("model"), "'m'");
  assert.equal(value("messages[0].role"), '"user"');
  assert.equal(value("messages[0].content"), '"""two\nlines"""');
  assert.equal(value("chat_template_kwargs.thinking"), "True");
  assert.equal(at(text, "lines"), "messages[0].content");
  assert.equal(at(text, "True"), "chat_template_kwargs.thinking");
});

test("half-typed text gives what is there, and ends", () => {
  for (let cut = 0; cut <= TEXT.length; cut++) {
    const fields = pd.readFields(TEXT.slice(0, cut));
    for (const field of fields) assert.ok(field.stop <= cut && field.start <= field.stop);
  }
  assert.equal(at('{"a": {"b": "half', "half"), "a.b");
});

test("very deep and very long texts are read in one pass", () => {
  pd.readFields("[".repeat(100000));
  assert.equal(pd.readFields("[" + "1,".repeat(50000) + "1]").length, 50001);
});

test("what is deeply nested takes no more room than what is not", () => {
  const before = process.memoryUsage().heapUsed;
  const fields = pd.readFields("x{".repeat(2500000));
  assert.ok(process.memoryUsage().heapUsed - before < 100e6);
  assert.equal(fields.length, 200000);
  assert.deepEqual(fields[2].path, ["x", "x", "x"]);
  assert.equal(fields[199].path.length, 200);
});

test("a path is within its containers, and not within its namesakes", () => {
  assert.ok(pd.isWithin("messages[1].content", "messages[1]"));
  assert.ok(pd.isWithin("messages[1]", "messages[1]"));
  assert.ok(!pd.isWithin("messages[10]", "messages[1]"));
  assert.ok(!pd.isWithin("messages", "messages[1]"));
  assert.ok(!pd.isWithin("", ""));
  assert.ok(!pd.isWithin("a", undefined));
});
