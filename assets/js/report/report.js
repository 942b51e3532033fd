// @ts-check
// Places the views of `assets/` in an exported report: one scrolling document, no panel hidden, nothing asked of any network.
import { builders } from "../lib/builders.js";
import { button, copyText, make, prose } from "../lib/dom.js";
import { isWithin } from "../lib/field_paths.js";
import { drawJson, lightJson, walkJson } from "../views/json_view.js";
import { host } from "../lib/host.js";
import { attach, inspect, onLight, pin, release } from "../views/linking.js";
import "../views/views.js";
import { decodePayload } from "../lib/payload.js";
import { savePicture } from "../views/picture.js";
import { goToPlace } from "../views/place.js";

/** @typedef {import("../views/token_view.js").TokenView} TokenView */

const { payloads, ended, title, name, at } = JSON.parse(document.getElementById("pd-data")?.textContent || "{}");
/** @type {string} */
const packed = JSON.parse(document.getElementById("pd-bundle")?.textContent || '""'); // goes into pictures, too
const KINDS = {
  header: "header", verdict: "verdict", stages: "stage_links", request: "sent", ledger: "ledger", findings: "findings",
  difference: "difference", prompt_tokens: "token_view", template: "template", completion: "completion",
  raw_tokens: "token_view", again: "again",
};
// What is said in place of a view that this run has nothing for.
/** @type {Record<string, string>} */
const MISSING = {
  ledger: ended,
  findings: "The run ended before the diagnosis.",
  completion: ended,
  prompt_tokens: "The prompt's tokens are not known.",
  template: "The chat template is unknown.",
  raw_tokens: "The tokens of the raw output are unknown.",
};
const MARKS = { ok: "\u2713", guilty: "\u2715", follows: "~", idle: "\u25cb", running: "\u2026", unknown: "?", note: "!" };
const SEGMENTS_SHOWN = 160;
const GRID_PX = 430;
const PRINTED_ROWS = 400;
/** @type {TokenView[]} */
const tokenViews = [];

// The cards of the page, as links: nothing is hidden here, so they are no tabs.
builders.stage_links = (root) => {
  root.classList.add("pd-stages");
  return { show: (decoded) => decoded && root.replaceChildren(...decoded.header.cards.map(stageLink)) };
};

/** @param {StageCard} stage */
function stageLink(stage) {
  const link = make("a", "pd-stage pd-stage-" + stage.state);
  link.href = "#pd-part-" + stage.opens;
  const head = make("span", "pd-stage-head");
  const mark = make("span", "pd-stage-mark", MARKS[stage.state]);
  mark.title = stage.word;
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", stage.word);
  head.append(make("span", "pd-stage-title", stage.title), mark);
  link.append(head, ...stage.figures.map((figure) => make("span", "pd-figure", figure)));
  return link;
}

