import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

globalThis.Node = class {};
globalThis.Element = class extends globalThis.Node {
  constructor(isOption) {
    super();
    this.isOption = isOption;
  }
  closest() {
    return this.isOption ? this : null;
  }
};
const heard = {};
const box = { contains: () => true };
globalThis.document = {
  activeElement: null,
  addEventListener: (name, listener) => (heard[name] = listener),
  getElementById: () => box,
};
const dropped = [];
let loads = 0;
const pd = await load(["chosen_case.js"], { press: () => (loads += 1), dropText: (name) => dropped.push(name) });
const option = new Element(true);
const editor = new Element(false);

test("a choice is loaded once, and not again as the focus leaves", () => {
  heard.pointerdown({ target: option });
  pd.chooseCase("cut-call");
  pd.chooseCase("cut-call"); // gradio tells of an input once more

  assert.deepEqual([loads, dropped, pd.chosenCase()], [1, ["cut-call"], "cut-call"]);
});

test("a choice that waits for the one before is the one that is loaded", () => {
  heard.pointerdown({ target: option });
  pd.chooseCase("healthy-call");
  heard.pointerdown({ target: editor });

  assert.equal(pd.chosenCase(), "healthy-call");
});

test("who only passes through the list loads nothing", () => {
  loads = 0;
  heard.pointerdown({ target: option });
  heard.pointerdown({ target: editor });
  pd.chooseCase("healthy-call");

  assert.equal(loads, 0);
});
