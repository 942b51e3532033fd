// @ts-check
// Sharing: a link that carries the request in its fragment, files made in this browser, and a run opened again.
import { builders } from "./builders.js";
import { button, make, prose } from "./dom.js";
import { nameCurrentRun, sharedRunWords } from "./history.js";
import { host, onVerdict } from "./host.js";
import { plural } from "./payload.js";
import { savePicture } from "./picture.js";
import { goToPlace, readPlace } from "./place.js";

/**
 * @typedef {{ request?: string, tool_parser?: string, reasoning_parser?: string, model?: string, tokenizer?: string, run?: string,
 *   at?: string, from?: string, left?: string[], example?: string }} LinkState What a link carries.
 * @typedef {"tool_parser" | "reasoning_parser" | "model" | "tokenizer"} ChoiceName
 */

/** @type {((packed: string) => void) | null} */
export let openPacked = null; // as long as its view is there
const SAME = { __type__: "update" }; // gradio leaves such a field as it is
const PREFIX = "#pd=1.";
const EASY_CHARS = 8_000; // every chat program and tracker passes on that much
const MOST_CHARS = 32_000;
const MOST_PACKED = 400_000; // of a link that is read
const MOST_REQUEST_CHARS = 2_000_000;
/** @type {ChoiceName[]} */
const CHOICES = ["tool_parser", "reasoning_parser", "model", "tokenizer"];
const HUB_ID = /^(?!\.)[\w.-]{1,96}\/(?!\.)[\w.-]{1,96}$/; // a link must not lead out of a folder

// --- links: pure, tried under node ---------------------------------------------

