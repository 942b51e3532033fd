// @ts-check
// The Fix panel: what to change and what that will cost, the table of what came of it, the smallest request, the test.
import { bench } from "./bench.js";
import { builders } from "../lib/builders.js";
import { commandBox } from "../views/offered_fix.js";
import { button, copyText, make, prose, region, table, under } from "../lib/dom.js";
import { applyRequest, order, answerAt } from "../page/orders.js";
import { plural, visibleText } from "../lib/payload.js";
import { saveFile } from "../lib/packing.js";

/**
 * @typedef {{ key: string, name: string, finding: string | null, ticked: boolean, can_run: boolean, max_tokens: number | null,
 *   changes: { field: string }[] }} Variant
 * @typedef {{ variants: Variant[], most_runs: number, max_tokens: number | null, requests: number, prompt_tokens: number | null }} VariantsHeader
 * @typedef {{ boxes: Map<string, HTMLInputElement>, samples: HTMLInputElement, budget: HTMLInputElement, stop: HTMLInputElement,
 *   ids: HTMLInputElement, logprobs: HTMLInputElement }} Choice
 * @typedef {{ name: string, finding: string | null, problem: string, command: string, runs: string[], n: number, written: number,
 *   returned: number, dropped: number, valid: number, finish_reasons: string, interval: string, change: string, better: number,
 *   margin: string }} Trial
 */

// --- what to change -----------------------------------------------------------------

/** @type {Choice | null} */
let choice = null; // {boxes: Map(key → checkbox), samples, budget, stop, ids, logprobs} of the list that is shown

export const chosenTrials = () => {
  if (!choice) return "{}";
  const chosen = [...choice.boxes].filter(([, box]) => box.checked).map(([key]) => key);
  const { samples, budget, stop, ids, logprobs } = choice;
  return JSON.stringify({ chosen, samples: Number(samples.value), budget: Number(budget.value), stop: stop.value, stop_token_ids: ids.value, logprobs: logprobs.checked });
};

/** @type {() => unknown} */
let sayWaiting = () => {}; // in place of the list, until it comes
const HAS_RUN = ".pd-verdict:is([data-state=done], [data-state=recorded])";

builders.variants = (root) => {
  root.classList.add("pd-variants");
  /** @param {string} words */
  const say = (words) => root.replaceChildren(make("p", "pd-empty", words));
  const empty = () => say("After a run: what to change of its request, one thing at a time, and what it costs to test.");
  empty();
  sayWaiting = () => choice || say("Looking for what can be changed in the request of this run \u2026");
  return {
    show(decoded) {
      choice = null;
      if (!decoded) return empty();
      const header = decoded.header;
      if (header.state === "error") return root.replaceChildren(prose("p", "pd-empty", [header.sentence, header.hint].filter(Boolean).join(" ")));
      drawVariants(root, header);
    },
  };
};

/**
 * @param {HTMLElement} root
 * @param {VariantsHeader} header
 */
function drawVariants(root, header) {
  /** @type {Choice} */
  const made = { boxes: new Map(), samples: number("Runs of each", 1, 20, 1), budget: number("Runs at most", 1, header.most_runs, Math.min(12, header.most_runs)),
    stop: word("Stop at the text", "\\n\\n"), ids: word("Stop at the token ids", "163586, 163585"), logprobs: make("input", "") };
  choice = made;
  const suspected = make("ul", "pd-variant-list"), others = make("ul", "pd-variant-list");
  header.variants.forEach((one) => (one.ticked ? suspected : others).append(variant(made, one)));
  const rest = make("details", "pd-more");
  rest.dataset.key = "others";
  const stops = make("p", "pd-variant-numbers");
  stops.append(labelled(made.stop), labelled(made.ids));
  rest.append(make("summary", "", others.childNodes.length ? plural(others.childNodes.length, "further change") + " to choose from, and other stops to type" : "Other stops to type"), others, stops);
  const cost = make("p", "pd-variant-cost", "");
  cost.setAttribute("role", "status");
  const numbers = make("div", "pd-variant-numbers");
  numbers.append(labelled(made.samples), labelled(made.budget), marginBox(made));
  const none = make("p", "pd-muted", "No finding of this run has a fix that can be applied automatically: choose what to change.");
  root.replaceChildren(suspected.childNodes.length ? suspected : none, rest, numbers, cost);
  if (!suspected.childNodes.length) rest.open = true;
  const tellCost = () => (cost.textContent = costOf(made, header));
  root.oninput = tellCost;
  tellCost();
}

