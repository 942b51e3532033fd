import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const stored = new Map();
globalThis.localStorage = {
  getItem: (name) => stored.get(name) ?? null,
  setItem: (name, value) => stored.set(name, value),
  removeItem: (name) => stored.delete(name),
};
let ofTab = new Map();
globalThis.sessionStorage = {
  getItem: (name) => ofTab.get(name) ?? null,
  setItem: (name, value) => ofTab.set(name, value),
  removeItem: (name) => ofTab.delete(name),
};
const panels = ["render", "parse", "compare"];
globalThis.Node = class {};
const heard = {};
globalThis.document = {
  addEventListener: (name, listener) => (heard[name] = listener),
  querySelectorAll: () => [],
  documentElement: { dataset: { panel: "render" } },
  getElementById: (id) => (panels.includes(id.replace("pd-panel-", "")) ? {} : null),
};
let panelChanged = () => {};
globalThis.MutationObserver = class {
  constructor(listener) {
    panelChanged = listener;
  }
  observe() {}
};
let leave = () => {};
globalThis.addEventListener = (name, listener) => name === "pagehide" && (leave = listener);
let runTimer = (work) => work();
globalThis.location = { hash: "", search: "" };
globalThis.setTimeout = (work) => runTimer(work);
const FIELDS = ["", "", "", "none", "none"];
const CASE = "dropped-call";
let editor = "a case";
let selected = { from: 0, to: 0 };
const editorDoc = { toString: () => editor, get length() { return editor.length; } };
let edits = 0;
let reopened = null;
let forgotten = 0;
let comparedAgain = null;
let shownPanel = null;
let address = { tab: null, runs: [] };

// A page that was just loaded; what the browser keeps is from before.
async function reload() {
  editor = "a case";
  reopened = comparedAgain = shownPanel = null;
  const loaded = await load(["draft.js"], {
    packPayload: async (header) => JSON.stringify(header),
    editedByHand: () => (edits += 1),
    takenOver() {},
    replaceRequest: (text) => ((editor = text), true),
    editorView: () => ({ dom: { contains: () => true }, state: { doc: editorDoc, selection: { main: selected } } }),
    drawn: async (find) => find(),
    under: ({ target }, box) => (target === box ? {} : null),
    open: (panel) => (shownPanel = panel),
    compareInAddress() {},
    panelOfAddress: () => address.tab,
    runsOfAddress: () => address.runs,
  });
  loaded.host.reopenKept = async (run) => (reopened = run);
  loaded.host.compareKept = (ids) => (comparedAgain = ids);
  loaded.onForget(() => (forgotten += 1));
  loaded.host.sharePage = { tool_parsers: ["none", "hermes"], reasoning_parsers: ["none"], takes_model: true };
  return loaded;
}
let pd = await reload();

async function restore(fields = FIELDS) {
  const before = ["notices", CASE, ...fields];
  const changes = await pd.restoreDraft(...before);
  const [notices, worked, ...target] = changes.map((value, at) => (value?.__type__ === "update" ? before[at] : value));
  return { text: editor, notices, worked, target };
}

// Pastes while a part of the editor is selected; returns what *Example* is to name.
function paste(text, from, to) {
  selected = { from, to };
  heard.paste({ target: new Node() });
  editor = text;
  const named = pd.keepText(text);
  return named?.__type__ === "update" ? CASE : named;
}

async function after(...work) {
  pd = await reload();
  await restore();
  work.forEach((one) => one());
  pd = await reload();
}

test("what was typed comes back, and counts as an edit", async () => {
  await after(() => pd.keepText("typed"));
  const { text, notices } = await restore();
  assert.equal(text, "typed");
  assert.match(notices, /restored from this browser/);
  assert.equal(edits, 1);
});

test("what is pasted before the old text comes back stays", async () => {
  await after(() => pd.keepText("typed"));
  const coming = restore();
  editor = "pasted";
  pd.keepText("pasted");
  assert.equal((await coming).text, "pasted");
  assert.equal((await coming).notices, "notices");
});

test("the target comes back, unless the page was started with another one", async () => {
  await after(() => pd.keepTarget("http://x/v1", "m", "", "hermes", "none"));
  assert.deepEqual((await restore()).target, ["http://x/v1", "m", "", "hermes", "none"]);
  const other = ["http://other/v1", "", "", "none", "none"];
  assert.deepEqual((await restore(other)).target, other);
});

test("a target that is typed before the old one comes back stays, and the text comes back", async () => {
  await after(() => pd.keepText("typed"), () => pd.keepTarget("http://x/v1", "m", "", "hermes", "none"));
  heard.input({ target: "#pd-target" });
  const { text, target } = await restore();
  assert.equal(text, "typed");
  assert.deepEqual(target, FIELDS);
});

test("a text that takes the place of all is no worked case, now and after a reload; an edit is one", async () => {
  pd = await reload();
  await restore();
  pd.dropText("cut-call");
  assert.equal(paste("a long case", 2, 2), CASE);
  pd = await reload();
  assert.equal((await restore()).worked, "cut-call");
  assert.equal(paste("another", 0, editor.length), null);
  assert.equal(paste("another one", 7, 7), CASE); // nothing is left to take away
  pd = await reload();
  assert.equal((await restore()).worked, null);
});

