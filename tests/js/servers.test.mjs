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
  const node = { tag, textContent: text || "", value: "", children: [], attributes: {}, isConnected: true, classList: { add() {} } };
  node.setAttribute = (name, value) => (node.attributes[name] = value);
  node.addEventListener = (_, listener) => (node.listener = listener);
  node.append = (...more) => node.children.push(...more);
  node.replaceChildren = (...more) => (node.children = more);
  return node;
}
globalThis.document = { getElementById: () => ({ offsetParent: {} }), querySelector: () => ({ focus: () => (focused += 1) }) };
globalThis.setTimeout = (work) => work();
let focused = 0;
const kept = [];
const pressed = [];
const pd = await load(["servers.js"], {
  make: (tag, _, text) => element(tag, text),
  prose: (tag, _, text) => element(tag, text),
  button: (label, _, onClick) => Object.assign(element("button", label), { click: onClick }),
  press: (id) => pressed.push(id),
  keepTarget: (...fields) => kept.push(fields),
  isKeeping: () => true,
  mayKeep: (text) => !text.includes("@"),
});
const root = element("div");
let fields = ["http://x:8000/v1", "m", "", "hermes", "none"];
let key = "sk-of-x";
const OWN = [["automatic", "auto"], ["the lab", "lab"]];
let menu; // Run's
root.pdAsk = () => {
  const given = pd.applyServer(OWN, ...fields);
  assert.equal(given.length, fields.length + 2);
  menu = given.pop();
  const values = given.map((value, at) => (value && value.__type__ ? [...fields, key][at] : value));
  key = values.pop();
  fields = values;
};
pd.builders.servers(root);
const [list, bar] = root.children;
const [name, save, words] = bar.children;
const buttons = () => list.children.map((item) => item.children);

test("a server is saved, and a click on it fills the fields again", () => {
  save.click();
  assert.match(words.textContent, /without the key/);
  assert.deepEqual(pressed, []); // the target stays as it is
  fields = ["", "", "", "none", "none"];
  const [[use]] = buttons();
  assert.equal(use.textContent, "x:8000/v1 \u00b7 m");
  use.click();
  assert.deepEqual(fields, ["http://x:8000/v1", "m", "", "hermes", "none"]);
  assert.deepEqual(kept.at(-1), fields);
  assert.deepEqual(pressed, ["pd-check-request"]); // what is said of a pasted server goes by the new target
});

test("a saved server is in Run's menu; chosen there it goes under Target, and the menu is automatic again", () => {
  assert.deepEqual(menu.choices, [...OWN, ["on x:8000", "saved:0"]]);
  fields = ["http://y:8000/v1", "", "", "none", "none"];
  key = "sk-of-y";
  save.click();
  assert.deepEqual(menu.choices, [...OWN, ["on y:8000", "saved:0"], ["on x:8000", "saved:1"]]);
  assert.equal("value" in menu, false); // what was chosen stays
  assert.deepEqual(pd.chooseRun("saved:1", fields[0]), ["auto", "http://x:8000/v1"]);
  assert.deepEqual(fields, ["http://x:8000/v1", "m", "", "hermes", "none"]);
  assert.equal(key, "");
  assert.equal(menu.value, "auto");
  assert.deepEqual(pd.chooseRun("lab", fields[0]), ["lab", "http://x:8000/v1"]);
  buttons()[0][1].click();
  assert.deepEqual(menu.choices, [...OWN, ["on x:8000", "saved:0"]]);
  assert.deepEqual(fields, ["http://x:8000/v1", "m", "", "hermes", "none"]); // forgetting another changes no field
});

test("a name of one's own stands on it, comes back with it, and can be changed", () => {
  name.value = " the big one ";
  save.click();
  const [[use, forget]] = buttons();
  assert.equal(buttons().length, 1);
  assert.equal(use.textContent, "the big one");
  assert.deepEqual(menu.choices.at(-1), ["on the big one", "saved:0"]);
  assert.equal(use.children.at(-1).textContent, "x:8000/v1 \u00b7 m");
  assert.equal(forget.attributes["aria-label"], "Forget the big one");
  name.value = "";
  use.click();
  assert.equal(name.value, "the big one");
  name.value = "me@home";
  save.click();
  assert.match(words.textContent, /seems to contain a key/);
  assert.equal(pd.savedServers()[0].name, "the big one");
});

test("the key that was typed for one address does not go on to another", () => {
  key = "sk-of-x";
  buttons()[0][0].click();
  assert.equal(key, "sk-of-x");
  fields = ["http://y:8000/v1", "", "", "none", "none"];
  key = "sk-of-y";
  buttons()[0][0].click();
  assert.equal(key, "");
  assert.ok(![...stored.values()].join().includes("sk-of"));
});

test("the server of a pasted call takes address and model, not the tokenizer or key of another", () => {
  fields = ["http://x:8000/v1", "m", "me/tokenizer", "hermes", "none"];
  key = "sk-of-x";
  focused = 0;
  pd.takeServer({ url: "http://z:8000/v1", model: "big" });
  assert.deepEqual(fields, ["http://z:8000/v1", "big", "", "hermes", "none"]);
  assert.equal(key, "");
  assert.match(words.textContent, /enter the key below/);
  assert.equal(focused, 1);
  fields[2] = "me/tokenizer";
  key = "sk-of-z";
  pd.takeServer({ url: "http://z:8000/v1/", model: "small" });
  assert.deepEqual(fields.slice(1, 3), ["small", "me/tokenizer"]);
  assert.equal(key, "sk-of-z");
});

test("a model is chosen from those that a server lists, for that server alone", () => {
  const look = element("div");
  const view = pd.builders.server_look(look);
  view.show({ header: { text: "It answers.", models: ["a"], url: "http://z:8000/v1" } });
  assert.equal(look.children.length, 1); // nothing to choose
  view.show({ header: { text: "It answers.", models: ["a", "b"], url: "http://z:8000/v1" } });
  const [, choice] = look.children;
  assert.deepEqual(choice.children.map((option) => option.value), ["", "a", "b"]);
  fields = ["http://z:8000/v1", "", "t", "none", "none"];
  choice.value = "b";
  choice.listener();
  assert.deepEqual(fields, ["http://z:8000/v1", "b", "t", "none", "none"]);
  fields = ["http://other/v1", "c", "", "none", "none"];
  choice.listener();
  assert.equal(fields[1], "c");
  assert.match(words.textContent, /another server/);
});

test("a list that was not drawn yet asks once it is", () => {
  root.isConnected = false;
  fields = ["", "", "", "none", "none"];
  pd.takeServer({ url: "http://z:8000/v1", model: "" });
  assert.equal(fields[0], "");
  const again = element("div");
  again.pdAsk = root.pdAsk;
  pd.builders.servers(again);
  assert.equal(fields[0], "http://z:8000/v1");
  root.isConnected = true;
});

test("an address that holds a key is not saved, nor one that is missing; one is forgotten by a click", () => {
  for (const address of ["http://me:pw@host/v1", ""]) {
    fields = [address, "", "", "none", "none"];
    save.click();
  }
  assert.equal(pd.savedServers().length, 1);
  assert.ok(![...stored.values()].join().includes("pw@"));
  pd.forgetAll();
  assert.equal(pd.savedServers().length, 0);
  assert.deepEqual(menu.choices, OWN);
});

test("what is no list of servers is none", () => {
  stored.set("pd-servers", '[["http://x"], 3, {"a": 1}, {"name": "n", "fields": ["x"]}, null]');
  assert.deepEqual(pd.savedServers(), []);
});