/** @param {Choice} choice */
function marginBox(choice) {
  const label = make("label", "pd-variant");
  choice.logprobs.type = "checkbox";
  label.title = "Each run also requests log probabilities: how likely was the marker that opens a call, compared with its strongest rival?";
  label.append(choice.logprobs, make("span", "", "with trigger margin"));
  return label;
}

/**
 * @param {string} label
 * @param {string} placeholder
 */
function word(label, placeholder) {
  const field = make("input", "pd-number pd-word");
  field.type = "text";
  field.placeholder = placeholder;
  field.setAttribute("aria-label", label);
  return field;
}

/**
 * @param {Choice} choice
 * @param {Variant} one
 */
function variant(choice, one) {
  const item = make("li", "");
  const label = make("label", "pd-variant");
  const box = make("input", "");
  box.type = "checkbox";
  box.checked = one.ticked;
  choice.boxes.set(one.key, box);
  label.append(box, prose("span", "pd-variant-name", one.name));
  if (one.finding) label.append(make("span", "pd-muted", "fixes " + one.finding));
  if (!one.can_run) label.append(make("span", "pd-muted", "requires a restart of the server: you get the flags"));
  item.append(label);
  const fields = one.changes.map((change) => change.field);
  if (fields.length) item.append(make("span", "pd-variant-fields", fields.join(", ")));
  box.dataset.runs = String(one.can_run);
  box.dataset.mostTokens = JSON.stringify(one.max_tokens);
  return item;
}

/**
 * @param {string} label
 * @param {number} least
 * @param {number} most
 * @param {number} value
 */
function number(label, least, most, value) {
  const field = make("input", "pd-number");
  field.type = "number";
  field.min = String(least);
  field.max = String(most);
  field.value = String(value);
  field.setAttribute("aria-label", label);
  return field;
}

/** @param {HTMLElement} field */
function labelled(field) {
  const label = make("label", "pd-variant-number", field.getAttribute("aria-label") + " ");
  label.append(field);
  return label;
}

// What it will cost, before it starts: the unchanged request is always one of the variants.
/**
 * @param {Choice} choice
 * @param {VariantsHeader} header
 */
function costOf(choice, header) {
  const typed = [choice.stop, choice.ids].filter((field) => field.value.trim()).map(() => header.max_tokens);
  /** @type {(number | null)[]} */
  const limits = [header.max_tokens, ...typed, ...[...choice.boxes.values()].filter((box) => box.checked && box.dataset.runs === "true").map((box) => JSON.parse(box.dataset.mostTokens || "null"))];
  const chosen = limits.length;
  const samples = Number(choice.samples.value) || 1;
  const wanted = chosen * samples;
  const runs = Math.min(wanted, Number(choice.budget.value) || 1);
  const text = plural(chosen, "variant") + " (the unchanged request is one), " + plural(samples, "run") + " of each: " + plural(runs, "run") + (runs < wanted ? " of " + wanted : "");
  const asked = runs * header.requests;
  const sent = header.prompt_tokens === null ? "" : ", about " + (asked * header.prompt_tokens).toLocaleString("en") + " prompt tokens";
  const each = limits.flatMap((limit) => Array(samples).fill(limit)).slice(0, runs);
  const most = each.reduce((sum, limit) => sum + (limit || 0) * header.requests, 0);
  const made = each.includes(null) ? ", answers as long as the server allows" : ", at most " + most.toLocaleString("en") + " new tokens";
  return text + ". Up to " + plural(asked, "request") + " to the model" + sent + made + ".";
}

// --- what came of it ---------------------------------------------------------------------

const MARGIN = "trigger margin";
const HEADS = ["variant", "runs", "written", "returned", "dropped", "schema-valid", "finish reasons", "returned per written, 95 %", "against unchanged"];

builders.trials = (root, name) =>
  bench(root, name, "One row for each variant: calls the model wrote, calls the server returned, and the change from the unchanged request. Each run can be opened.", (header) => [
    header.rows && header.rows.length && trialTable(header.rows),
  ]);

/** @param {Trial[]} rows */
function trialTable(rows) {
  const hasMargin = rows.some((row) => row.margin);
  const heads = hasMargin ? [...HEADS, MARGIN] : HEADS;
  const made = table("Result of each variant", heads, rows.map((row) => trialRow(row, hasMargin)), "pd-trial-table");
  made.querySelectorAll("th").forEach((cell) => {
    if (cell.textContent === MARGIN) cell.title = "Probability of the marker that opens a call, minus that of its strongest rival, where a call could have begun; mean over the runs";
  });
  return region("Experiments", "pd-scroll", made);
}

