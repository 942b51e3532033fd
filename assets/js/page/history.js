// @ts-check
// The runs of this browser: kept in its own database, masked, to be opened again, compared, named, saved and forgotten.
import { runIsKept } from "./both_servers.js";
import { builders } from "../lib/builders.js";
import { addRun, changeRun, chooseNamedRuns, chooseRuns, expectRun, expectRuns, offerRuns } from "../tools/comparison_view.js";
import { button, make, prose } from "../lib/dom.js";
import { isKeeping, keepCurrentRun, keepOpened, keepRunning, keepSwitch, keepTarget, mayKeep, runIsOver } from "../editor/draft.js";
import { editorView, replaceRequest } from "../editor/editor_link.js";
import { host, onForget, onVerdict } from "../lib/host.js";
import { open as openPanel } from "../views/linking.js";
import { isOutdated, openedRun } from "./outdated.js";
import { allRuns, clear, drop, dropOldest, put, runOf } from "./kept_runs.js";
import { packText, saveFile, unpackText } from "../lib/packing.js";

/**
 * @typedef {import("./kept_runs.js").KeptRun} KeptRun
 * @typedef {{ ask(event: string, data: unknown): void, show(isOpen: boolean): void, draw(all: KeptRun[]): void }} HistoryView
 */

const MAX_TITLE = 120;
const MAX_SENTENCE = 1_900;
/** @type {string | null} */
let pressedText = null; // what stood in the editor when Run was pressed
/** @type {Partial<VerdictPayload> & { at?: number, kept?: number }} */
let last = { state: "idle" }; // what the verdict strip shows, and since when
/** @type {number | null} */
let awaited = null; // id of the kept run that is about to be shown
/** @type {HistoryView | null} */
let view = null; // of the menu

const forgetRuns = async () => {
  await clear();
  await redraw();
};

// --- what is kept, and what comes back ----------------------------------------------

document.addEventListener(
  "click",
  (event) => {
    if (!(event.target instanceof Element) || !event.target.closest("#pd-run")) return;
    const editor = editorView();
    pressedText = editor ? editor.state.doc.toString() : null;
    keepRunning(pressedText);
  },
  true,
);

onVerdict((verdict) => {
  if (verdict.run !== last.run || verdict.state !== last.state) last = { ...verdict, at: Date.now() };
  if (awaited !== null && verdict.state === "done") {
    last.kept = awaited;
    awaited = null;
  }
});

// At the end of each run of this page.
/** @param {...(string | null)} fields */
export const runEnded = (...fields) => {
  changed = null; // of a run before, it did not come
  runIsOver();
  if (isKeeping()) keepTarget(...fields);
  expectRun(true);
  view?.ask("select", { index: 0, value: "keep" });
};

// The page's server refused to pack a run.
export const runRefused = () => expectRun(false);

/** @type {number | null} */
let before = null; // id of the run that this page made last
/** @type {number | null} */
let changed = null; // number of the run that is shown and has something added to it, which comes next

// A fix was proved: a reload brings back the run with the proof.
host.runChanged = () => {
  changed = last.run ?? null;
  view?.ask("select", { index: 0, value: "keep" });
};

// The parsers were asked about the call that it lost, and no one has begun another since.
export const runExtended = () => {
  if (last.state === "done" && last.kept !== undefined) host.runChanged?.();
};

/**
 * @param {number | undefined} id
 * @param {string} packed
 */
async function keepChanged(id, packed) {
  if (id && id < 0) return changeRun(id, packed);
  const run = id ? await runOf(id) : undefined;
  if (run) await put({ ...run, packed });
  return Boolean(run);
}

