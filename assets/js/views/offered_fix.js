// @ts-check
// What would fix a finding: each change of the request, and on the page the ways to try it, copy it, apply it.
import { button, commandText, copyText, make, prose } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { plural, visibleText } from "../lib/payload.js";

/** @typedef {{ code: string, state: string, sentence: string, hint: string, short: string, calls?: number[] | null, applies?: boolean, revealed?: string }} News
 *   How trying a fix went: `short` is its end in few words, `applies` whether the request is what it changes, `revealed` the next error. */

/** @type {Record<string, string>} */
const STATES = { untried: "not tried", running: "trying", worked: "tested: it works", failed: "tested: it does not help", error: "not tried", stopped: "stopped" };
/** @type {string | null} */
let key = null; // the run that is shown
/** @type {Map<string, News>} */
let outcomes = new Map(); // how trying a fix of it ended, by the finding's code
/** @type {((news: News) => void)[]} */
const listeners = [];

/** @param {(news: News) => void} listener Is called whenever a trial goes on or ends. */
export const onOffered = (listener) => listeners.push(listener);

// What was tried belongs to one run; a result of the same run that is drawn anew keeps it.
/** @param {string} shown */
export const offeredOf = (shown) => {
  if (shown === key) return;
  key = shown;
  outcomes = new Map();
};

/** @type {(code: string, fix: OfferedFix) => HTMLElement} */
export const offeredBox = (code, fix) => {
  const box = make("section", "pd-offered");
  box.dataset.code = code;
  box.setAttribute("aria-label", "Fix of " + code);
  const head = make("div", "pd-offered-head");
  head.append(make("span", "pd-fix-label", "Fix"), prose("span", "pd-offered-name", fix.name), make("span", "pd-offered-state", ""));
  box.append(head);
  if (fix.changes.length) box.append(changeList(fix));
  if (fix.source) box.append(sourceBox(fix));
  if (fix.command) box.append(commandBox(fix.command));
  const said = make("p", "pd-offered-told", "");
  said.setAttribute("role", "status");
  box.append(said);
  if (host.order) box.append(actions(code, fix, said)); // a report has nothing to ask
  drawState(box, outcomes.get(code) || { code, state: "untried", sentence: "", hint: "", short: "" });
  return box;
};

// What there is to copy: some lines for the client, or the change of the template.
/** @param {OfferedFix} fix */
function sourceBox(fix) {
  const fold = make("details", "pd-fix-source");
  fold.open = fix.source.length < 1200;
  const text = make("pre", "pd-text", "");
  text.textContent = visibleText(fix.source, false);
  text.tabIndex = 0;
  text.setAttribute("role", "region");
  text.setAttribute("aria-label", fix.name);
  const title = fix.kind === "client" ? "For your client: call it with each message" : "Change of the template";
  fold.append(make("summary", "", title), text, button("copy", "pd-small", (event) => copyText(fix.source, event.currentTarget)));
  return fold;
}

/** @param {OfferedFix} fix */
function changeList(fix) {
  const list = make("ul", "pd-offered-changes");
  fix.changes.forEach((one) => {
    const item = make("li", "pd-offered-change");
    item.append(host.placeButton?.({ field: one.field }) || make("code", "pd-inline-code", one.field));
    if (one.before !== null) item.append(side("before", "\u2212", "was", one.before));
    if (one.after !== null) item.append(side("after", "+", "becomes", one.after));
    list.append(item);
  });
  if (fix.more) list.append(make("li", "pd-muted", "\u2026 and " + plural(fix.more, "further change")));
  return list;
}

/**
 * @param {string} name
 * @param {string} sign
 * @param {string} word
 * @param {string} text
 */
function side(name, sign, word, text) {
  const row = make("div", "pd-change-side pd-change-" + name);
  const mark = make("span", "pd-change-sign", sign);
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", word);
  row.append(mark, make("span", "", visibleText(text, true)));
  return row;
}

/** @param {string} command */
export const commandBox = (command) => {
  const box = make("div", "pd-command");
  box.append(commandText(command), button("copy", "pd-small", (event) => copyText(command, event.currentTarget)));
  return box;
};

/**
 * @param {string} code
 * @param {OfferedFix} fix
 * @param {HTMLElement} said
 */
function actions(code, fix, said) {
  const box = make("div", "pd-offered-actions");
  if (fix.can_try) {
    const trying = button("Try the fix", "pd-try", () => {
      showOutcome({ code, state: "running", sentence: "Starting \u2026", hint: "", short: "" });
      host.order?.("pd-try-fix", code, said);
    });
    trying.title = "Run the changed request on the same server: is the finding gone, without a new one?";
    const stop = button("Stop", "pd-small pd-try-stop", () => {
      host.order?.("pd-stop-fix", code, said);
      showOutcome({ code, state: "stopped", sentence: "Stopped before it ended.", hint: "", short: "" });
    });
    box.append(trying, stop);
  }
  if (fix.kind !== "request") return box;
  box.append(button("Apply and run", "", () => {
    host.goesOn = false;
    host.order?.("pd-apply-fix", code, said);
  }, "Put the changed request into the editor and run it; Compare then shows both runs"));
  box.append(make("span", "pd-muted", "Copy as"));
  [["JSON", "json"], ["curl", "curl"], ["Python", "python"]].forEach(([title, form]) => {
    box.append(button(title, "pd-small", () => host.order?.("pd-copy-fix", form + " " + code, said)));
  });
  return box;
}

/**
 * @param {HTMLElement} box
 * @param {News} news
 */
function drawState(box, { state, sentence, hint }) {
  box.dataset.state = state;
  const [shown, said] = [".pd-offered-state", ".pd-offered-told"].map((selector) => box.querySelector(selector));
  if (shown) shown.textContent = STATES[state];
  said?.replaceChildren(prose("span", "", [sentence, hint].filter(Boolean).join(" ")));
  const [trying, stop] = [".pd-try", ".pd-try-stop"].map((selector) => /** @type {HTMLButtonElement | null} */ (box.querySelector(selector)));
  if (!trying || !stop) return;
  trying.disabled = state === "running";
  stop.hidden = state !== "running";
}

/** @param {News} news */
function showOutcome(news) {
  const known = outcomes.get(news.code);
  if (known && known.state === "stopped" && news.state === "running" && news.sentence !== "Starting \u2026") return;
  outcomes.set(news.code, news);
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".pd-offered")).forEach((box) => box.dataset.code === news.code && drawState(box, news));
  listeners.forEach((listener) => listener(news));
}

// No more will come of the trials that run.
/**
 * @param {string} sentence
 * @param {string} [before] what was said of those that are to have another sentence
 */
export const stopTrials = (sentence, before) => {
  const ended = [...outcomes.values()].filter((news) => news.state === "running" || (before && news.sentence === before));
  ended.forEach(({ code }) => showOutcome({ code, state: "stopped", sentence, hint: "", short: "" }));
};

/** The findings whose fixes are being tried. */
export const codesOnTrial = () => [...outcomes.values()].filter((news) => news.state === "running").map((news) => news.code);

export { showOutcome };
