// @ts-check
// What would cure a finding: each change of the request, and on the page the ways to try it, copy it, apply it.
import { button, copyText, make, prose } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { plural, visibleText } from "../lib/payload.js";

/** @typedef {{ code: string, state: string, sentence: string, hint: string }} News How trying a cure went. */

/** @type {Record<string, string>} */
const STATES = { untried: "not tried", running: "trying", worked: "tried: it works", failed: "tried: it does not help", error: "not tried", stopped: "stopped" };
/** @type {string | null} */
let key = null; // the run that is shown
/** @type {Map<string, News>} */
let told = new Map(); // how trying a cure of it ended, by the finding's code

// What was tried belongs to one run; a result of the same run that is drawn anew keeps it.
/** @param {string} shown */
export const cureOf = (shown) => {
  if (shown === key) return;
  key = shown;
  told = new Map();
};

/** @type {(code: string, cure: Cure) => HTMLElement} */
export const cureBox = (code, cure) => {
  const box = make("section", "pd-cure");
  box.dataset.code = code;
  box.setAttribute("aria-label", "Cure of " + code);
  const head = make("div", "pd-cure-head");
  head.append(make("span", "pd-fix-label", "Cure"), prose("span", "pd-cure-name", cure.name), make("span", "pd-cure-state", ""));
  box.append(head);
  if (cure.changes.length) box.append(changeList(cure));
  if (cure.command) box.append(commandBox(cure.command));
  const said = make("p", "pd-cure-told", "");
  said.setAttribute("role", "status");
  box.append(said);
  if (host.order) box.append(actions(code, cure, said)); // a report has nothing to ask
  drawState(box, told.get(code) || { code, state: "untried", sentence: "", hint: "" });
  return box;
};

/** @param {Cure} cure */
function changeList(cure) {
  const list = make("ul", "pd-cure-changes");
  cure.changes.forEach((one) => {
    const item = make("li", "pd-cure-change");
    item.append(host.placeButton?.({ field: one.field }) || make("code", "pd-inline-code", one.field));
    if (one.before !== null) item.append(side("before", "\u2212", "was", one.before));
    if (one.after !== null) item.append(side("after", "+", "becomes", one.after));
    list.append(item);
  });
  if (cure.more) list.append(make("li", "pd-muted", "\u2026 and " + plural(cure.more, "further change")));
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
  box.append(make("code", "", command), button("copy", "pd-small", (event) => copyText(command, event.currentTarget)));
  return box;
};

/**
 * @param {string} code
 * @param {Cure} cure
 * @param {HTMLElement} said
 */
function actions(code, cure, said) {
  const box = make("div", "pd-cure-actions");
  if (cure.can_try) {
    const trying = button("Try the cure", "pd-try", () => {
      tell({ code, state: "running", sentence: "Starting \u2026", hint: "" });
      host.order?.("pd-try-cure", code, said);
    });
    trying.title = "Run the changed request on the same server: is the finding gone, and has nothing else come?";
    const stop = button("Stop", "pd-small pd-try-stop", () => {
      host.order?.("pd-stop-cure", code, said);
      tell({ code, state: "stopped", sentence: "Stopped before it ended.", hint: "" });
    });
    box.append(trying, stop);
  }
  if (cure.kind !== "request") return box;
  box.append(button("Apply and run", "", () => host.order?.("pd-apply-cure", code, said), "Put the changed request into the editor and run it; Compare opens with both"));
  box.append(make("span", "pd-muted", "Copy as"));
  [["JSON", "json"], ["curl", "curl"], ["Python", "python"]].forEach(([title, form]) => {
    box.append(button(title, "pd-small", () => host.order?.("pd-copy-cure", form + " " + code, said)));
  });
  return box;
}

/**
 * @param {HTMLElement} box
 * @param {News} news
 */
function drawState(box, { state, sentence, hint }) {
  box.dataset.state = state;
  const [shown, said] = [".pd-cure-state", ".pd-cure-told"].map((selector) => box.querySelector(selector));
  if (shown) shown.textContent = STATES[state];
  said?.replaceChildren(prose("span", "", [sentence, hint].filter(Boolean).join(" ")));
  const [trying, stop] = [".pd-try", ".pd-try-stop"].map((selector) => /** @type {HTMLButtonElement | null} */ (box.querySelector(selector)));
  if (!trying || !stop) return;
  trying.disabled = state === "running";
  stop.hidden = state !== "running";
}

/** @param {News} news */
function tell(news) {
  const known = told.get(news.code);
  if (known && known.state === "stopped" && news.state === "running" && news.sentence !== "Starting \u2026") return;
  told.set(news.code, news);
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".pd-cure")).forEach((box) => box.dataset.code === news.code && drawState(box, news));
}

export { tell as tellCure };
