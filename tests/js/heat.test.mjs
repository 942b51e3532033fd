import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const pd = await load(["payload.js", "heat.js"]);

test("levels fall where the legend says", () => {
  assert.deepEqual([1, 0.9, 0.89, 0.5, 0.1, 0.01, 0.009].map((p) => pd.heatLevel(Math.log(p))), [0, 0, 1, 1, 2, 3, 4]);
  assert.equal(pd.heatLevel(NaN), -1);
  assert.equal(pd.heatLevel(-Infinity), 4);
});

test("figures never round to certainty or to nothing", () => {
  assert.equal(pd.percent(0), "100.0 %");
  assert.equal(pd.percent(-1e-5), "> 99.9 %");
  assert.equal(pd.percent(Math.log(0.421)), "42.1 %");
  assert.equal(pd.percent(Math.log(0.00012)), "0.012 %");
  assert.equal(pd.percent(-20), "< 0.01 %");
  assert.equal(pd.percent(-9999), "0 %");
  assert.equal(pd.nats(-9999), "\u2212\u221e nats");
  assert.equal(pd.nats(-0.25), "\u22120.250 nats");
});

test("the inspector is told rank and rivals, by id where the server gave ids", () => {
  const heat = { values: Float32Array.from([-3]), alternatives: new Map([[0, [["b", 9, -0.1], ["a", 7, -3]]]]), limit: 10 };
  const parts = Object.fromEntries(pd.heatParts(heat, 0, { ids: [7], text: "a" }).map(([label, value]) => [label, value]));

  assert.deepEqual(parts, { logprob: "\u22123.000 nats", probability: "5.0 %", rank: "2 of 2 given", instead: '"b" id 9 90.5 %' });
});

test("a token without a value says so", () => {
  const heat = { values: Float32Array.from([NaN]), alternatives: new Map(), limit: 10 };

  assert.deepEqual(pd.heatParts(heat, 0, { ids: [7], text: "a" }), [["logprob", "not given"]]);
});
