import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

globalThis.document = { addEventListener() {} };
const pd = await load(["payload.js", "dom.js", "linking.js", "place.js", "address.js"]);
const NOTHING = { tab: null, tool: null, at: null, runs: [] };

test("what is written is read again", () => {
  const places = [
    { tab: "parse", tool: null, at: null, runs: [] },
    { tab: "fix", tool: "shrink", at: null, runs: [] },
    { tab: "render", tool: null, at: "prompt.t87", runs: [] },
    { tab: "complete", tool: null, at: "message.tool_calls[0].function.name", runs: [] },
    { tab: "compare", tool: null, at: null, runs: [3, 14] },
  ];
  for (const place of places) assert.deepEqual(pd.readAddress(pd.writeAddress(place, "")), place);
});

test("what a link carried stays before it", () => {
  const written = pd.writeAddress({ ...NOTHING, tab: "parse" }, "pd=1.abc-_9");

  assert.equal(written, "#pd=1.abc-_9&tab=parse");
  assert.equal(pd.carriedBy(written), "pd=1.abc-_9");
  assert.deepEqual(pd.readAddress(written), { ...NOTHING, tab: "parse" });
});

test("an address with nothing open is empty", () => {
  assert.equal(pd.writeAddress(NOTHING, ""), "");
  assert.equal(pd.writeAddress({ ...NOTHING, tool: "shrink" }, ""), "");
});

test("compared runs are named where they are shown alone", () => {
  assert.equal(pd.writeAddress({ ...NOTHING, tab: "parse", runs: [1, 2] }, ""), "#tab=parse");
});

test("whatever else stands there names nothing", () => {
  const others = [
    "", "#", "#pd-part-parse", "#tab=", "#tab=Parse", "#tab=a b", "#tab=<b>", "#tab=" + "a".repeat(40), "#at=nowhere",
    "#at=prompt.t", "#runs=1", "#runs=a-b", "#runs=1-2-3", "#runs=" + "1".repeat(20) + "-2", "#pd=1.abc", "#%",
  ];
  for (const hash of others) assert.deepEqual(pd.readAddress(hash), NOTHING, hash);
});
