import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

// The parts of a page that the script touches: an editor, the Run button, the verdict strip.
let press;
let isMarked = false;
let typed = "";
globalThis.Element = class {
  closest(selector) {
    return selector === "#pd-run" ? this : null;
  }
};
globalThis.document = {
  documentElement: { toggleAttribute: (_, isOld) => (isMarked = isOld) },
  querySelector: () => null,
  addEventListener: (_, listener) => (press = () => listener({ target: new Element() })),
};
const pd = await load(["outdated.js", "json_format.js"], { editorView: () => ({ state: { doc: { toString: () => typed } } }) });

function tell(run, state) {
  pd.notifyVerdict({ run, state });
  return isMarked;
}

function run(number, text, ...states) {
  typed = text;
  press();
  states.forEach((state) => tell(number, state));
}

test("an edit after a run outdates it, and undoing takes that back", () => {
  run(1, "a", "running", "done");
  typed = "ab";
  assert.equal(tell(1, "done"), true);
  typed = "a";
  assert.equal(tell(1, "done"), false);
});

test("a run so quick that only its end is drawn is known all the same", () => {
  run(2, "a", "error");
  typed = "ab";
  assert.equal(tell(2, "error"), true);
});

test("what was typed between the press and the first word of the run is an edit", () => {
  typed = "a";
  press();
  typed = "ab";
  assert.equal(tell(3, "running"), true);
});

test("what no run of this page made is never outdated", () => {
  run(4, "a", "running", "done");
  typed = "opened";
  assert.equal(tell(0, "recorded"), false);
  typed = "opened and edited";
  assert.equal(tell(0, "recorded"), false);
  assert.equal(tell(9, "done"), false);
});

test("a case that is chosen before the run is heard of takes the run's place", () => {
  typed = "a";
  press();
  typed = "b";
  assert.equal(tell(0, "recorded"), false);
  typed = "bc";
  assert.equal(tell(0, "recorded"), false);
});

test("space between the parts of JSON is no edit, a changed digit is", () => {
  run(11, '{"a": 1, "b": [2]}', "running", "done");
  typed = '{\n  "a": 1,\n  "b": [\n    2\n  ]\n}';
  assert.equal(tell(11, "done"), false);
  typed = typed.replace("2", "3");
  assert.equal(tell(11, "done"), true);
});

test("to lay out the request beside a recorded run is no edit, to type in it is", () => {
  typed = '{"a":1}';
  tell(12, "recorded");
  pd.relaid('{\n  "a": 1\n}');
  typed = '{\n  "a": 1\n}';
  pd.editedByHand();
  assert.equal(isMarked, false);
  typed += " ";
  pd.editedByHand();
  assert.equal(isMarked, true);
});

test("a run of the history is outdated by another text than its own, and undoing takes that back", () => {
  typed = "edited since";
  pd.openedRun("as run");
  assert.equal(tell(0, "done"), true);
  typed = "as run";
  pd.editedByHand();
  assert.equal(isMarked, false);
});

test("what is opened after it, or a case that is chosen, has no text to differ from", () => {
  pd.openedRun("as run");
  typed = "as run";
  tell(0, "done");
  typed = "a bundle";
  assert.equal(tell(0, "done"), false);
  pd.openedRun("as run");
  typed = "as run";
  tell(0, "done");
  typed = "a case";
  assert.equal(tell(0, "recorded"), false);
});
