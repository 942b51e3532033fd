// @ts-check
// Sharing: the menu, files made in this browser, a run opened again, and what the link of this page changes on it.
import { carriedBy } from "./address.js";
import { builders } from "../lib/builders.js";
import { addRun } from "../tools/comparison_view.js";
import { button, make, prose } from "../lib/dom.js";
import { hasSharedRun, nameCurrentRun, sharedRunWords, timeWords } from "./history.js";
import { host, onVerdict } from "../lib/host.js";
import { packPayload, packText, saveFile, TOO_LONG } from "../lib/packing.js";
import { savePicture } from "../views/picture.js";
import { bundleInPicture, bundleInText } from "../lib/embedded.js";
import { goToPlace } from "../views/place.js";
import { CHOICES, makeFragment, readFragment, readPlayground, settleLink } from "./shared_link.js";

/** @typedef {import("./shared_link.js").LinkState} LinkState */

const SAME = { __type__: "update" }; // gradio leaves such a field as it is
const EASY_CHARS = 8_000; // every chat program and issue tracker accepts that many
const MAX_CHARS = 32_000;

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
    cause: [], quote: "", step: null, run: 0, held,
  });
}

/** @type {LinkState | null} */
let held = null; // the link that the page was opened with, if it contains a run
let isTaken = false; // whether the link was applied: gradio reports a change again whenever the menu answers, such as when a run is opened
let wanted = ""; // the place to show once a run is drawn

onVerdict((verdict) => {
  if (verdict.state !== "done" || !wanted) return;
  const place = wanted;
  wanted = "";
  goToPlace(place);
});

// Returns the new values of [editor, tool parser, reasoning parser, model, tokenizer, case, where Run goes, notices, views …, verdict].
/** @param {...unknown} current */
async function applyLink(...current) {
  /** @type {unknown[]} */
  const values = current.map(() => SAME); // a field keeps the value that it has by then, not the one from when this was called
  if (isTaken) return values;
  isTaken = true;
  const verdict = values.length - 1;
  try {
    const state = (await readFragment(globalThis.location.hash)) || readPlayground(globalThis.location.search);
    if (!state || !host.sharePage) return values;
    const { values: found, kind, taken, left } = settleLink(state, host.sharePage);
    [/** @type {const} */ ("request"), ...CHOICES].forEach((name, i) => {
      if (found[name] !== undefined) values[i] = found[name];
    });
    if (found.request !== undefined) {
      values[5] = null;
      if (kind !== "request") values[6] = "Run"; // where it goes is known once it is read
      values[7] = await packPayload({ state: "ok", summary: "From a link; it is read when you press Run.", items: [] });
      values.splice(8, verdict - 8, ...host.sharePage.empty); // the recorded run on display belongs to another request
    }
    const from = state.from ? "This came from a link of the chat template playground." : "This " + kind + " came from a link.";
    const detail = [taken.length ? "Taken: " + taken.join(", ") + "." : "", left.length ? "Left out: " + left.join(", ") + "." : ""];
    if (found.tokenizer) detail.push("The tokenizer is used once you enter an endpoint under Target.");
    held = state.run ? state : null;
    const others = { request: ", or run the request yourself", text: ", or press Run to read the text", run: "" };
    const included = "show the included run" + others[kind] + ".";
    const next = " Nothing was run or sent: " + (held ? included : "read it, then press Run.");
    values[verdict] = await strip("FROM A LINK", from + next, detail.filter(Boolean).join(" "), "warning", held !== null);
  } catch (error) {
    values[verdict] = await strip("BAD LINK", "This link cannot be read: " + (error instanceof Error ? error.message : String(error)) + ".", "Ask for it again, or for a JSON bundle.", "error");
  }
  return values;
}

// --- the menu --------------------------------------------------------------------

/** @type {[what: string, name: string, hint: string][]} */
const FORMS = [
  ["link", "Copy link", "the request or the text, inside the link itself: no key"],
  ["html", "HTML report", "one file that opens offline, with these views"],
  ["picture", "Picture", "verdict and evidence as a PNG"],
  ["markdown", "Markdown for an issue", "with versions, template hash, and a curl"],
  ["bundle", "JSON bundle", "the whole run; it can be opened here again"],
  ["run_link", "Link to this run", "request and run inside the link; it opens with one more click"],
];