/** @param {Uint8Array} bytes */
function base64url(bytes) {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} text */
function bytesOf(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/**
 * @param {string} text
 * @param {CompressionFormat} format
 */
async function squeeze(text, format) {
  const stream = new Blob([new TextEncoder().encode(text)]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A file for the server: compressed, as text, for an event carries it; null if the server would not take it.
/**
 * @param {string} text
 * @returns {Promise<string | null>}
 */
async function packText(text) {
  const packed = base64url(await squeeze(text, "gzip"));
  return host.sharePage && packed.length > host.sharePage.most_packed ? null : packed;
}

/** @param {string} packed */
async function unpackText(packed) {
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const TOO_LONG = "This bundle is too long for the page: open it by `run --bundle FILE`.";

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
      throw new Error("it unpacks to more than a request may have");
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
 * @param {string} fragment
 * @returns {Promise<LinkState | null>}
 */
async function readFragment(fragment) {
  if (!fragment.startsWith("#pd=")) return null;
  if (!fragment.startsWith(PREFIX)) throw new Error("it was made by another version of this program");
  if (fragment.length > MOST_PACKED) throw new Error("it is longer than a link of this program can be");
  let state;
  try {
    state = JSON.parse(await inflate(bytesOf(fragment.slice(PREFIX.length)), MOST_REQUEST_CHARS * 4));
  } catch (error) {
    throw new Error(error instanceof Error && /unpacks/.test(error.message) ? error.message : "a part of it is missing or was changed on the way");
  }
  if (state === null || typeof state !== "object" || typeof state.request !== "string") throw new Error("it carries no request");
  if (state.request.length > MOST_REQUEST_CHARS) throw new Error("its request is too long");
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
  else left.push("modelId: " + id.slice(0, 80) + " is no id of the Hub");
  const example = given.get("example");
  if (example && Object.hasOwn(EXAMPLES, example)) {
    state.request = JSON.stringify(EXAMPLES[example], null, 2);
    state.example = example;
  } else if (example) left.push("example: " + example.slice(0, 80) + " is not known here");
  const template = given.get("template");
  if (template && template !== "default") left.push("template: a tokenizer's own choice of template is used, not " + template.slice(0, 80));
  return state;
}

// Which of the link's choices this page takes: {values, taken, left}, sentences for people.
/**
 * @param {LinkState} state
 * @param {SharePage} page
 */
function settle(state, page) {
  /** @type {LinkState} */
  const values = {};
  /** @type {string[]} */
  const taken = [];
  const left = [...(state.left || [])];
  if (state.request !== undefined) {
    values.request = state.request;
    const own = "a request of ours like the playground's \u201c" + state.example + "\u201d example";
    taken.push(state.example ? own : "the request, " + plural(state.request.length, "character"));
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
  return { values, taken, left };
}

// A payload of a view, made here: what a link says never goes to the server.
/** @param {object} header */
async function packPayload(header) {
  let text = JSON.stringify(header).replace(/[\u007f-\uffff]/g, (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));
  text += " ".repeat((4 - (text.length % 4)) % 4);
  const length = new Uint8Array(new Uint32Array([text.length]).buffer);
  const bytes = new Uint8Array([...length, ...new TextEncoder().encode(text)]);
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return base64url(new Uint8Array(await new Response(stream).arrayBuffer())).replaceAll("-", "+").replaceAll("_", "/");
}

// --- what a link changes on the page --------------------------------------------

/**
 * @param {string} badge
 * @param {string} sentence
 * @param {string} detail
 * @param {string} tone
 * @param {boolean} [held]
 */
function strip(badge, sentence, detail, tone, held = false) {
  return packPayload({
    state: "idle", badge, sentence, detail, tone, log: "", place: null, evidence: null, open: null, fraction: null,
    quotable: false, run: 0, held,
  });
}

// The new values of [editor, tool parser, reasoning parser, model, tokenizer, case, notices, verdict].
/** @type {LinkState | null} */
let held = null; // state of the link that the page was opened with, if it brings a run
let isTaken = false; // the link; gradio tells of a change also whenever the menu answers, as it does when a run is opened
let wanted = ""; // the place that is to be shown once a run is drawn

onVerdict((verdict) => {
  if (verdict.state !== "done" || !wanted) return;
  const place = wanted;
  wanted = "";
  goToPlace(place);
});

/** @param {...unknown} current */
async function applyLink(...current) {
  if (isTaken) return current.map(() => SAME);
  isTaken = true;
  const values = [...current];
  const verdict = values.length - 1;
  try {
    const state = (await readFragment(globalThis.location.hash)) || readPlayground(globalThis.location.search);
    if (!state || !host.sharePage) return values;
    const { values: found, taken, left } = settle(state, host.sharePage);
    [/** @type {const} */ ("request"), ...CHOICES].forEach((name, i) => {
      if (found[name] !== undefined) values[i] = found[name];
    });
    if (found.request !== undefined) {
      values[5] = null;
      values[6] = await packPayload({ state: "ok", summary: "From a link; it is read when you press Run.", items: [] });
      values.splice(7, verdict - 7, ...host.sharePage.empty); // a recorded run that was shown belongs to another request
    }
    const from = state.from ? "This came with a link of the chat template playground." : "This request came with a link.";
    const detail = [taken.length ? "Taken: " + taken.join(", ") + "." : "", left.length ? "Left out: " + left.join(", ") + "." : ""];
    if (found.tokenizer) detail.push("The tokenizer is used once you name an endpoint under Target.");
    held = state.run ? state : null;
    const next = held ? " Nothing was run or sent: show the run that came with it, or run the request yourself." : " Nothing was run or sent: read it, then press Run.";
    values[verdict] = await strip("FROM A LINK", from + next, detail.filter(Boolean).join(" "), "warning", held !== null);
  } catch (error) {
    values[verdict] = await strip("BAD LINK", "This link cannot be read: " + (error instanceof Error ? error.message : String(error)) + ".", "Ask for it again, or for a JSON bundle.", "error");
  }
  return values;
}

// --- the menu --------------------------------------------------------------------

/** @type {[what: string, name: string, hint: string][]} */
const FORMS = [
  ["link", "Copy link", "the request, inside the link itself: no key, no address"],
  ["html", "HTML report", "one file that opens offline, with these views"],
  ["picture", "Picture", "verdict and evidence as a PNG"],
  ["markdown", "Markdown for an issue", "with versions, template hash, and a curl"],
  ["bundle", "JSON bundle", "the whole run; it opens again here"],
  ["run_link", "Link to this run", "request and run inside the link; it opens with one more click"],
];

builders.share = (root) => {
  root.classList.add("pd-share");
  const toggle = button("Share \u25be", "pd-small pd-share-toggle", () => show(Boolean(menu.hidden)));
  toggle.setAttribute("aria-controls", "pd-share-menu");
  const menu = make("div", "pd-share-menu");
  menu.id = "pd-share-menu";
  menu.setAttribute("role", "group");
  menu.setAttribute("aria-label", "Share or open a run");
  const status = make("div", "pd-share-status");
  status.setAttribute("role", "status");
  const which = make("p", "pd-share-hint pd-share-which");
  const title = make("input", "pd-share-name");
  title.placeholder = "A title for it (optional)";
  title.maxLength = 120;
  title.setAttribute("aria-label", "Title of the report");
  menu.append(which, title, ...FORMS.map(formButton), opener(), status);
  root.append(toggle, menu);
  show(false);

  /** @param {boolean} isOpen */
  function show(isOpen) {
    menu.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) which.textContent = sharedRunWords();
    if (isOpen) menu.querySelector("button")?.focus();
  }

  host.openHeld = async () => {
    if (!held) return;
    const packed = await packText(held.run || "");
    if (packed === null) {
      show(true);
      return say(TOO_LONG, "error");
    }
    wanted = held.at || "";
    root.pdAsk("submit", { packed });
  };
  host.linkTo = (at) => {
    show(true);
    say("Making the link \u2026");
    root.pdAsk("select", { index: 0, value: { form: "run_link", title: title.value, at } });
  };

  openPacked = (packed) => root.pdAsk("submit", { packed });

  /**
   * @param {string} sentence
   * @param {string} [tone]
   */
  function say(sentence, tone) {
    status.dataset.tone = tone || "";
    status.replaceChildren(prose("p", "", sentence));
  }

  /** @param {[what: string, name: string, hint: string]} form */
  function formButton([what, name, hint]) {
    const one = button("", "pd-share-form", () => {
      say("Making it \u2026");
      root.pdAsk("select", { index: 0, value: { form: what, title: title.value } });
      nameCurrentRun(title.value.trim());
    });
    one.append(make("span", "pd-share-title", name), make("span", "pd-share-hint", hint));
    return one;
  }

  function opener() {
    const box = make("div", "pd-opener");
    const file = make("input", "pd-live");
    file.type = "file";
    file.accept = ".json,application/json";
    file.setAttribute("aria-label", "Bundle file");
    file.tabIndex = -1;
    file.addEventListener("change", async () => {
      if (file.files?.length) openText(await file.files[0].text());
      file.value = "";
    });
    const text = make("textarea", "pd-opener-text");
    text.rows = 2;
    text.placeholder = "or paste a bundle, or a link";
    text.setAttribute("aria-label", "Bundle or link");
    const go = button("Open", "", () => openText(text.value));
    box.append(make("p", "pd-share-title", "Open a run"), button("Choose a bundle \u2026", "", () => file.click()), file, text, go);
    return box;
  }

  /** @param {string} text */
  async function openText(text) {
    const pasted = text.trim();
    if (!pasted) return say("Nothing was pasted.", "error");
    if (!/\s/.test(pasted) && pasted.includes("#pd=")) return follow(globalThis.location.search, pasted.slice(pasted.indexOf("#pd=")));
    if (!/[\s{]/.test(pasted) && pasted.includes("modelId=")) return follow(pasted.slice(pasted.indexOf("?")).split("#")[0], "");
    say("Opening it \u2026");
    const packed = await packText(text);
    if (packed === null) return say(TOO_LONG, "error");
    root.pdAsk("submit", { packed });
  }

  /**
   * @param {string} search
   * @param {string} hash
   */
  function follow(search, hash) {
    const { pathname } = globalThis.location;
    const isHere = search === globalThis.location.search;
    globalThis.location.assign(pathname + search + hash);
    if (isHere && hash) globalThis.location.reload();
  }

  /** @param {Decoded} decoded */
  async function deliver({ header, columns }) {
    if (header.kind === "page") return arrive(header);
    if (header.kind === "failure") return say(header.sentence + (header.hint ? " " + header.hint : ""), "error");
    if (header.kind === "opened") {
      say(header.sentence);
      return show(false);
    }
    if (header.kind === "link") return showLink(header);
    if (header.kind === "picture") await savePicture(header.parts, header.name);
    else saveFile(columns, header.type, header.name);
    const saved = "Saved " + header.name + (columns.byteLength ? ", " + Math.ceil(columns.byteLength / 1024) + " KB." : ".");
    if (header.kind !== "markdown") return say(saved);
    const copied = await copy(new TextDecoder().decode(columns));
    say(copied ? "Copied: paste it into an issue. " + saved : saved);
  }

  // Once, when the page is drawn: what it takes from links, and the link it was opened with.
  /** @param {SharePage} header */
  function arrive(header) {
    host.sharePage = header;
    const { hash, search } = globalThis.location;
    if (hash.startsWith("#pd=") || new URLSearchParams(search).has("modelId")) root.pdAsk("change");
    globalThis.addEventListener("hashchange", () => globalThis.location.hash.startsWith("#pd=") && globalThis.location.reload());
  }

  /** @param {{ base?: string, at?: string, state: LinkState, notes: string[] }} header */
  async function showLink(header) {
    const { origin, pathname } = globalThis.location;
    const url = (header.base || origin + pathname) + (await makeFragment(header.at ? { ...header.state, at: header.at } : header.state));
    const size = url.length.toLocaleString("en") + " characters";
    if (url.length > MOST_CHARS && header.state.run) {
      say("This run is too long for a link: it would have " + size + ", and many programs cut links at " + MOST_CHARS.toLocaleString("en") + ".", "error");
      const save = () => root.pdAsk("select", { index: 0, value: { form: "html", title: title.value, at: header.at } });
      return status.append(button("Save the report that opens at this place", "pd-small", save));
    }
    if (url.length > MOST_CHARS) {
      return say("The request is too long for a link: it would have " + size + ", and many programs cut links at " + MOST_CHARS.toLocaleString("en") + ". Send the JSON bundle instead.", "error");
    }
    const copied = await copy(url);
    const sentence = (copied ? "Copied, " : "Copy it from here, ") + size + ".";
    say(sentence + (url.length > EASY_CHARS ? " Some programs cut links of that length: try it before you rely on it." : "") + " It opens in any Prompt Debugger: the part before # is this one's address.");
    const field = make("input", "pd-share-link");
    field.readOnly = true;
    field.value = url;
    field.setAttribute("aria-label", "Link");
    field.addEventListener("focus", () => field.select());
    status.append(field);
    header.notes.forEach((note) => status.append(prose("p", "pd-share-hint", note)));
  }

  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || menu.hidden) return;
    show(false);
    toggle.focus();
  });
  document.addEventListener("pointerdown", (event) => root.contains(/** @type {Node} */ (event.target)) || show(false));
  return { show: (decoded) => decoded && deliver(decoded) };
};

// The clipboard may be closed to a page: then the text is shown, or saved, instead.
/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {BlobPart} bytes
 * @param {string} type
 * @param {string} name
 */
function saveFile(bytes, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export { makeFragment, readFragment, readPlayground, settle as settleLink, packPayload, applyLink, packText, unpackText, saveFile, TOO_LONG };
