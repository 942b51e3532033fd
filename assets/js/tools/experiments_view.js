// @ts-check
// Experiments on the request: switches with their token differences, turns, counts, two setups.
import { bench, lineButton, placeButton, placesOf } from "./bench.js";
import { builders } from "../lib/builders.js";
import { button, make, prose, region, table } from "../lib/dom.js";
import { point } from "../views/linking.js";
import { order } from "../page/orders.js";
import { plural, visibleText } from "../lib/payload.js";

/**
 * @typedef {{ sentence: string, template_line: number | null }} Failure
 * @typedef {{ name: string, change: string, fields: string[], difference: Difference, failure: Failure }} Switch
 * @typedef {{ index: number, state: string, sentence: string, failure: Failure | null, cause: string, certainty: string, at: number,
 *   removed: DifferenceChip[], added: DifferenceChip[], lead: DifferenceChip[], before: Place | null, after: Place | null,
 *   remedies: string[] }} Turn
 * @typedef {{ names: string[], words: string, also: string[], count: number, off_by: number }} Explanation
 */

// --- chips: tokens taken out and put in -----------------------------------------------

/** @param {string} text */
const shownText = (text) => visibleText(text, true).replace(/\n/g, "");

/**
 * @param {DifferenceChip} chip
 * @param {string} mark
 */
function chip([text, kind, ids, bytes], mark) {
  if (kind === "more") return make("span", "pd-chip-more", "\u2026 " + text);
  const element = make("span", "pd-chip pd-chip-" + kind + (mark ? " pd-" + mark : ""));
  element.textContent = shownText(text) || "\u2205";
  element.title = [ids && "id " + ids, kind !== "text" && kind, bytes && "bytes " + bytes].filter(Boolean).join(" \u00b7 ");
  element.addEventListener("mouseover", () => {
    /** @type {Fact[]} */
    const parts = [["", JSON.stringify(text), "text"], ["", kind, kind === "special" ? "special" : ""]];
    if (ids) parts.unshift([ids.includes(" ") ? "ids" : "id", ids]);
    if (bytes) parts.push(["bytes", bytes]);
    point("bench", { parts });
  });
  return element;
}

/**
 * @param {string} sign
 * @param {string} word
 * @param {DifferenceChip[]} chips
 * @param {string} mark
 * @param {DifferenceChip[]} [lead]
 * @param {DifferenceChip[]} [tail]
 */
function side(sign, word, chips, mark, lead, tail) {
  const row = make("div", "pd-diff-side pd-diff-" + mark);
  const label = make("span", "pd-diff-sign", sign);
  label.setAttribute("role", "img");
  label.setAttribute("aria-label", word);
  const box = make("span", "pd-diff-chips");
  (lead || []).forEach((one) => box.append(chip(one, "beside")));
  if (chips.length) chips.forEach((one) => box.append(chip(one, mark)));
  else box.append(make("span", "pd-diff-none", "nothing"));
  (tail || []).forEach((one) => box.append(chip(one, "beside")));
  row.append(label, box);
  return row;
}

/**
 * @param {DifferenceHunk} one
 * @param {string} unit
 */
function hunk(one, unit) {
  const box = make("div", "pd-hunk");
  box.append(make("span", "pd-hunk-at", unit + " " + one.at));
  const sides = make("div", "pd-hunk-sides");
  sides.append(side("\u2212", "taken out", one.removed, "removed", one.lead, one.tail));
  sides.append(side("+", "put in", one.added, "added", one.lead, one.tail));
  box.append(sides);
  return box;
}

const SHOWN_HUNKS = 3;

/**
 * @param {Difference} found
 * @param {string} key
 */
function difference(found, key) {
  const box = make("div", "pd-hunks");
  found.hunks.slice(0, SHOWN_HUNKS).forEach((one) => box.append(hunk(one, found.unit)));
  const rest = found.hunks.slice(SHOWN_HUNKS);
  if (rest.length) {
    const more = make("details", "pd-more");
    more.dataset.key = key;
    more.append(make("summary", "", plural(rest.length, "more place")));
    rest.forEach((one) => more.append(hunk(one, found.unit)));
    box.append(more);
  }
  found.notes.forEach((note) => box.append(make("p", "pd-muted", note)));
  return box;
}

