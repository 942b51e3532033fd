// @ts-check
// What a link carries, ours and those of the Hub's playground: read, made, and held against what this page takes.
import { carriedBy } from "./address.js";
import { base64url, bytesOf, squeeze } from "../lib/packing.js";
import { plural } from "../lib/payload.js";
import { readPlace } from "../views/place.js";

/**
 * @typedef {{ request?: string, tool_parser?: string, reasoning_parser?: string, model?: string, tokenizer?: string, run?: string,
 *   at?: string, from?: string, left?: string[], example?: string }} LinkState What a link carries.
 * @typedef {"tool_parser" | "reasoning_parser" | "model" | "tokenizer"} ChoiceName
 */

const PREFIX = "#pd=1.";
const MAX_PACKED = 400_000; // of a link that is read
const MAX_REQUEST_CHARS = 2_000_000;
/** @type {ChoiceName[]} */
const CHOICES = ["tool_parser", "reasoning_parser", "model", "tokenizer"];
const HUB_ID = /^(?!\.)[\w.-]{1,96}\/(?!\.)[\w.-]{1,96}$/; // a link must not lead out of a folder

// The text in compressed bytes; a small link must not unpack to something that fills the memory.
/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {number} mostBytes
 */
async function inflate(bytes, mostBytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let count = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    count += value.length;
    if (count > mostBytes) {
      reader.cancel();
      throw new Error("its unpacked size exceeds the limit for a request");
    }
    text += decoder.decode(value, { stream: true });
  }
}

// state: {request, tool_parser?, reasoning_parser?, model?, tokenizer?}, all texts.
/** @param {LinkState} state */
async function makeFragment(state) {
  return PREFIX + base64url(await squeeze(JSON.stringify(state), "deflate-raw"));
}

// Returns the state in a fragment, null if there is none; throws an Error that says what is wrong with it.
/**
 * @param {string} hash
 * @returns {Promise<LinkState | null>}
 */
async function readFragment(hash) {
  const fragment = "#" + carriedBy(hash); // behind it the address says what is open
  if (fragment === "#") return null;
  if (!fragment.startsWith(PREFIX)) throw new Error("it was made by another version of this program");
  if (fragment.length > MAX_PACKED) throw new Error("it is longer than any link of this program");
  let state;
  try {
    state = JSON.parse(await inflate(bytesOf(fragment.slice(PREFIX.length)), MAX_REQUEST_CHARS * 4));
  } catch (error) {
    throw new Error(error instanceof Error && /unpacked size/.test(error.message) ? error.message : "a part of it is missing or was changed");
  }
  if (state === null || typeof state !== "object" || typeof state.request !== "string") throw new Error("it contains no request");
  if (state.request.length > MAX_REQUEST_CHARS) throw new Error("its request is too long");
  /** @type {LinkState} */
  const kept = { request: state.request };
  for (const name of CHOICES) {
    if (typeof state[name] === "string" && state[name].length <= 200) kept[name] = state[name];
  }
  if (typeof state.run === "string") kept.run = state.run; // the bundle of a run: opened by a press, never before
  if (readPlace(state.at)) kept.at = state.at;
  return kept;
}

// Requests of ours with the purpose of the three examples that the Hub's playground names in its links.
/** @type {(content: string) => { role: string, content: string }} */
const USER = (content) => ({ role: "user", content });
/** @type {Record<string, object>} */
const EXAMPLES = {
  "hello-world": { messages: [USER("Hello!"), { role: "assistant", content: "Hello. What can I do?" }, USER("Name a prime.")] },
  reasoning: {
    messages: [
      USER("Is 91 a prime?"),
      { role: "assistant", content: "<think>7 times 13 is 91.</think>No: 91 is 7 \u00d7 13." },
      USER("And 97?"),
    ],
  },
  "tool-usage": {
    messages: [USER("What's the weather in Paris?")],
    tools: [
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "Get the weather of a city.",
          parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        },
      },
    ],
  },
};

// What a link of the Hub's chat template playground names (`?modelId=…&template=…&example=…`); null if it is none.
/**
 * @param {string} query
 * @returns {LinkState | null}
 */
function readPlayground(query) {
  const given = new URLSearchParams(query);
  const id = given.get("modelId");
  if (!id) return null;
  /** @type {string[]} */
  const left = [];
  /** @type {LinkState} */
  const state = { from: "playground", left };
  if (HUB_ID.test(id)) state.tokenizer = id;
  else left.push("modelId: " + id.slice(0, 80) + " is not a Hub id");
  const example = given.get("example");
  if (example && Object.hasOwn(EXAMPLES, example)) {
    state.request = JSON.stringify(EXAMPLES[example], null, 2);
    state.example = example;
  } else if (example) left.push("example: " + example.slice(0, 80) + " is not known here");
  const template = given.get("template");
  if (template && template !== "default") left.push("template: a tokenizer's own choice of template is used, not " + template.slice(0, 80));
  return state;
}

// Which of the link's choices this page takes: {values, kind, taken, left}; `taken` and `left` are words for people.
/**
 * @param {LinkState} state
 * @param {SharePage} page
 */
function settleLink(state, page) {
  /** @type {LinkState} */
  const values = {};
  /** @type {string[]} */
  const taken = [];
  const left = [...(state.left || [])];
  const kind = state.request === undefined ? "request" : kindOf(state.request);
  if (state.request !== undefined) {
    values.request = state.request;
    const own = "a request of ours like the playground's \u201c" + state.example + "\u201d example";
    if (kind !== "run") taken.push(state.example ? own : "the " + kind + ", " + plural(state.request.length, "character"));
  }
  /** @type {(name: ChoiceName, words: string, isKnown: (value: string) => boolean) => void} */
  const choose = (name, words, isKnown) => {
    const value = state[name];
    if (value === undefined || value === "") return;
    if (!isKnown(value)) return void left.push(words + " " + value);
    values[name] = value;
    taken.push(words + " " + value);
  };
  choose("tool_parser", "tool parser", (value) => page.tool_parsers.includes(value));
  choose("reasoning_parser", "reasoning parser", (value) => page.reasoning_parsers.includes(value));
  choose("model", "model", () => page.takes_model);
  choose("tokenizer", "tokenizer", (value) => page.takes_model && HUB_ID.test(value));
  return { values, kind, taken, left };
}

// What the text of a link is: the body of a request, a text such as an answer or a log, or none beside a run.
/**
 * @param {string} text
 * @returns {"request" | "text" | "run"}
 */
function kindOf(text) {
  if (!text.trim()) return "run";
  try {
    const body = JSON.parse(text);
    const isBody = body !== null && typeof body === "object" && ["messages", "prompt", "input", "contents"].some((name) => name in body);
    return isBody ? "request" : "text";
  } catch {
    return "text";
  }
}

export { CHOICES, makeFragment, readFragment, readPlayground, settleLink };
