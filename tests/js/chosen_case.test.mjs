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
const pd = await load(["chosen_case.js"]);
const option = new Element(true);
const editor = new Element(false);

test("a choice is told once to each use, and not again as the focus leaves", () => {
  heard.pointerdown({ target: option });

  assert.equal(pd.chosenCase("hold", "cut-call"), "cut-call");
  assert.equal(pd.chosenCase("load", "cut-call"), "cut-call");
  assert.equal(pd.chosenCase("hold", "cut-call"), null); // gradio tells of an input once more
  assert.equal(pd.chosenCase("load", "cut-call"), null);
});

test("a choice that waits for the one before is loaded, whatever is pressed meanwhile", () => {
  heard.pointerdown({ target: option });
  assert.equal(pd.chosenCase("hold", "healthy-call"), "healthy-call");
  heard.pointerdown({ target: editor });

  assert.equal(pd.chosenCase("load", "healthy-call"), "healthy-call");
});

test("who only passes through the list chooses nothing", () => {
  heard.pointerdown({ target: option });
  heard.pointerdown({ target: editor });

  assert.equal(pd.chosenCase("load", "healthy-call"), null);
});
