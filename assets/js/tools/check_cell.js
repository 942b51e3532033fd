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
      const header = decoded.header;
      if (header.state === "error") return root.append(prose("p", "pd-bench-sentence", header.sentence + " " + header.hint));
      root.append(cellHead(header), sides(header));
      if (header.deltas.length) root.append(deltas(header));
      if (header.account) root.append(...differences(header.account));
      const open = document.querySelector(".pd-check-open");
      if (open) open.scrollIntoView({ block: "nearest" }); // the sheet must not cover what it is about
    },
  };
};

/** @param {CellHeader} header */
function cellHead(header) {
  const head = make("header", "pd-check-cell-head");
  const title = make("h2", "pd-check-title");
  title.append(make("code", "pd-effect-name", header.short), " \u00b7 " + header.about);
  head.append(title, button("Open in Parse", "", () => takeCell?.(header.parser, header.answer), header.by_hand));
  head.append(button("Close", "", (event) => event.currentTarget.closest(".pd")?.replaceChildren()));
  const words = header.cell.problem || (header.cell.remark ? "Comes back; " + header.cell.remark + "." : "Comes back unchanged, whole and streamed.");
  head.append(prose("p", "pd-check-problem", header.cell.streamed === "untried" && header.cell.state === "pass" ? "Comes back unchanged; streaming was not tried." : words));
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

/** @param {CellHeader} header */
function sides(header) {
  const box = make("div", "pd-check-sides");
  const sent = pane("The answer that went in", "", make("span", "", JSON.stringify(header.sent, null, 1)));
  const raw = pane("Raw output, by outcome", "");
  const back = pane("What came back", header.account ? header.account.figures : "");
  if (header.prompt_tail) raw.body.append(make("span", "pd-muted pd-check-tail", visibleText(header.prompt_tail.slice(-60), false)));
  (header.account ? header.account.segments : []).forEach((one) => {
    const isAlarm = one.fate === "lost" || one.fate === "altered";
    const element = make("span", "pd-fate pd-fate-" + one.fate, visibleText(one.text, isAlarm));
    element.title = one.word;
    raw.body.append(element);
  });
  if (header.account) drawJson(back.body, header.account.message);
  if (header.account && header.account.missing) back.body.append(make("p", "pd-missing", header.account.missing));
  box.append(sent.element, raw.element, back.element);
  return box;
}

/** @param {CellHeader} header */
function deltas(header) {
  const row = make("div", "pd-deltas pd-check-deltas");
  row.append(make("span", "pd-muted", "The smallest chunking that fails:"));
  header.deltas.forEach((text) => {
    const one = make("span", "pd-delta");
    one.append(make("code", "pd-delta-text", visibleText(text, true) || "\u2205"));
    row.append(one);
  });
  if (header.more_deltas) row.append(make("span", "pd-muted", "\u2026 " + plural(header.more_deltas, "delta") + " more"));
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
