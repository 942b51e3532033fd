import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

globalThis.document = { addEventListener() {} };
const pd = await load(["payload.js", "dom.js", "linking.js", "place.js", "address.js", "packing.js", "shared_link.js", "share.js"]);
pd.host.sharePage = { most_packed: 50 };
const page = { tool_parsers: ["kimi_k2", "none"], reasoning_parsers: ["none"], takes_model: true };

test("a link gives back the request and the choices, whatever is in them", async () => {
  for (const request of ["{}", "\u4e2d\u6587 \u{1f600}\n\u202e#&%+/=", "x".repeat(300_000)]) {
    const state = { request, tool_parser: "hermes", model: "a/b" };

    assert.deepEqual(await pd.readFragment(await pd.makeFragment(state)), state);
  }
});

test("a link is read whatever the address says behind it", async () => {
  const link = await pd.makeFragment({ request: "{}" });

  assert.deepEqual(await pd.readFragment(link + "&tab=parse&at=prompt.t3"), { request: "{}" });
});

test("a link holds only characters that pass through chat programs", async () => {
  assert.match(await pd.makeFragment({ request: "\u{1f600} <>\"'" }), /^#pd=1\.[\w-]+$/);
});

test("a fragment that is not ours is left alone", async () => {
  for (const fragment of ["", "#", "#pd-part-parse", "#other=1"]) assert.equal(await pd.readFragment(fragment), null);
});

test("a damaged link says what is wrong", async () => {
  const good = await pd.makeFragment({ request: "{}".repeat(40) });
  const cases = [
    ["#pd=2.abc", /another version/],
    [good.slice(0, -6), /missing or was changed/],
    ["#pd=1.@@@", /missing or was changed/],
    ["#pd=1." + "a".repeat(500_000), /longer than/],
    [await pd.makeFragment([]), /contains no request/],
    [await pd.makeFragment({ request: 7 }), /contains no request/],
  ];
  for (const [fragment, words] of cases) await assert.rejects(pd.readFragment(fragment), words);
});

test("a small link that unpacks to very much is stopped", async () => {
  const bomb = await pd.makeFragment({ request: "a".repeat(9_000_000) });

  assert.ok(bomb.length < 20_000);
  await assert.rejects(pd.readFragment(bomb), /unpacked size/);
});

test("nothing but the known choices is read, and only texts", async () => {
  const fragment = await pd.makeFragment({ request: "{}", tool_parser: ["x"], endpoint: "http://a", api_key: "k", __proto__: { a: 1 } });

  assert.deepEqual(await pd.readFragment(fragment), { request: "{}" });
});

test("choices that the page does not offer are left out by name", () => {
  const state = { request: "{}", tool_parser: "rm", reasoning_parser: "none", tokenizer: "/etc/passwd", model: "m" };

  const { values, left } = pd.settleLink(state, page);

  assert.deepEqual(values, { request: "{}", reasoning_parser: "none", model: "m" });
  assert.deepEqual(left, ["tool parser rm", "tokenizer /etc/passwd"]);
});

test("a link names no folder outside of the one the program runs in", () => {
  for (const tokenizer of ["../x", "./x", "x/..", "..\/..", ".cache/x"]) {
    const { values, left } = pd.settleLink({ tokenizer }, page);

    assert.deepEqual([values, left], [{}, ["tokenizer " + tokenizer]]);
  }
});

test("a public page takes no model and no tokenizer from a link", () => {
  const { values, left } = pd.settleLink({ model: "m", tokenizer: "a/b" }, { ...page, takes_model: false });

  assert.deepEqual(values, {});
  assert.equal(left.length, 2);
});

test("a playground link names a tokenizer and an example; what cannot be taken is told", () => {
  const state = pd.readPlayground("?modelId=Qwen%2FQwen3-8B&template=tool_use&example=tool-usage");

  const { values, taken, left } = pd.settleLink(state, page);

  assert.equal(values.tokenizer, "Qwen/Qwen3-8B");
  assert.equal(JSON.parse(values.request).tools[0].function.name, "get_weather");
  assert.equal(taken.length, 2);
  assert.match(left[0], /tool_use/);
});

test("other queries are no playground links, and a bad model id is not taken", () => {
  assert.equal(pd.readPlayground("?__theme=dark"), null);
  assert.equal(pd.readPlayground("?example=reasoning"), null);
  for (const id of ["../../etc/x", "a", "a/b/c", "http://x/y"]) assert.equal(pd.readPlayground("?modelId=" + encodeURIComponent(id)).tokenizer, undefined);
  assert.equal(pd.readPlayground("?modelId=a/b&example=constructor").request, undefined);
});

test("a payload made here is read like one of the server", async () => {
  const header = { text: "\u00e9\ud800 \u4e2d", n: 1 };

  assert.deepEqual((await pd.decodePayload(await pd.packPayload(header))).header, header);
});

test("a bundle that the server would not take is not sent", async () => {
  assert.equal(await pd.packText("x".repeat(100)), await pd.packText("x".repeat(100)));
  assert.equal(await pd.packText(Array.from({ length: 99 }, (_, i) => i * 7919).join(" ")), null);
});

test("a link of a run brings the run and the place, and a place that is none is dropped", async () => {
  const run = { request: "{}", run: '{"bundle":{}}', at: "prompt.t87" };
  assert.deepEqual(await pd.readFragment(await pd.makeFragment(run)), run);
  assert.deepEqual(await pd.readFragment(await pd.makeFragment({ ...run, at: "<img>" })), { request: "{}", run: run.run });
});

test("a place is read as the evidence that it names", () => {
  assert.deepEqual(pd.readPlace("raw.t3"), { in: "raw", token_span: [3, 4] });
  assert.deepEqual(pd.readPlace("raw.c3-9"), { in: "raw", char_span: [3, 9] });
  assert.deepEqual(pd.readPlace("message.tool_calls[0]"), { in: "message", field: "tool_calls[0]" });
  assert.deepEqual(pd.readPlace("finding.PD401.1"), { in: "finding", finding: "finding.PD401.1" });
  for (const name of ["", "prompt.x", "finding.PD1", "raw.c3", 'request."', null, 5]) assert.equal(pd.readPlace(name), null);
});
