import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const pd = await load(["field_paths.js", "text_places.js"]);
const cut = (text, span) => span && text.slice(...span);

test("a line and column name the word, string or sign that stands there", () => {
  const text = '{\n  "a": nul,\n  "b c": }';
  assert.equal(cut(text, pd.wordAt(text, 2, 8)), "nul");
  assert.equal(cut(text, pd.wordAt(text, 3, 3)), '"b c"');
  assert.equal(cut(text, pd.wordAt(text, 3, 10)), "}");
});

test("where a text ends too early, what stands before the end is meant", () => {
  assert.equal(cut('{"a": 1', pd.wordAt('{"a": 1', 1, 8)), "1");
  assert.deepEqual(pd.wordAt('{"a": [\n\n', 3, 1), [6, 7]);
  assert.equal(pd.wordAt("", 1, 1), null);
});

test("columns count characters, not units", () => {
  const text = '{"\u{1f600}": nul}';
  assert.equal(cut(text, pd.wordAt(text, 1, 7)), "nul");
});

test("a line beyond the text is its last one, one without column all of it", () => {
  assert.equal(cut("a\n  b c  ", pd.wordAt("a\n  b c  ", 9)), "b c");
});

test("a field is its value, a container its key, one without key its bracket", () => {
  const text = '{"messages": [{"role": "usr"}], "tools": [\n1]}';
  const fields = pd.readFields(text);
  assert.equal(cut(text, pd.valueAt(text, "messages[0].role", fields)), '"usr"');
  assert.equal(cut(text, pd.valueAt(text, "tools", fields)), '"tools"');
  assert.deepEqual(pd.valueAt(text, "messages[0]", fields), [14, 15]);
  assert.equal(pd.valueAt("curl", "messages", pd.readFields("curl")), null);
});

test("a place in a template is found in the string that holds it, escapes and all", () => {
  const text = '{"chat_template": "{# \\u00e9\\"\\n #}\\n{{ x | to_yaml }}", "model": "m"}';
  const span = pd.locateField(text, "chat_template");
  assert.equal(cut(text, pd.placeInString(text, span, 3, 8)), "to_yaml");
  assert.equal(cut(text, pd.placeInString(text, span, 3)), "{{ x | to_yaml }}");
  assert.equal(cut(text, pd.placeInString(text, span, 1, 4)), "\\u00e9");
});
