// @ts-check
// One cell of a check's matrix: what went in, what came back, and where they diverge.
import { builders } from "../lib/builders.js";
import { takeCell } from "./check_view.js";
import { button, make, prose } from "../lib/dom.js";
import { drawJson } from "../views/json_view.js";
import { plural, visibleText } from "../lib/payload.js";

/**
 * @typedef {import("./check_view.js").CheckCell} CheckCell
 * @typedef {{ state: string, sentence: string, hint: string, short: string, about: string, parser: string, answer: string, by_hand: string,
 *   cell: CheckCell, sent: unknown, prompt_tail: string, account: LedgerAccount | null, deltas: string[], more_deltas: number }} CellHeader
 */

builders.check_cell = (root) => {
  root.classList.add("pd-check-detail");
  return {
    show(decoded) {
      root.replaceChildren();
      if (!decoded) return;
      const told = decoded.header;
      if (told.state === "error") return root.append(prose("p", "pd-bench-sentence", told.sentence + " " + told.hint));
      root.append(cellHead(told), sides(told));
      if (told.deltas.length) root.append(deltas(told));
      if (told.account) root.append(...differences(told.account));
      const open = document.querySelector(".pd-check-open");
      if (open) open.scrollIntoView({ block: "nearest" }); // the sheet must not cover what it is about
    },
  };
};

/** @param {CellHeader} told */
function cellHead(told) {
  const head = make("header", "pd-check-cell-head");
  const title = make("h2", "pd-check-title");
  title.append(make("code", "pd-effect-name", told.short), " \u00b7 " + told.about);
  head.append(title, button("Open in Parse", "", () => takeCell?.(told.parser, told.answer), told.by_hand));
  head.append(button("Close", "", (event) => event.currentTarget.closest(".pd")?.replaceChildren()));
  const words = told.cell.problem || (told.cell.remark ? "Comes back; " + told.cell.remark + "." : "Comes back unchanged, whole and streamed.");
  head.append(prose("p", "pd-check-problem", told.cell.streamed === "untried" && told.cell.state === "pass" ? "Comes back unchanged; streaming was not tried." : words));
  return head;
}

/**
 * @param {string} title
 * @param {string} note
 * @param {...Node} children
 */
function pane(title, note, ...children) {
  const element = make("section", "pd-pane");
  const bar = make("header", "pd-bar");
  bar.append(make("span", "pd-pane-title", title));
  if (note) bar.append(make("span", "pd-counts", note));
  const body = make("div", "pd-text");
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", title);
  body.append(...children);
  element.append(bar, body);
  return { element, body };
}

/** @param {CellHeader} told */
function sides(told) {
  const box = make("div", "pd-check-sides");
  const sent = pane("The answer that went in", "", make("span", "", JSON.stringify(told.sent, null, 1)));
  const raw = pane("Raw output, by outcome", "");
  const back = pane("What came back", told.account ? told.account.figures : "");
  if (told.prompt_tail) raw.body.append(make("span", "pd-muted pd-check-tail", visibleText(told.prompt_tail.slice(-60), false)));
  (told.account ? told.account.segments : []).forEach((one) => {
    const isAlarm = one.fate === "lost" || one.fate === "altered";
    const element = make("span", "pd-fate pd-fate-" + one.fate, visibleText(one.text, isAlarm));
    element.title = one.word;
    raw.body.append(element);
  });
  if (told.account) drawJson(back.body, told.account.message);
  if (told.account && told.account.missing) back.body.append(make("p", "pd-missing", told.account.missing));
  box.append(sent.element, raw.element, back.element);
  return box;
}

/** @param {CellHeader} told */
function deltas(told) {
  const row = make("div", "pd-deltas pd-check-deltas");
  row.append(make("span", "pd-muted", "The smallest chunking that fails:"));
  told.deltas.forEach((text) => {
    const one = make("span", "pd-delta");
    one.append(make("code", "pd-delta-text", visibleText(text, true) || "\u2205"));
    row.append(one);
  });
  if (told.more_deltas) row.append(make("span", "pd-muted", "\u2026 " + plural(told.more_deltas, "delta") + " more"));
  return row;
}

/** @param {LedgerAccount} account */
function differences(account) {
  return account.differences.map((one) => {
    const item = make("p", "pd-check-difference");
    item.append(make("code", "pd-inline-code", one.target), " " + one.word + ": ");
    /** @type {(stretches: [text: string, mark: string][]) => HTMLElement[]} */
    const side = (stretches) => stretches.map(([text, mark]) => make("span", mark ? "pd-check-changed" : "", visibleText(text, Boolean(mark))));
    item.append(...side(one.written), make("span", "pd-muted", " \u2192 "), ...side(one.returned));
    return item;
  });
}
