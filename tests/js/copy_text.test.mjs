import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { load } from "./load.mjs";

const copies = [];
let takes = true;
globalThis.document = {
  createElement: () => ({ dataset: {}, setAttribute() {}, select() { copies.push(this.value); }, remove() {} }),
  body: { append() {} },
  execCommand: () => takes,
};
const { copyText } = await load(["dom.js"], { visibleText: (text) => text });
mock.timers.enable({ apis: ["setTimeout"] });

// What the button says after a click, and a moment later.
async function click(clipboard, done) {
  Object.defineProperty(globalThis, "navigator", { value: { clipboard }, configurable: true });
  const element = { textContent: "copy", dataset: done ? { done } : {} };
  await copyText("a text", element);
  const said = element.textContent;
  mock.timers.tick(2_000);
  return [said, element.textContent];
}

const written = [];
const open = { writeText: async (text) => void written.push(text) };
const denied = { writeText: () => Promise.reject(new Error("denied")) };

test("a clipboard that takes the text is all that is asked", async () => {
  assert.deepEqual(await click(open), ["copied", "copy"]);
  assert.deepEqual(await click(open, "\u2713"), ["\u2713", "copy"]);
  assert.deepEqual([written.length, copies], [2, []]);
});

test("where the browser denies the clipboard, or has none, the text is copied as a selection", async () => {
  for (const clipboard of [denied, undefined]) assert.deepEqual(await click(clipboard), ["copied", "copy"]);
  assert.deepEqual(copies, ["a text", "a text"]);
});

test("where nothing is taken the button says so", async () => {
  takes = false;
  assert.deepEqual(await click(denied), ["not copied", "copy"]);
  assert.deepEqual(await click(denied, "\u2713"), ["\u2717", "copy"]);
});