/** @param {Decoded} decoded */
async function keep({ header, columns }) {
  if (header.kind !== "kept") return undefined; // there was none to pack
  if (header.asked !== undefined) return keepAnswers(header.asked, new TextDecoder().decode(columns));
  const isSame = changed !== null;
  const isOfOther = isSame && changed !== last.run; // that was shown before this one
  changed = null;
  if (isOfOther) return undefined;
  const text = new TextDecoder().decode(columns);
  const packed = await packText(text);
  const isThere = packed !== null && isSame && (await keepChanged(last.kept, packed));
  if (isThere) return undefined;
  if (packed === null) return undefined; // too long for an event: it could not be opened again
  if (isSame && last.state === "recorded" && !isOutdated()) pressedText = editorView()?.state.doc.toString() ?? null;
  const isWhole = last.state === "done" || last.state === "recorded";
  const words = isWhole || !mayKeep(last.sentence || "") ? header.sentence : last.sentence; // a server may repeat a key in its error
  const record = {
    at: Date.now(), title: header.title, badge: isWhole ? header.badge : last.badge || "", tone: header.tone, sentence: words,
    ended: isWhole ? "" : last.state || "", target: header.target, ran: pressedText !== null && mayKeep(pressedText) ? pressedText : null, packed,
  };
  const id = isKeeping() ? await put(record).catch(() => null) : null;
  if (id === null) {
    last.kept = addRun(nameOf(record), packed); // for Compare alone, as long as this page is open
    return runIsKept(isWhole, { id: last.kept, packed });
  }
  keepCurrentRun(id);
  last.kept = id;
  if (!isSame && isWhole) expectRuns([before ?? NaN, id]); // what ended without a verdict is compared with nothing
  if (isWhole) before = id;
  await dropOldest();
  await redraw();
  if (!isSame) runIsKept(isWhole, { id, packed });
  return undefined;
}

// What the parsers said of a run that is kept, and shown no longer.
/**
 * @param {number} id
 * @param {string} text
 */
async function keepAnswers(id, text) {
  const packed = await packText(text);
  if (packed !== null && (await keepChanged(id, packed)) && id > 0) await redraw();
}

// What the page's server needs to draw a kept run; how one ended that has no verdict, its file does not say.
/**
 * @param {KeptRun} run
 * @param {boolean} isEdited
 * @param {boolean} [isChosen] from the list; a reload brings back the name of the example, too
 */
function asked(run, isEdited, isChosen = false) {
  const ended = run.ended ? { badge: run.badge, sentence: run.sentence.slice(0, MAX_SENTENCE) } : null;
  return { packed: run.packed, ended, is_edited: isEdited, is_chosen: isChosen };
}

// Brings the last run back after a reload; the text that was run goes where no one has typed meanwhile. Where it was
// edited since, the edited one stays, and the result is marked as one of the text before.
/**
 * @param {number} id
 * @param {string | null} text
 * @param {() => boolean} isFree
 */
const reopenKept = async (id, text, isFree) => {
  try {
    const run = await runOf(id);
    if (!view || !run || run.ran === null || !isFree()) return;
    if (text === null && !replaceRequest(run.ran)) return;
    awaited = id;
    openedRun(run.ran);
    view.ask("submit", asked(run, text !== null && text !== run.ran));
  } catch {
    // a browser that keeps nothing
  }
};

// Puts the runs side by side again that were so before a reload.
/** @param {number[]} ids */
const compareKept = async (ids) => {
  await redraw();
  chooseNamedRuns(ids);
};

host.reopenKept = reopenKept;
host.compareKept = compareKept;
onForget(forgetRuns);

// A title that was typed for a report is the run's name here, too.
/** @param {string} title */
export const nameCurrentRun = async (title) => {
  const id = last.kept;
  if (!title || !id) return;
  const run = await runOf(id);
  if (run) await put({ ...run, title });
  await redraw();
};

/** @param {KeptRun} run */
function reopen(run) {
  awaited = run.id;
  if (run.ran !== null && replaceRequest(run.ran)) {
    openedRun(run.ran);
    view?.ask("submit", asked(run, false, true));
  } else host.openPacked?.(run.packed); // its text held a key: the masked one of the file takes its place
  keepOpened(run);
  view?.show(false);
}