builders.share = (root) => {
  let opening = ""; // the bundle that is being opened
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
  which.id = "pd-share-which";
  const forms = FORMS.map(formButton);
  menu.append(which, title, ...forms, opener(), status);
  root.append(toggle, menu);
  show(false);

  /** @param {boolean} isOpen */
  function reveal(isOpen) {
    menu.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
  }

  /** @param {boolean} isOpen */
  function show(isOpen) {
    reveal(isOpen);
    if (isOpen) which.textContent = sharedRunWords();
    forms.forEach((one, at) => (one.disabled = !hasSharedRun() && FORMS[at][0] !== "link"));
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
    openRun(packed);
  };
  host.linkTo = (at) => {
    show(true);
    say("Creating the link \u2026");
    root.pdAsk("select", { index: 0, value: { form: "run_link", title: title.value, at } });
  };

  /** @param {string} packed */
  const openRun = (packed) => {
    if (host.sharePage && packed.length > host.sharePage.most_packed) return say(TOO_LONG, "error");
    opening = packed;
    say("Opening it \u2026");
    root.pdAsk("submit", { packed });
  };
  host.openPacked = openRun;

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
    one.setAttribute("aria-describedby", which.id);
    one.append(make("span", "pd-share-title", name), make("span", "pd-share-hint", hint));
    return one;
  }

  function opener() {
    const box = make("div", "pd-opener");
    const file = make("input", "pd-live");
    file.type = "file";
    file.accept = ".json,.html,.png,.md,application/json";
    file.setAttribute("aria-label", "Bundle file");
    file.tabIndex = -1;
    file.addEventListener("change", async () => {
      const chosen = file.files?.[0];
      const inside = chosen && bundleInPicture(new Uint8Array(await chosen.arrayBuffer()));
      if (inside) openRun(inside);
      else if (chosen) openText(await chosen.text());
      file.value = "";
    });
    const text = make("textarea", "pd-opener-text");
    text.rows = 2;
    text.placeholder = "or paste a bundle, its Markdown, or a link";
    text.setAttribute("aria-label", "Bundle or link");
    const go = button("Open", "", () => openText(text.value));
    box.append(make("p", "pd-share-title", "Open a run"), button("Choose a file \u2026", "", () => file.click(), "A JSON bundle, HTML report, picture or Markdown of a run"), file, text, go);
    return box;
  }

  /** @param {string} text */
  async function openText(text) {
    const pasted = text.trim();
    if (!pasted) return say("Nothing was pasted.", "error");
    const inside = bundleInText(text);
    if (inside) return openRun(inside);
    if (!/\s/.test(pasted) && pasted.includes("#pd=")) return follow(globalThis.location.search, pasted.slice(pasted.indexOf("#pd=")));
    if (!/[\s{]/.test(pasted) && pasted.includes("modelId=")) return follow(pasted.slice(pasted.indexOf("?")).split("#")[0], "");
    say("Opening it \u2026");
    const packed = await packText(text);
    if (packed === null) return say(TOO_LONG, "error");
    openRun(packed);
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
    if (header.kind === "failure") reveal(true); // a bundle that was pasted or dropped is opened with the menu closed
    if (header.kind === "failure") return say(header.sentence + (header.hint ? " " + header.hint : ""), "error");
    if (header.kind === "opened") {
      addRun(["opened " + timeWords(Date.now(), Date.now()), header.name].join(" \u00b7 "), opening);
      say(header.sentence);
      return show(false);
    }
    if (header.kind === "link") return showLink(header);
    const isPicture = header.kind === "picture";
    const size = isPicture ? await savePicture(header.parts, header.name, new TextDecoder().decode(columns)) : columns.byteLength;
    if (!isPicture) saveFile(columns, header.type, header.name);
    const saved = "Saved " + header.name + (size ? ", " + Math.ceil(size / 1024) + " KB." : ".");
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
    const carried = carriedBy(hash);
    globalThis.addEventListener("hashchange", () => {
      const now = carriedBy(globalThis.location.hash);
      if (now && now !== carried) globalThis.location.reload();
    });
  }

  /** @param {{ base?: string, at?: string, state: LinkState, notes: string[] }} header */
  async function showLink(header) {
    const { origin, pathname } = globalThis.location;
    const url = (header.base || origin + pathname) + (await makeFragment(header.at ? { ...header.state, at: header.at } : header.state));
    const size = url.length.toLocaleString("en") + " characters";
    if (url.length > MAX_CHARS && header.state.run) {
      say("This run is too long for a link: it would have " + size + ", and many programs cut links at " + MAX_CHARS.toLocaleString("en") + ".", "error");
      const save = () => root.pdAsk("select", { index: 0, value: { form: "html", title: title.value, at: header.at } });
      return status.append(button("Save a report that opens at this place", "pd-small", save));
    }
    if (url.length > MAX_CHARS) {
      return say("The request is too long for a link: it would have " + size + ", and many programs cut links at " + MAX_CHARS.toLocaleString("en") + ". Send the JSON bundle instead.", "error");
    }
    const copied = await copy(url);
    const sentence = (copied ? "Copied, " : "Copy it from here, ") + size + ".";
    say(sentence + (url.length > EASY_CHARS ? " Some programs cut links of that length: test it before you rely on it." : "") + " It opens in any Prompt Debugger: the part before # is this one's address.");
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

// Returns whether the text was copied. A browser may deny a page the clipboard; the text is then shown or saved instead.
/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export { applyLink };