/**
 * @param {Trial} row
 * @param {boolean} hasMargin
 */
function trialRow(row, hasMargin) {
  const line = make("tr", row.better > 0 ? "pd-better" : row.better < 0 ? "pd-worse" : "");
  const title = make("td", "pd-words");
  title.append(prose("strong", "pd-trial-name", row.name));
  if (row.finding) title.append(make("span", "pd-muted", " fixes " + row.finding));
  if (row.problem) title.append(prose("p", "pd-trial-problem", row.problem));
  if (row.command) title.append(make("p", "pd-muted", "Start your server like this:"), commandBox(row.command));
  line.append(title);
  const runs = make("td", "pd-trial-runs");
  row.runs.forEach((key, at) => runs.append(button(String(at + 1), "pd-small", () => order("pd-open-trial", key, null), "Open run " + (at + 1) + " of it")));
  if (!row.n) runs.append(make("span", "pd-muted", row.command ? "not run" : "0"));
  line.append(runs);
  [row.written, row.returned, row.dropped, row.valid].forEach((figure) => line.append(make("td", "pd-figure-cell", row.n ? figure : "\u2013")));
  line.append(make("td", "pd-words", row.finish_reasons || "\u2013"), make("td", "pd-figure-cell", row.n ? row.interval : "\u2013"));
  const mark = row.better === 1 ? "\u25b2 " : row.better === -1 ? "\u25bc " : "";
  line.append(make("td", "pd-words", row.change ? mark + row.change : "\u2013"));
  if (hasMargin) line.append(make("td", "pd-figure-cell", row.margin || "\u2013"));
  return line;
}

// --- the smallest request -------------------------------------------------------------------

/** @param {Decoded} decoded */
const textOf = (decoded) => new TextDecoder().decode(decoded.columns);

// A view of the bench's kind that has a text next to its header.
/**
 * @param {HTMLElement} root
 * @param {string} name
 * @param {string} hint
 * @param {(header: any, text: string) => Node[]} draw
 * @returns {View}
 */
function viewWithText(root, name, hint, draw) {
  let text = "";
  const inner = bench(root, name, hint, (header) => draw(header, text));
  return {
    show(decoded) {
      text = decoded ? textOf(decoded) : "";
      inner.show(decoded);
    },
  };
}

/**
 * @param {string} text
 * @param {string} label
 */
function sourceBox(text, label) {
  const box = make("pre", "pd-text pd-source", "");
  box.textContent = visibleText(text, false);
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  return box;
}

/**
 * @param {string} label
 * @param {string} text
 */
const copying = (label, text) => button(label, "pd-small", (event) => copyText(text, event.currentTarget));

builders.shrunk = (root, name) =>
  viewWithText(root, name, "Messages, tools, properties and text are left out as long as the same finding stays and the same calls are missing. The smallest request is confirmed by three further runs.", (header, text) => {
    if (!text) return [];
    const row = make("p", "pd-offered-actions");
    const said = make("span", "pd-muted", "");
    said.setAttribute("role", "status");
    row.append(
      button("Open it in the editor", "", () => {
        answerAt(said);
        applyRequest(text, false);
      }),
      copying("Copy as JSON", text),
    );
    if (header.curl) row.append(copying("Copy as curl", header.curl));
    row.append(said);
    return [row, sourceBox(text, "The smallest request")];
  });

builders.upstream = (root, name) =>
  viewWithText(root, name, "One small file with the raw output, the tools and the calls that a parser must find; it needs no weights and no GPU. For vLLM it is run here, and the result is shown. Alternatively, a diff of the source, offered only if it is proven: the test fails without and passes with it, and other outputs are read as well as before.", (header, text) => {
    if (!text) return [];
    const row = make("p", "pd-offered-actions");
    row.append(copying("Copy", text), button("Save " + header.name, "pd-small", () => saveFile(new TextEncoder().encode(text), "text/plain", header.name)));
    return [row, sourceBox(text, header.name)];
  });

// The list of what can be changed is made anew whenever the panel is opened.
document.addEventListener("click", (event) => {
  const tab = under(event, "#pd-tab-fix");
  if (!tab) return;
  if (document.querySelector(HAS_RUN)) sayWaiting();
  order("pd-plan-trials", "", null);
});