/** @param {KeptRun[]} runs */
function compare(runs) {
  host.panelChosen = true;
  openPanel("compare");
  view?.show(false);
  chooseRuns([...runs].sort((a, b) => a.at - b.at).map((run) => run.id));
}

/** @param {KeptRun} run */
async function save(run) {
  const text = await unpackText(run.packed);
  saveFile(new TextEncoder().encode(text), "application/json", "prompt-debugger-" + new Date(run.at).toISOString().slice(0, 19).replaceAll(":", "") + ".json");
}

// --- words ------------------------------------------------------------------------

/** @param {number} time */
function dayOf(time) {
  return new Date(time).toDateString();
}

// When it was, as people say it: only the clock on the same day.
/**
 * @param {number} time
 * @param {number} now
 */
export const timeWords = (time, now) => {
  const clock = new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (dayOf(time) === dayOf(now)) return clock;
  if (dayOf(time) === dayOf(now - 86_400_000)) return "yesterday " + clock;
  return new Date(time).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) + " " + clock;
};

// Whether there is a run that files can hold.
export const hasSharedRun = () => last.state !== "idle" && last.state !== "running" && !isUnread();

// A text that could not be read as a request has not run.
const isUnread = () => last.state === "error" && last.badge === "REQUEST";

// Which run the files of the Share menu hold.
export const sharedRunWords = () => {
  if (last.state === "idle") return "Nothing has run yet: files contain a run, so only the link to the request can be made. Press Run first.";
  if (isUnread()) return "The text could not be read, so nothing has run: only the link to the text can be made.";
  if (last.state === "running") return "A run is in progress: files can be made when it ends.";
  if (last.state === "recorded" && isOutdated()) {
    return "Your text has not run yet: files contain the recorded run of the example, the link contains the text in the editor. Press Run first.";
  }
  const which = last.state === "recorded" ? "the recorded run that is shown" : last.run ? "your run of " + timeWords(Number(last.at), Date.now()) : "the run that was opened";
  const edited = isOutdated() ? " The request was edited since: files contain the one that was run, the link contains the text in the editor." : "";
  return "Files contain " + which + ": " + last.badge + "." + edited;
};

// --- the menu ---------------------------------------------------------------------

