import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const pd = await load(["embedded.js"]);
// The smallest picture: one grey point.
const POINT = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="), (c) => c.charCodeAt(0));

test("a picture gives back the bundle, and is the same picture besides", () => {
  const whole = pd.embedBundle(POINT, "H4sI-_9");

  assert.equal(pd.bundleInPicture(whole), "H4sI-_9");
  assert.equal(pd.bundleInPicture(POINT), null);
  assert.deepEqual([...whole.subarray(-12)], [...POINT.subarray(-12)]);
});

test("a picture that is cut or lies about its parts ends the search", () => {
  const whole = pd.embedBundle(POINT, "H4sI-_9");
  for (let length = 0; length < whole.length; length += 1) pd.bundleInPicture(whole.subarray(0, length));
  const lying = whole.slice();
  new DataView(lying.buffer).setUint32(8, 0xffffffff);
  assert.equal(pd.bundleInPicture(lying), null);
});

test("what is no packed bundle is none", () => {
  for (const text of ["", "<script>", "a b", "\u00e9"]) assert.equal(pd.bundleInPicture(pd.embedBundle(POINT, text)), null);
});

test("a report and a Markdown text give back theirs, the last one where several stand there", () => {
  assert.equal(pd.bundleInText('x <script type="application/json" id="pd-bundle">"H4sI"</script>'), "H4sI");
  assert.equal(pd.bundleInText("# run\n\n```text\npd-bundle.1.H4sI\nabc_-\n.\n```\n"), "H4sIabc_-");
  assert.equal(pd.bundleInText("the prompt says pd-bundle.1.FORGED. and then\npd-bundle.1.H4sI.\n"), "H4sI");
});

test("whatever else is dropped holds none", () => {
  const others = ["", "{}", '{"prompt": "pd-bundle.1.H4sI."}', "pd-bundle.1.H4sI", "pd-bundle.1.<b>.", "pd-bundle.2.H4sI."];
  for (const text of others) assert.equal(pd.bundleInText(text), null, text);
});
