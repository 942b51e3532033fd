import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const JOIN = "/gradio_api/queue/join?__theme=light";
const CONFIG = { app_id: "1", dependencies: [{ id: 7, api_name: "run" }, { id: 8, api_name: "live_render" }, { id: 9, api_name: "check_model", outputs: [1, 2] }, { id: 10, api_name: "try_fix", outputs: [3] }],
  components: [{ id: 1, props: { elem_id: "" } }, { id: 2, props: { elem_id: "pd-model-check" } }, { id: 3, props: { elem_id: "pd-orders" } }] };
const event = (number) => ({ method: "POST", body: JSON.stringify({ data: [], fn_index: number, session_hash: "abc" }) });

// The page's scripts over a network whose first `breaks` requests for events break; the server answers again at once.
async function page(breaks) {
  const sent = [];
  const pressed = [];
  const [notes, trials] = [[], []];
  const network = async (input, init) => {
    const path = String(input).split("?")[0];
    if (path.endsWith("/app_id")) return new Response(JSON.stringify({ app_id: "1" }));
    sent.push(JSON.parse(init.body).fn_index);
    if (sent.length <= breaks) throw new TypeError("Failed to fetch");
    return new Response(JSON.stringify({ event_id: "e" + sent.length }));
  };
  Object.assign(globalThis, { fetch: network, gradio_config: CONFIG, addEventListener: () => {}, setTimeout: (work) => queueMicrotask(work) });
  globalThis.document = { querySelectorAll: () => [], querySelector: (selector) => (selector === "#pd-model-check .pd" ? {} : null) };
  const fakes = {
    press: (id) => pressed.push(id), settle: () => {}, stopTrials: (...words) => trials.push(words), noteTask: (...words) => notes.push(words), packPayload: (value) => value, make: () => ({ setAttribute() {}, append() {} }), button: () => ({}),
  };
  const scripts = ["lost_connection.js", "event_stream.js", "costly_events.js", "unnamed_events.js"];
  return { ...(await load(scripts, fakes)), sent, pressed, notes, trials };
}

test("a run that may have reached the server is not sent twice, and the strip says so", async () => {
  const pd = await page(1);

  const answer = await globalThis.fetch(JOIN, event(7));

  assert.deepEqual(pd.sent, [7]);
  assert.equal(answer.status, 500);
  assert.match((await answer.json()).detail, /it may have begun there. It is not sent twice/);
  await new Promise((done) => setImmediate(done));
  assert.ok(pd.pressed.includes("pd-tell-lost"));
  assert.match(pd.lostStrip().sentence, /it may have begun there. It is not sent twice/);
});

test("a check that may have reached the server is not sent twice, and no run is blamed", async () => {
  const pd = await page(1);

  const answer = await globalThis.fetch(JOIN, event(9));

  assert.deepEqual(pd.sent, [9]);
  assert.match((await answer.json()).detail, /start it again once the server answers/);
  assert.deepEqual(pd.pressed, []);
  assert.equal(pd.notes.length, 1);
  assert.equal(pd.notes[0][0], "pd-model-check", "its own panel says so");
  assert.match(pd.notes[0][1], /it may have begun there. It is not sent twice/);
});

test("a fix on trial that may have reached the server says so where its result would be", async () => {
  const pd = await page(1);

  await globalThis.fetch(JOIN, event(10));

  assert.deepEqual(pd.notes, []);
  assert.match(pd.trials.at(-1)[0], /it may have begun there/);
});

test("what costs nothing is sent again once the server answers", async () => {
  const pd = await page(1);

  const answer = await globalThis.fetch(JOIN, event(8));

  assert.deepEqual(pd.sent, [8, 8]);
  assert.equal(answer.status, 200);
});

test("a run that is asked for while the connection is lost is not kept for later", async () => {
  const pd = await page(1);
  const harmless = globalThis.fetch(JOIN, event(8));
  while (!pd.isConnectionLost()) await Promise.resolve();

  const answer = await globalThis.fetch(JOIN, event(7));

  assert.match((await answer.json()).detail, /the run was not sent/);
  assert.equal((await harmless).status, 200);
  assert.deepEqual(pd.sent, [8, 8]);
});