builders.history = (root) => {
  root.classList.add("pd-share", "pd-history");
  const toggle = button("History \u25be", "pd-small pd-share-toggle", () => show(Boolean(menu.hidden)), "Runs kept in this browser");
  toggle.setAttribute("aria-controls", "pd-history-menu");
  const menu = make("div", "pd-share-menu pd-history-menu");
  menu.id = "pd-history-menu";
  menu.setAttribute("role", "group");
  menu.setAttribute("aria-label", "History");
  const list = make("ul", "pd-history-list");
  const both = button("Compare the two selected", "", () => compare(chosen()));
  const forget = button("Forget all", "", () => forgetRuns());
  const bar = make("p", "pd-history-bar");
  bar.append(both, forget);
  menu.append(list, bar, keepSwitch("pd-history-keep"));
  root.append(toggle, menu);
  /** @type {KeptRun[]} */
  let runs = [];
  let isNaming = false; // a name is being typed: drawn when it has ended
  view = { ask: (event, data) => root.pdAsk(event, data), show, draw };
  show(false);
  redraw();

  /** @param {boolean} isOpen */
  function show(isOpen) {
    menu.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) boxes().forEach((box) => (box.checked = false));
    if (isOpen) redraw().then(() => (/** @type {HTMLElement | null} */ (list.querySelector("button")) || forget).focus());
  }

  function boxes() {
    return [.../** @type {NodeListOf<HTMLInputElement>} */ (list.querySelectorAll("input[type=checkbox]:checked"))];
  }

  function chosen() {
    const ids = boxes().map((box) => Number(box.value));
    return runs.filter((run) => ids.includes(run.id));
  }

  function enable() {
    both.disabled = chosen().length !== 2;
    forget.disabled = !runs.length;
  }

  /** @param {KeptRun[]} all */
  function draw(all) {
    const ticked = chosen().map((run) => run.id); // the list is drawn whenever a run has ended, also under one who chooses
    runs = all;
    if (isNaming) return;
    const none = make("li", "pd-muted pd-history-none", isKeeping() ? "No runs yet: each one appears here when it has ended." : "Runs are not kept: the switch below is off.");
    list.replaceChildren(...(runs.length ? runs.map((run) => row(run, ticked.includes(run.id))) : [none]));
    enable();
  }

  /**
   * @param {KeptRun} run
   * @param {boolean} isTicked
   */
  function row(run, isTicked) {
    const item = make("li", "pd-history-run");
    item.dataset.tone = run.tone;
    const box = make("input", "");
    box.type = "checkbox";
    box.value = String(run.id);
    box.checked = isTicked;
    const name = run.title || run.sentence;
    box.setAttribute("aria-label", "Compare: " + timeWords(run.at, Date.now()) + ", " + run.badge);
    box.addEventListener("change", enable);
    const open = button("", "pd-share-form pd-history-open", () => reopen(run), "Open this run again");
    const head = make("span", "pd-history-head");
    head.append(make("time", "", timeWords(run.at, Date.now())), make("span", "pd-badge", run.badge), make("span", "pd-share-hint", run.target));
    open.append(head, prose("span", "pd-history-name", name));
    const more = make("span", "pd-history-more");
    more.append(
      button("Rename", "pd-small", () => rename(item, open, run)),
      button("Export", "pd-small", () => save(run), "Save it as a JSON bundle"),
      button("Forget", "pd-small", () => drop([run.id]).then(redraw)),
    );
    item.append(box, open, more);
    return item;
  }

  /**
   * @param {HTMLElement} item
   * @param {HTMLElement} open
   * @param {KeptRun} run
   */
  function rename(item, open, run) {
    const field = make("input", "pd-history-title");
    field.value = run.title;
    field.maxLength = MAX_TITLE;
    field.placeholder = "A name for this run";
    field.setAttribute("aria-label", "Name of the run");
    const end = async () => {
      if (!isNaming) return; // it has ended: a field that goes away loses the focus, too
      isNaming = false;
      await put({ ...run, title: field.value.trim() });
      await redraw();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") end();
      if (event.key === "Escape") {
        isNaming = false;
        redraw();
      }
      if (event.key === "Enter" || event.key === "Escape") event.stopPropagation();
    });
    field.addEventListener("blur", end, { once: true });
    item.replaceChild(field, open);
    isNaming = true;
    field.focus();
  }

  // Wherever the focus is: the list may have been drawn anew under it.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || menu.hidden) return;
    show(false);
    toggle.focus();
  });
  document.addEventListener("pointerdown", (event) => root.contains(/** @type {Node} */ (event.target)) || (menu.hidden ? undefined : show(false)));
  return { show: (decoded) => decoded && keep(decoded).finally(() => expectRun(false)) };
};

// The name of a run in a list: when, to the second, on what, and how it ended.
/** @param {Omit<KeptRun, "id">} run */
function nameOf(run) {
  const seconds = String(new Date(run.at).getSeconds()).padStart(2, "0");
  return [timeWords(run.at, Date.now()) + ":" + seconds, run.title, run.target, run.badge].filter(Boolean).join(" \u00b7 ");
}

async function redraw() {
  /** @type {KeptRun[]} */
  const runs = await allRuns().catch(() => []);
  view?.draw(runs);
  offerRuns(runs.map((run) => ({ id: run.id, name: nameOf(run), packed: run.packed, isCut: Boolean(run.ended) })));
}
