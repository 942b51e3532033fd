import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const stored = new Map();
globalThis.localStorage = {
  getItem: (name) => stored.get(name) ?? null,
  setItem: (name, value) => stored.set(name, value),
  removeItem: (name) => stored.delete(name),
};

// An element as far as the list of servers needs one.
function element(tag, text) {
  const node = { tag, textContent: text || "", children: [], classList: { add() {} }, setAttribute() {} };
  node.append = (...more) => node.children.push(...more);
  node.replaceChildren = (...more) => (node.children = more);
  return node;
}
const kept = [];
const pd = await load(["servers.js"], {
  make: (tag, _, text) => element(tag, text),
  button: (label, _, onClick) => Object.assign(element("button", label), { click: onClick }),
  keepTarget: (...fields) => kept.push(fields),
  isKeeping: () => true,
  mayKeep: (text) => !text.includes("@"),
});
const root = element("div");
let fields = ["http://x:8000/v1", "m", "", "hermes", "none"];
root.pdAsk = () => (fields = pd.applyServer(...fields).map((value, at) => (value && value.__type__ ? fields[at] : value)));
pd.builders.servers(root);
const [list, bar] = root.children;
const [save, words] = bar.children;
const buttons = () => list.children.map((item) => item.children);

test("a server is saved, and a click on it fills the fields again", () => {
  save.click();
  assert.match(words.textContent, /without the key/);
  fields = ["", "", "", "none", "none"];
  const [[use]] = buttons();
  assert.equal(use.textContent, "x:8000/v1 \u00b7 m");
  use.click();
  assert.deepEqual(fields, ["http://x:8000/v1", "m", "", "hermes", "none"]);
  assert.deepEqual(kept.at(-1), fields);
});

test("the same server is saved once, and forgotten by a click", () => {
  save.click();
  assert.equal(buttons().length, 1);
  buttons()[0][1].click();
  assert.equal(buttons().length, 0);
});

test("an address that holds a key is not saved, nor one that is missing", () => {
  for (const address of ["http://me:pw@host/v1", ""]) {
    fields = [address, "", "", "none", "none"];
    save.click();
  }
  assert.equal(pd.savedServers().length, 0);
  assert.ok(![...stored.values()].join().includes("pw@"));
});

test("what is no list of servers is none", () => {
  stored.set("pd-servers", '[["http://x"], 3, {"a": 1}]');
  assert.deepEqual(pd.savedServers(), []);
});
