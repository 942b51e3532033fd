import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const run = { disabled: true, presses: 0, click() { this.presses += 1; } };
let change = () => {};
let opened = null;
const asked = [];
const strip = [];
let pressed = () => {};
globalThis.document = {
  getElementById: () => run,
  querySelector: () => ({ append: (line) => strip.push(line) }),
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
  make: (_, __, text) => text, open: (panel) => (opened = panel), under: (event, selector) => event.at === selector,
});
pd.host.order = (button, order) => asked.push([button, order]);
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

test("a second run without a result is compared with nothing: what an earlier one gave is not put in its place", () => {
  opened = null;
  pd.aimed(inputs("both"));
  pd.runIsKept(true, { id: 1, packed: "first" });
  pd.aimed(inputs("both"));
  pd.runIsKept(false, { id: 2, packed: "second" });
  assert.equal(opened, null);
  assert.deepEqual(strip, ["The lab's run is in the lists of Compare. The two are not compared, as this one has no result."]);
});

test("whatever else is chosen goes as it is", () => {
  opened = null;
  for (const one of [inputs("auto"), inputs("lab"), inputs("both", " ")]) {
    assert.deepEqual(pd.aimed(one), one);
    pd.runIsKept(true);
  }
  assert.equal(opened, null);
});

test("no run waits for what the parsers say: they are asked about the first once both are there", () => {
  opened = null;
  run.presses = 0;
  asked.length = 0;
  pd.aimed(inputs("both"));
  asksAboutALostCall();
  pd.runIsKept(true, { id: 4, packed: "first" });
  assert.equal(run.presses, 1);
  assert.deepEqual(pd.aimed(inputs("both")), inputs("auto"));
  asksAboutALostCall();
  pd.runIsKept(true, { id: 5, packed: "second" });
  assert.equal(opened, "compare");
  assert.deepEqual(asked, [["pd-ask-kept", "4\nfirst"]]);
});

test("a first run that lost no call is asked about by no one", () => {
  asked.length = 0;
  pd.aimed(inputs("both"));
  pd.runIsKept(true, { id: 6, packed: "first" });
  pd.aimed(inputs("both"));
  asksAboutALostCall();
  pd.runIsKept(true, { id: 7, packed: "second" });
  assert.deepEqual(asked, []);
});
