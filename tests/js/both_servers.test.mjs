import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const run = { disabled: true, presses: 0, click() { this.presses += 1; } };
let change = () => {};
let opened = null;
const shown = [];
let pressed = () => {};
globalThis.document = {
  getElementById: () => run,
  querySelector: () => ({ append: (note) => shown.push(note) }),
  querySelectorAll: () => shown.map((note) => ({ remove: () => shown.splice(shown.indexOf(note), 1) })),
  addEventListener: (_, listener) => (pressed = listener),
};
globalThis.MutationObserver = class {
  constructor(listener) {
    change = listener;
  }
  observe() {}
  disconnect() {
    change = () => {};
  }
};
const pd = await load(["both_servers.js"], {
  open: (panel) => (opened = panel), make: (_, name, words) => words, under: (event, selector) => event.at === selector,
});
const asksAboutALostCall = () => pressed({ at: "#pd-lost-call" });
const inputs = (runOn, endpoint = "http://a/v1") => [endpoint, "", "", runOn, "", []];

test("a request for both goes to the lab, then to the server under Target, and both are compared", () => {
  assert.deepEqual(pd.aimed(inputs("both")), inputs("lab"));
  pd.runIsKept(true);
  assert.equal(run.presses, 0); // the button is not back yet
  run.disabled = false;
  change();
  assert.equal(run.presses, 1);
  assert.deepEqual(pd.aimed(inputs("both")), inputs("auto"));
  assert.equal(opened, null);
  pd.runIsKept(true);
  assert.equal(opened, "compare");
});

test("a first run that was stopped or failed ends it", () => {
  opened = null;
  run.presses = 0;
  pd.aimed(inputs("both"));
  pd.runIsKept(false);
  assert.deepEqual([run.presses, opened], [0, null]);
  assert.deepEqual(pd.aimed(inputs("both")), inputs("lab")); // the next press begins anew
  pd.aimed(inputs("auto"));
});

test("whatever else is chosen goes as it is", () => {
  opened = null;
  for (const one of [inputs("auto"), inputs("lab"), inputs("both", " ")]) {
    assert.deepEqual(pd.aimed(one), one);
    pd.runIsKept(true);
  }
  assert.equal(opened, null);
});

test("what the parsers say of the first run is kept before the second begins", () => {
  opened = null;
  run.presses = 0;
  pd.aimed(inputs("both"));
  asksAboutALostCall();
  pd.runIsKept(true);
  assert.deepEqual([run.presses, shown.length], [0, 1]);
  pd.questionEnded();
  pd.questionEnded(); // said twice
  assert.deepEqual([run.presses, shown.length], [1, 0]);
  assert.deepEqual(pd.aimed(inputs("both")), inputs("auto"));
  asksAboutALostCall();
  pd.runIsKept(true); // both are there: nothing waits for the second's
  assert.equal(opened, "compare");
});

test("who presses Run meanwhile is asked for nothing twice", () => {
  run.presses = 0;
  pd.aimed(inputs("both"));
  asksAboutALostCall();
  pd.runIsKept(true);
  assert.deepEqual(pd.aimed(inputs("both")), inputs("auto"));
  pd.questionEnded();
  assert.equal(run.presses, 0);
});