test("a parser that the page does not offer is left as it is", async () => {
  await after(() => pd.keepTarget("", "", "", "gone", "none"));
  assert.deepEqual((await restore()).target, FIELDS);
});

test("what seems to hold a key is not kept, and takes what was kept with it", async () => {
  for (const text of ['curl -H "Authorization: Bearer x"', '{"api_key": "x"}', "sk-abcdefgh", "http://me:pw@host/v1"]) {
    await after(() => pd.keepText("typed"), () => pd.keepText(text));
    assert.equal((await restore()).text, "a case", text);
  }
  await after(() => pd.keepTarget("http://me:pw@host/v1", "", "", "none", "none"));
  assert.ok(![...stored.values()].join().includes("pw@"));
});

test("choosing a worked case drops the text, the run and the parsers, not the server", async () => {
  await after(
    () => pd.keepText("typed"),
    () => pd.keepCurrentRun(7),
    () => pd.keepTarget("http://x/v1", "", "", "hermes", "none"),
    () => pd.dropText(),
  );
  const { text, target } = await restore();
  assert.equal(text, "a case");
  assert.deepEqual(target, ["http://x/v1", "", "", "none", "none"]);
  assert.equal(reopened, null);
});

test("the last run comes back, unless somebody typed since the page came", async () => {
  await after(() => pd.keepCurrentRun(7));
  await restore();
  assert.equal(reopened, 7);
  pd = await reload();
  pd.keepText("typed at once");
  await restore();
  assert.equal(reopened, null);
});

test("the switch forgets what is kept and keeps nothing more", async () => {
  await after(() => pd.keepText("typed"), () => pd.setKeeping(false), () => pd.keepText("typed again"));
  assert.equal((await restore()).text, "a case");
  assert.ok(![...stored.values()].join().includes("typed"));
  assert.equal(forgotten, 1);
  pd.setKeeping(true);
  await after(() => pd.keepText("typed"));
  assert.equal((await restore()).text, "typed");
});

test("the last letters are kept, too, where the page is left at once", async () => {
  pd = await reload();
  await restore();
  runTimer = () => 0;
  pd.keepText("typed and left");
  leave();
  runTimer = (work) => work();
  pd = await reload();
  assert.equal((await restore()).text, "typed and left");
});

test("a run that the page was left in is told of, its text comes back, the run before it does not", async () => {
  await after(() => pd.keepCurrentRun(7), () => pd.keepRunning("what runs"));
  const { text, notices } = await restore();
  assert.equal(text, "what runs");
  assert.match(notices, /left, which ended the run/);
  assert.equal(reopened, null);
  await after(() => pd.keepRunning("what ran"), () => pd.keepText("another"));
  assert.doesNotMatch((await restore()).notices, /left/);
  await after(() => pd.keepRunning("what runs"), () => pd.runIsOver(), () => pd.keepCurrentRun(8));
  assert.doesNotMatch((await restore()).notices, /left/);
  assert.equal(reopened, 8);
});

test("a key is not kept because it runs", async () => {
  await after(() => pd.keepRunning("curl -H 'Authorization: Bearer x'"));
  assert.equal((await restore()).text, "a case");
});

test("the case that the page begins with is no edit when it comes back", async () => {
  await after(() => pd.keepRunning("a case"));
  edits = 0;
  await restore();
  assert.equal(edits, 0);
});

test("the panel that was open is open again, with the two runs that were compared in it", async () => {
  const show = (panel) => {
    document.documentElement.dataset.panel = panel;
    panelChanged();
  };
  await after(() => pd.keepText("typed"), () => pd.keepCurrentRun(7), () => pd.keepCompared([3, 7]), () => show("compare"));
  await restore();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(shownPanel, "compare");
  assert.deepEqual(comparedAgain, [3, 7]);
  assert.equal(pd.host.panelChosen, true);
  await after(() => show("parse"));
  await restore();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(shownPanel, "parse");
  assert.equal(comparedAgain, null);
  await after(() => show("gone"));
  await restore();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(shownPanel, null);
});

test("a browser that keeps nothing breaks nothing", async () => {
  const { localStorage } = globalThis;
  globalThis.localStorage = { getItem: () => { throw new Error("denied"); }, setItem: () => { throw new Error("denied"); } };
  pd.keepText("typed");
  pd = await reload();
  assert.equal((await restore()).text, "a case");
  globalThis.localStorage = localStorage;
});

test("each tab of the browser has its own, and a new one begins with the last of any", async () => {
  await after(() => pd.keepText("mine"));
  const mine = ofTab;
  ofTab = new Map();
  await after(() => pd.keepText("of the other tab"));

  ofTab = mine;
  pd = await reload();
  assert.equal((await restore()).text, "mine");

  ofTab = new Map();
  pd = await reload();
  assert.equal((await restore()).text, "of the other tab");
});

test("the panel and the runs of the address win", async () => {
  await after(() => pd.keepText("typed"), () => pd.keepCurrentRun(7), () => pd.keepCompared([3, 7]));
  address = { tab: "compare", runs: [1, 2] };
  await restore();
  await new Promise((resolve) => setImmediate(resolve));
  address = { tab: null, runs: [] };

  assert.equal(shownPanel, "compare");
  assert.deepEqual(comparedAgain, [1, 2]);
});
