import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const opened = [];
const run = { disabled: false, presses: 0, click() { this.presses += 1; } };
globalThis.document = { getElementById: () => run };
const pd = await load(["orders.js"], {
  isConnectionLost: () => isLost, replaceRequest: () => true, open: (panel) => opened.push(panel), proofAdded: () => {}, prose: (_, __, text) => text, showOutcome: () => {}, saveFile: () => {},
});
const columns = new TextEncoder().encode("{}");
let number = 0;
let isLost = false;

// The request with the fix in it is put into the editor and run.
function apply() {
  pd.builders.orders().show({ header: { kind: "apply" }, columns });
  number += 1;
  pd.notifyVerdict({ run: number, state: "running" });
  pd.notifyVerdict({ run: number, state: "done" });
}

test("a fix that is applied is run, and compared with the run before", () => {
  apply();
  assert.equal(run.presses, 1);
  assert.deepEqual(opened, ["compare"]);
});

test("one that is applied to go on to the next error leaves the verdict in view, and the next is compared again", () => {
  opened.length = 0;
  pd.host.goesOn = true;
  apply();
  assert.deepEqual(opened, []);
  apply();
  assert.deepEqual(opened, ["compare"]);
});

test("an order that failed with the connection was not refused by the server", () => {
  const said = [];
  pd.answerAt({ isConnected: true, replaceChildren: (line) => said.push(line) });
  isLost = true;
  pd.orderRefused();
  assert.deepEqual(said, []);
  isLost = false;
  pd.orderRefused();
  assert.deepEqual(said, ["The page's server did not accept it. See the error notice."]);
});
