import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

test("what cannot change is its own copy, and the browser is not asked for it", async () => {
  const asked = [];
  const clone = globalThis.structuredClone;
  globalThis.structuredClone = (value) => (asked.push(value), clone(value));
  await load(["plain_clones.js"]);
  const held = { texts: ["a"], at: new Date(0) };

  for (const value of ["text", 1.5, true, null, undefined, 10n]) assert.equal(structuredClone(value), value);
  assert.throws(() => structuredClone(() => {}), { name: "DataCloneError" });
  assert.throws(() => structuredClone(Symbol("s")), { name: "DataCloneError" });
  const copy = structuredClone(held);

  assert.deepEqual(copy, held);
  assert.notEqual(copy.texts, held.texts);
  assert.equal(asked.length, 2);
});
