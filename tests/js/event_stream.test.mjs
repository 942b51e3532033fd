import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const CLOSE = { msg: "close_stream", event_id: null };
const line = (message) => "data: " + JSON.stringify(message) + "\n\n";
const failed = (event) => ({ msg: "process_completed", event_id: event, output: { error: "The connection to this page's server was lost.", visible: false }, success: false });
const broken = () => Promise.reject(new TypeError("Failed to fetch"));
const taken = (event) => async () => new Response(JSON.stringify({ event_id: event }));

// A stream that brings what is given, then breaks.
function breaking(...messages) {
  const texts = messages.map(line);
  const pull = (controller) => (texts.length ? controller.enqueue(new TextEncoder().encode(texts.shift())) : controller.error(new TypeError("network error")));
  return new Response(new ReadableStream({ pull }));
}

async function heard(answer) {
  return (await answer.text()).split("\n\n").filter(Boolean).map((one) => JSON.parse(one.slice("data: ".length)));
}

test("a stream that cannot be opened fails the events that wait for it, and is closed", async () => {
  const pd = await load(["event_stream.js"]);
  await pd.sendEvent(taken("a1"));
  let calls = 0;

  const answer = await pd.followStream(broken, () => ++calls > 0);

  assert.deepEqual(await heard(answer), [failed("a1"), CLOSE]);
  assert.equal(calls, 1);
});

test("a stream that breaks while nothing waits is closed, so that the next event opens another", async () => {
  const pd = await load(["event_stream.js"]);
  const lost = () => assert.fail("nothing was lost");

  assert.deepEqual(await heard(await pd.followStream(broken, lost)), [CLOSE]);
  assert.deepEqual(await heard(await pd.followStream(async () => breaking(), lost)), [CLOSE]);
  assert.deepEqual(await heard(await pd.followStream(async () => new Response("", { status: 502 }), lost)), [CLOSE]);
});

test("a stream that ends without the server's word is closed, one with it only once", async () => {
  const pd = await load(["event_stream.js"]);
  const ending = (text) => async () => new Response(text);

  assert.deepEqual(await heard(await pd.followStream(ending(""))), [CLOSE]);
  assert.deepEqual(await heard(await pd.followStream(ending(line(CLOSE)))), [CLOSE]);
});

test("what had come before the break is kept, and what had not has failed", async () => {
  const pd = await load(["event_stream.js"]);
  const done = { msg: "process_completed", event_id: "a1", output: {}, success: true };
  await pd.sendEvent(taken("a1"));
  await pd.sendEvent(taken("b2"));

  const answer = await pd.followStream(async () => breaking(done), () => true);

  assert.deepEqual(await heard(answer), [done, failed("b2"), CLOSE]);
});

test("a page that does not go on leaves the break to gradio", async () => {
  const pd = await load(["event_stream.js"]);
  await pd.sendEvent(taken("a1"));

  await assert.rejects(pd.followStream(broken), TypeError);
  await assert.rejects((await pd.followStream(async () => breaking())).text());
});

test("a stream that gradio gave up is no break", async () => {
  const pd = await load(["event_stream.js"]);
  await pd.sendEvent(taken("a1"));
  const given_up = () => Promise.reject(new DOMException("", "AbortError"));

  await assert.rejects(pd.followStream(given_up, () => assert.fail("it was given up")), { name: "AbortError" });
});
