import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

// An editor that shows all of its text, and the highlights of a browser.
const editors = {};
function editor(id, text) {
  editors[id] = { state: { doc: { toString: () => text } }, visibleRanges: [{ from: 0, to: text.length }], contentDOM: {} };
}
let shown = new Map();
globalThis.CSS = { highlights: { set: (name, ranges) => shown.set(name, ranges), delete: (name) => shown.delete(name) } };
globalThis.Highlight = class {
  constructor(...ranges) {
    return ranges;
  }
};
globalThis.MutationObserver = class {
  observe() {}
};
let isOld = false;
let drawn;
const pd = await load(["field_paths.js", "text_places.js", "editor_marks.js"], {
  editorView: (id) => editors[id] || null,
  rangeOf: (view, from, to) => view.state.doc.toString().slice(from, to),
  isOutdated: () => isOld,
  onDrawn: (listener) => (drawn = listener),
});
const wrong = () => shown.get("pd-wrong") || [];
const ROLE = { code: "PD109", severity: "warning", evidence: [{ in: "request", field: "messages[0].role" }] };

test("a fault of the text, and a finding about the request, are marked where they stand", () => {
  editor("pd-request", '{"messages": [{"role": "usr"}]}');
  pd.markWrong("notices", pd.REQUEST, [{ line: 1, column: 2, field: "", message: "?" }]);
  pd.markWrong("live", pd.REQUEST, pd.faultsOf([ROLE]));
  assert.deepEqual(wrong(), ['"messages"', '"usr"']);
  pd.markWrong("notices", pd.REQUEST, [{ field: "messages[0].role" }]); // who says it twice marks it once
  assert.deepEqual(wrong(), ['"usr"']);
});

test("another text, or the end of what was said, takes the mark away", () => {
  editor("pd-request", '{"messages": [{"role": "user"}]}');
  pd.markWrong("notices", pd.REQUEST, []);
  assert.deepEqual(wrong(), []);
});

test("a note, and what a later stage blames on the answer, mark nothing in the request", () => {
  const note = { ...ROLE, severity: "note" };
  const late = { ...ROLE, code: "PD401" };
  const elsewhere = { ...ROLE, evidence: [{ in: "raw", char_span: [0, 1] }, null] };
  assert.deepEqual(pd.faultsOf([note, late, elsewhere]), []);
});

test("findings of a run stay marked until the request is another", () => {
  pd.host.markFindings([ROLE]);
  assert.deepEqual(wrong(), ['"user"']);
  isOld = true;
  drawn();
  assert.deepEqual(wrong(), []);
});

test("a template's fault is marked in the request that brings the template, and in the template's editor", () => {
  editor("pd-request", '{"chat_template": "{{ a }}\\n{{ x | to_yaml }}"}');
  editor("pd-template-source", "{{ a }}\n{{ x | to_yaml }}");
  const place = { template_line: 2, template_column: 8 };
  pd.markWrong("live", pd.REQUEST, [place]);
  pd.markWrong("edited", pd.TEMPLATE, [place]);
  assert.deepEqual(wrong(), ["to_yaml", "to_yaml"]);
  editor("pd-request", '{"messages": []}');
  pd.markWrong("live", pd.REQUEST, [place]); // the model's own template failed: no word of the request
  assert.deepEqual(wrong(), ["to_yaml"]);
});
