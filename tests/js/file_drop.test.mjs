import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

globalThis.addEventListener = () => {};
globalThis.document = { addEventListener() {} };
const { refusal } = await load(["file_drop.js"]);

test("text is read, of whatever kind", () => {
  assert.equal(refusal(2, "{}"), "");
  assert.equal(refusal(30, "data: {}\n\ncaf\u00e9 \ufffd"), ""); // one character that was broken before
});

test("what is too long, empty or no text is not, and it is said", () => {
  assert.match(refusal(8_000_001, ""), /9 MB; at most 8/);
  assert.match(refusal(0, " \n"), /empty/);
  assert.match(refusal(4, "\u0000\u0001"), /not text/);
  assert.match(refusal(9, "PK\ufffd\ufffd"), /not text/);
});