/** @param {Difference} found */
const figures = (found) => "\u2212" + found.removed + " +" + found.added + " " + found.unit + "s";

// --- switches -----------------------------------------------------------------------------

builders.switches = (root, name) =>
  bench(root, name, "Each switch changed, one at a time: the generation prompt, thinking, tools, content, arguments, ids, what vLLM does to a request. You see which tokens appear or disappear.", (header) => [
    header.failure && failureBox("As pasted", header.failure),
    ...header.mends.map((/** @type {Switch} */ one) => entry(one, "mends", make("p", "", "The request renders with this switch; as pasted, it does not."))),
    ...header.changes.map(change),
    ...header.fails.map((/** @type {Switch} */ one) => entry(one, "refused", failureBox("", one.failure))),
    header.nothing.length && plainList("Changes nothing", header.nothing),
    header.absent.length && absentList(header.absent),
    header.untried.length && plainList("Not tested: rendering reached its time limit", header.untried.map((/** @type {string} */ title) => [title, ""])),
  ]);

/** @param {Switch} one */
function change(one) {
  const found = one.difference;
  const body = make("div", "");
  body.append(difference(found, one.name));
  const places = placesOf(found.before, found.after);
  if (places) body.append(places);
  return entry(one, figures(found), body);
}

/**
 * @param {Switch} one
 * @param {string} figure
 * @param {HTMLElement} body
 */
function entry(one, figure, body) {
  const box = make("section", "pd-effect");
  box.dataset.switch = one.name;
  const head = make("h2", "pd-effect-head");
  head.append(make("code", "pd-effect-name", one.name), make("span", "pd-effect-figure", figure));
  const said = make("span", "pd-muted pd-effect-said", "");
  said.setAttribute("role", "status");
  if (one.fields.length) head.append(button("Apply and run", "pd-small", () => order("pd-apply-switch", one.name, said), "Put the changed request into the editor and run it; Compare then shows both runs"), said);
  const what = prose("p", "pd-effect-change", one.change);
  if (one.fields.length) what.append(make("span", "pd-muted", " (" + one.fields.join(", ") + ")"));
  box.append(head, what, body);
  return box;
}

/**
 * @param {string} label
 * @param {Failure} failure
 */
function failureBox(label, failure) {
  const box = make("div", "pd-failure");
  box.append(prose("span", "", (label ? label + ": " : "") + failure.sentence));
  if (failure.template_line) box.append(lineButton(failure));
  return box;
}

/**
 * @param {string} title
 * @param {[item: string, hint: string][]} items
 */
function plainList(title, items) {
  const box = make("p", "pd-plain-list");
  box.append(make("strong", "", title + ": "));
  items.forEach(([item, hint], i) => {
    const code = make("code", "pd-inline-code", item);
    if (hint) code.title = visibleText(hint, false);
    box.append(i ? " " : "", code);
  });
  return box;
}

/** @param {[reason: string, names: string[]][]} groups */
function absentList(groups) {
  const box = make("details", "pd-absent");
  box.dataset.key = "absent";
  const count = groups.reduce((sum, [, names]) => sum + names.length, 0);
  box.append(make("summary", "", plural(count, "switch").replace("switchs", "switches") + (count === 1 ? " does" : " do") + " not apply, and why"));
  const list = make("ul", "");
  groups.forEach(([reason, names]) => {
    const item = make("li", "");
    names.forEach((one) => item.append(make("code", "pd-inline-code", one), " "));
    item.append(prose("span", "pd-muted", reason));
    list.append(item);
  });
  box.append(list);
  return box;
}

// --- turns -----------------------------------------------------------------------------------

builders.turns = (root, name) =>
  bench(root, name, "For each past assistant turn: does the next prompt begin with the earlier prompt and the model's output? A server's prefix cache depends on it.", (header) => [
    ...(header.turns.length ? [turnList(header.turns)] : []),
    header.note && make("p", "pd-muted", header.note),
  ]);