// The request as it was pasted; of a very long one, a window that follows jumps.
builders.sent = (root, name) => {
  root.classList.add("pd-pane");
  const head = make("header", "pd-bar");
  const body = make("div", "pd-text");
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", "Request as it was pasted");
  const code = make("div", "pd-sent-json");
  /** @type {{ segments: JsonSegment[], figures: string, copy: string, refusal: string, notes: string[] }} */
  let sent = { segments: [], figures: "", copy: "", refusal: "", notes: [] };

  /** @param {number} first */
  function draw(first) {
    const last = Math.min(sent.segments.length, first + SEGMENTS_SHOWN);
    drawJson(code, sent.segments.slice(first, last));
    /** @type {(label: string, to: number) => HTMLButtonElement} */
    const more = (label, to) => button(label, "pd-small pd-more", () => draw(to));
    if (first > 0) code.prepend(more("\u2191 what comes before", Math.max(0, first - SEGMENTS_SHOWN)));
    if (last < sent.segments.length) code.append(more("\u2193 what follows", last));
  }

  /** @param {string} path */
  function drawAround(path) {
    const at = sent.segments.findIndex(([, , here]) => isWithin(here, path));
    if (at >= 0) draw(Math.max(0, at - 20));
  }

  /** @param {string} path */
  function reveal(path) {
    if (!sent.segments.some(([, , here]) => isWithin(here, path))) return revealParent(path);
    if (sent.segments.length > SEGMENTS_SHOWN) drawAround(path);
    lightJson(code, path);
    const lit = /** @type {HTMLElement} */ (code.querySelector(".pd-lit"));
    root.scrollIntoView({ block: "nearest" });
    body.scrollTop = lit.offsetTop - body.clientHeight / 3;
    pin(name, { parts: [["request", path]], field: path });
  }
  // A field that is missing is shown by what should hold it.
  /** @param {string} path */
  function revealParent(path) {
    const parent = path.replace(/(\.[^.[\]]+|\[[^\]]*\]|^[^.[\]]+)$/, "");
    if (parent && parent !== path) reveal(parent);
    else root.scrollIntoView({ block: "nearest" });
  }

  walkJson(body, name, "request", (path) => ({ field: path }));
  onLight((source, facts, isKept) => {
    if (source !== name && isKept && facts.fields.length && sent.segments.length > SEGMENTS_SHOWN) drawAround(facts.fields[0]);
    lightJson(code, ...facts.fields);
  });
  return {
    show(decoded) {
      if (!decoded) return;
      sent = decoded.header;
      head.replaceChildren(make("span", "pd-pane-title", "Request"), make("span", "pd-counts", sent.figures));
      head.append(button("copy", "pd-small", (event) => copyText(sent.copy, event.currentTarget)));
      body.replaceChildren(code);
      draw(0);
      root.replaceChildren(head, body);
      if (sent.refusal) root.append(prose("p", "pd-missing", sent.refusal));
      if (sent.notes.length) root.append(noteList(sent.notes));
    },
    jump: (evidence) => (evidence.field ? reveal(evidence.field) : root.scrollIntoView({ block: "nearest" })),
  };
};

/** @param {string[]} notes */
function noteList(notes) {
  const list = make("ul", "pd-notes");
  list.append(...notes.map((note) => prose("li", "", note)));
  return list;
}

// How to see the run again, and what it was made with.
builders.again = (root) => ({
  show(decoded) {
    if (!decoded) return;
    /** @type {{ curl: string, copy: string, facts: [label: string, value: string][], notes: string[], markdown: string }} */
    const { curl, copy, facts, notes, markdown } = decoded.header;
    const pane = make("div", "pd-pane");
    const head = make("header", "pd-bar");
    head.append(make("span", "pd-pane-title", "The same request, as a shell command"));
    head.append(button("copy", "pd-small", (event) => copyText(copy, event.currentTarget)));
    const text = make("div", "pd-text", curl);
    text.tabIndex = 0;
    text.setAttribute("role", "region");
    text.setAttribute("aria-label", "Shell command");
    pane.append(head, text);
    const list = make("dl", "pd-facts");
    facts.forEach(([label, value]) => list.append(make("dt", "", label), make("dd", "", value)));
    root.replaceChildren(pane, list);
    if (notes.length) root.append(noteList(notes));
    document.getElementById("pd-tools")?.prepend(
      button("Save picture", "", (event) => saveRunPicture(event.currentTarget), "Verdict and evidence as a PNG"),
      button("Copy Markdown", "", (event) => copyText(markdown, event.currentTarget), "The run as text, for a bug tracker"),
    );
  },
});

/** @param {HTMLElement} element */
async function saveRunPicture(element) {
  /** @type {Record<string, any>} */
  const parts = {};
  for (const name of ["header", "verdict", "ledger", "findings", "again"]) {
    parts[name] = payloads[name] ? (await decodePayload(payloads[name])).header : null;
  }
  const { header, verdict, ledger, findings, again } = parts;
  await savePicture({ header, verdict, ledger, findings, title, facts: again.facts }, name + ".png", packed);
  element.blur();
}

