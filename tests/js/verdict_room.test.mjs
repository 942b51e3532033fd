import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

// A narrow page that is scrolled down: the strip is above the window.
const narrow = { matches: true };
let top = -400;
let scrolled = 0;
globalThis.matchMedia = () => narrow;
globalThis.ResizeObserver = class {
  observe() {}
  disconnect() {}
};
globalThis.innerHeight = 800;
globalThis.document = {
  body: {},
  querySelector: () => null,
  getElementById: (id) => id === "pd-verdict" && {
    getBoundingClientRect: () => ({ top, bottom: top + 80 }),
    scrollIntoView: () => (scrolled += 1),
  },
};

// How often the states of the strip brought it into view.
async function scrolledBy(...states) {
  const pd = await load(["verdict_height.js"]);
  scrolled = 0;
  states.forEach(([state, run]) => pd.notifyVerdict({ state, run }));
  return scrolled;
}

test("the end of a run brings the verdict into view, once", async () => {
  assert.equal(await scrolledBy(["recorded", 0], ["running", 1], ["running", 1], ["done", 1], ["done", 1]), 1);
  assert.equal(await scrolledBy(["running", 1], ["error", 1]), 1);
  assert.equal(await scrolledBy(["running", 1], ["stopped", 1]), 1);
});

test("a run so quick that only its end is drawn does so, too", async () => {
  assert.equal(await scrolledBy(["recorded", 0], ["done", 1], ["done", 2]), 2);
});

test("a case that is chosen, and a run that goes on, scroll nothing", async () => {
  assert.equal(await scrolledBy(["idle", 0], ["recorded", 0], ["running", 1], ["running", 1], ["recorded", 0]), 0);
});

test("what is in view stays where it is, and so does a wide page", async () => {
  top = 100;
  assert.equal(await scrolledBy(["running", 1], ["done", 1]), 0);
  top = -400;
  narrow.matches = false;
  assert.equal(await scrolledBy(["running", 1], ["done", 1]), 0);
  narrow.matches = true;
});