/** @type {Record<string, string>} */
const TURN_MARKS = { kept: "\u2713", broken: "\u2715", failed: "?" };

/** @param {Turn[]} turns */
function turnList(turns) {
  const list = make("ol", "pd-turns");
  list.append(...turns.map(turnItem));
  return list;
}

/** @param {Turn} turn */
function turnItem(turn) {
  const item = make("li", "pd-turn pd-turn-" + turn.state);
  const head = make("p", "pd-turn-head");
  const mark = make("span", "pd-turn-mark", TURN_MARKS[turn.state]);
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", turn.state);
  head.append(mark, placeButton({ field: "messages[" + turn.index + "]" }) || "", make("span", "", turn.sentence));
  item.append(head);
  if (turn.failure) item.append(failureBox("", turn.failure));
  if (turn.state !== "broken") return item;
  const cause = prose("p", "pd-turn-cause", turn.cause + " ");
  cause.append(make("span", "pd-muted", "(" + turn.certainty + ")"));
  item.append(make("p", "pd-hunk-at", "parts at " + turn.at), cause);
  const sides = make("div", "pd-hunk-sides");
  sides.append(side("\u2212", "was there", turn.removed, "removed", turn.lead), side("+", "is there now", turn.added, "added", turn.lead));
  item.append(sides);
  const places = placesOf(turn.before, turn.after);
  if (places) item.append(places);
  if (turn.remedies.length) item.append(plainList("Mended by", turn.remedies.map((one) => [one, ""])));
  return item;
}

// --- token count --------------------------------------------------------------------------------

builders.token_count = (root, name) =>
  bench(root, name, "A closed server shows no prompt, only usage.prompt_tokens. Enter that number: every likely way to render the request is counted, and the matching ones are listed.", (header) => [
    header.agreement && agreementBox(header.agreement),
    countTable(header),
    ...header.notes.map((/** @type {string} */ note) => make("p", "pd-muted", note)),
  ]);

/** @param {{ sentence: string, names: string[] }} agreement */
function agreementBox(agreement) {
  const box = plainList(agreement.sentence, agreement.names.map((one) => [one, ""]));
  box.classList.add("pd-agreement");
  return box;
}

/** @param {{ explanations: Explanation[] }} header */
function countTable(header) {
  const heads = ["Tokens", "Off by", "Set otherwise", "What it does"];
  const made = table("Renders, nearest to the number first", heads, header.explanations.map(countRow), "pd-count-table");
  return region("Renders by their token count", "pd-scroll", made);
}

/** @param {Explanation} one */
function countRow(one) {
  const row = make("tr", one.off_by === 0 ? "pd-exact" : "");
  const off = one.off_by === 0 ? "= exact" : (one.off_by > 0 ? "+" : "\u2212") + Math.abs(one.off_by);
  const names = make("td", "");
  (one.names.length ? one.names : ["as pasted"]).forEach((title, i) => names.append(i ? " + " : "", make("code", "pd-inline-code", title)));
  const what = prose("td", "pd-words", one.words);
  if (one.also.length) what.append(make("span", "pd-muted", " Other settings give the same prompt: " + one.also.join("; ") + "."));
  row.append(make("td", "pd-figure-cell", one.count), make("td", "pd-figure-cell", off), names, what);
  return row;
}

// --- two setups -----------------------------------------------------------------------------------

builders.setups = (root, name) =>
  bench(root, name, "Another version of the template, or another tokenizer, on the same request: where do the two prompts diverge, token by token?", (header) => [
    prose("p", "pd-muted", "Second: " + header.other + "."),
    sideCounts(header.sides),
    header.difference && difference(header.difference, "setups"),
    header.difference && placesOf(header.difference.before, header.difference.after),
  ]);

/** @param {{ name: string, count: string, failure: Failure | null }[]} sides */
function sideCounts(sides) {
  const list = make("ul", "pd-setup-sides");
  sides.forEach((one) => {
    const item = make("li", "");
    item.append(make("strong", "", one.name + ": "), one.count || "");
    if (one.failure) item.append(failureBox("no prompt", one.failure));
    list.append(item);
  });
  return list;
}

export { difference as drawDifference, side as drawSide };