const buildTokenView = builders.token_view;
builders.token_view = (root, name) => {
  const view = /** @type {TokenView} */ (buildTokenView(root, name));
  tokenViews.push(view);
  return view;
};

// Short texts take the height they need, long ones scroll.
/** @param {number} limit */
function fitTokens(limit) {
  tokenViews.forEach((view) => {
    if (!view.data || !view.rows) return;
    view.root.style.height = Math.min(limit, view.wholeHeight()) + "px";
    view.paint();
  });
}

// Dark as the reader's system is; paper is always white. Before printing, what scrolls on screen is laid out whole.
const prefersDark = globalThis.matchMedia("(prefers-color-scheme: dark)");
const isPrinted = globalThis.matchMedia("print");
/** @type {boolean | null} */
let wasDark = null;

function settle() {
  document.body.classList.toggle("dark", prefersDark.matches);
}

/** @param {boolean} starts */
function onPrint(starts) {
  if (starts === (wasDark !== null)) return;
  if (starts) wasDark = document.body.classList.contains("dark");
  document.body.classList.toggle("dark", !starts && wasDark === true);
  if (!starts) wasDark = null;
  fitTokens(starts ? PRINTED_ROWS * 22 : GRID_PX);
}

// A view that opens a panel elsewhere scrolls to its section here.
function followOpenings() {
  const scroll = () => {
    const section = document.getElementById("pd-part-" + document.documentElement.dataset.panel);
    if (section) section.scrollIntoView({ block: "start" });
  };
  new MutationObserver(scroll).observe(document.documentElement, { attributes: true, attributeFilter: ["data-panel"] });
}

/**
 * @param {HTMLElement} root
 * @param {string} sentence
 */
function say(root, sentence) {
  root.classList.add("pd-absent");
  root.replaceChildren(make("p", "pd-empty", sentence));
}

// Until the views have shown the verdict's evidence, which they do a few frames after they are drawn.
async function settled() {
  for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);
}

// The part of the address behind `#at=`.
function placeInAddress() {
  const { hash } = globalThis.location;
  try {
    return hash.startsWith("#at=") ? decodeURIComponent(hash.slice(4)) : "";
  } catch {
    return "";
  }
}

host.linkTo = (name, element) => copyText(globalThis.location.href.split("#")[0] + "#at=" + encodeURIComponent(name), element);

async function place() {
  inspect([]);
  if (title) document.getElementById("pd-verdict")?.before(make("h2", "pd-report-title", title));
  settle();
  prefersDark.addEventListener("change", settle);
  await Promise.all(
    Object.entries(KINDS).map(([name, kind]) => {
      const root = /** @type {ViewRoot | null} */ (document.getElementById("pd-" + name.replace("_", "-")));
      if (!root) return undefined;
      if (!payloads[name] && MISSING[name]) return say(root, MISSING[name]);
      return attach(root, kind, name).set(payloads[name] || "");
    }),
  );
  fitTokens(GRID_PX);
  await settled();
  if (!globalThis.location.hash) globalThis.scrollTo(0, 0); // the verdict first, wherever its evidence is
  followOpenings();
  goToPlace(placeInAddress() || at);
  globalThis.addEventListener("hashchange", () => goToPlace(placeInAddress()));
  isPrinted.addEventListener("change", (event) => onPrint(event.matches));
  globalThis.addEventListener("beforeprint", () => onPrint(true));
  globalThis.addEventListener("afterprint", () => onPrint(false));
  globalThis.addEventListener("resize", () => requestAnimationFrame(() => wasDark === null && fitTokens(GRID_PX)));
  document.addEventListener("keydown", (event) => event.key === "Escape" && release());
  document.documentElement.dataset.ready = "true";
}

place();
