import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const stored = new Map();
globalThis.localStorage = {
  getItem: (name) => stored.get(name) ?? null,
  setItem: (name, value) => stored.set(name, value),
  removeItem: (name) => stored.delete(name),
};
let isKeeping = true;
const pd = await load(["stored_layout.js", "splitters.js", "settling.js"], { isKeeping: () => isKeeping });
const SPLIT = { name: "parse", first: "", label: "", least: 20, most: 80 };

test("what was chosen is read again, each name for itself", () => {
  pd.storeLayout("parse", 33);
  pd.storeLayout("wrap-template", true);
  assert.deepEqual([pd.readLayout("parse"), pd.readLayout("wrap-template"), pd.readLayout("main")], [33, true, null]);
  pd.storeLayout("parse", null);
  assert.equal(pd.readLayout("parse"), null);
});

test("a browser that shall keep nothing keeps nothing, and forgets what it had", () => {
  pd.storeLayout("parse", 33);
  isKeeping = false;
  pd.storeLayout("main", 40);
  assert.equal(pd.readLayout("parse"), null);
  pd.forgetAll();
  isKeeping = true;
  assert.deepEqual([pd.readLayout("parse"), pd.readLayout("main")], [null, null]);
});

test("nonsense in the browser's memory is as good as nothing", () => {
  for (const nonsense of ["{", "null", "7", '"x"', '{"parse": "wide"}', '{"parse": null}']) {
    stored.set("pd-room", nonsense);
    assert.equal(pd.keptShare(SPLIT), null);
  }
  stored.set("pd-room", '{"parse": 9000}');
  assert.equal(pd.keptShare(SPLIT), 80);
});

test("keys move a pane by steps and to its ends, other keys do not", () => {
  assert.equal(pd.shareAfter(SPLIT, "ArrowLeft", 50), 48);
  assert.equal(pd.shareAfter(SPLIT, "ArrowRight", 79), 80);
  assert.equal(pd.shareAfter(SPLIT, "Home", 50), 20);
  assert.equal(pd.shareAfter(SPLIT, "End", 50), 80);
  assert.equal(pd.shareAfter(SPLIT, "a", 50), null);
});

// A page as far as settling looks at it.
function makePage(views) {
  const page = { documentElement: { dataset: {} }, views, querySelectorAll: () => page.views };
  globalThis.MutationObserver = class {
    constructor(look) {
      page.look = look;
    }
    observe() {}
    disconnect() {
      page.isWatched = false;
    }
  };
  return page;
}

test("the page settles once, when it is ready and every view has drawn", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const views = [{ dataset: {} }, { dataset: {} }];
  const page = makePage(views);
  let settled = 0;
  pd.whenDrawn(page, () => (settled += 1));
  views[0].dataset.shown = "1";
  page.look();
  page.documentElement.dataset.ready = "true";
  page.look();
  assert.equal(settled, 0);
  views[1].dataset.shown = "1";
  page.look();
  assert.equal(settled, 1);
  assert.equal(page.isWatched, false);
  t.mock.timers.tick(60_000);
  assert.equal(settled, 1);
});

test("a view that never draws does not hold back a page that is ready for ever", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const page = makePage([{ dataset: {} }]);
  let settled = 0;
  pd.whenDrawn(page, () => (settled += 1));
  t.mock.timers.tick(60_000);
  assert.equal(settled, 0);
  page.documentElement.dataset.ready = "true";
  page.look();
  t.mock.timers.tick(60_000);
  assert.equal(settled, 1);
});

test("a page without a view is not drawn yet", () => {
  const page = makePage([]);
  page.documentElement.dataset.ready = "true";
  assert.equal(pd.isDrawn(page), false);
});
