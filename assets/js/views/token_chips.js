// @ts-check
// How a token view draws its chips, and what it tells of one.
import { make } from "../lib/dom.js";
import { hexOfText, visibleText } from "../lib/payload.js";
import { heatLevel, heatParts } from "./heat.js";
import { runValue, tokenOfChip } from "./token_layout.js";

/** @typedef {import("./token_view.js").TokenView} TokenView */

const HUES = 6;
const KINDS = ["text", "special", "added", "byte"];

/**
 * @param {TokenView} view
 * @param {number} r
 */
function drawRow(view, r) {
  const { merged, index } = view.shownData();
  const { chip, offset, count } = view.shownRows();
  const row = make("div", "pd-row");
  row.setAttribute("role", "presentation");
  row.dataset.gutter = offset[r] ? "" : String(tokenOfChip(merged, chip[r])); // drawn by the style: no element
  const stopChip = r + 1 < count ? chip[r + 1] : index.length;
  const stopOffset = r + 1 < count ? offset[r + 1] : 0;
  for (let at = chip[r]; at < stopChip || (at === stopChip && stopOffset > 0); at++) {
    const from = at === chip[r] ? offset[r] : 0;
    row.append(drawChip(view, at, from, at === stopChip ? stopOffset : undefined));
  }
  return row;
}

/**
 * @param {TokenView} view
 * @param {number} at
 * @param {number} from
 * @param {number | undefined} to
 */
function drawChip(view, at, from, to) {
  const { table, index } = view.shownData();
  const entry = index[at];
  const kind = table[entry];
  const text = view.display.shown[entry].slice(from, to);
  const element = document.createElement("span");
  element.className = classOf(view, at, kind);
  element.textContent = text.endsWith("\n") ? text.slice(0, -1) : text; // the table holds visible text already
  element.dataset.at = String(at);
  if (from > 0) {
    element.setAttribute("role", "presentation");
    return element;
  }
  element.setAttribute("role", "option");
  element.setAttribute("aria-posinset", String(at + 1));
  element.setAttribute("aria-setsize", String(index.length));
  element.setAttribute("aria-selected", String(at === view.active));
  if (kind.role) element.setAttribute("aria-label", visibleText(kind.text, false) + ", " + kind.role);
  else if (text.trim() === "") element.setAttribute("aria-label", JSON.stringify(kind.text));
  if (at === view.active) element.id = view.activeId();
  return element;
}

/**
 * @param {TokenView} view
 * @param {number} at
 * @param {Chip} chip
 */
function classOf(view, at, chip) {
  let name = "pd-chip pd-chip-" + KINDS[chip.kind] + " pd-hue-" + (at % HUES);
  if (view.options.heat && view.data?.heat) name += " pd-heat-" + heatLevel(view.data.heat.values[at]);
  if (chip.injected) name += " pd-injected";
  if (at === view.active) name += " pd-active";
  return name + view.marks.classOf(at);
}

// Everything known of the chip at `at`, for the inspector and the other views.
/**
 * @param {TokenView} view
 * @param {number} at
 * @returns {Facts}
 */
function factsOf(view, at) {
  const { merged, fields, field_runs, line_runs, heat } = view.shownData();
  const chip = view.chipOf(at);
  const token = tokenOfChip(merged, at);
  const field = fields[runValue(field_runs, at)] || null;
  const line = runValue(line_runs, at);
  const many = chip.ids.length > 1;
  /** @type {Fact[]} */
  const parts = [
    [many ? "tokens" : "token", many ? token + "\u2013" + (token + chip.ids.length - 1) : token],
    [many ? "ids" : "id", chip.ids.join(" ")],
    ["", JSON.stringify(chip.text), "text"],
    ["", KINDS[chip.kind] + (chip.role ? ": " + chip.role : ""), chip.kind === 1 ? "special" : ""],
    ["bytes", chip.hex || hexOfText(chip.text)],
  ];
  if (chip.injected) parts.splice(3, 0, ["", "injected by request data", "bad"]);
  if (view.options.heat && heat) parts.splice(4, 0, ...heatParts(heat, at, chip));
  if (line > 0) parts.push(["template line", line]);
  if (field) parts.push(["from", field]);
  /** @type {Facts} */
  const facts = { parts, at, field, template_line: line > 0 ? line : null };
  if (view.name !== "live_tokens") facts.place = view.where + ".t" + token;
  const { points } = view.where === "raw" ? view.text() : { points: null };
  if (points) facts.raw = [[points[at], points[at + 1]]];
  return facts;
}

export { drawRow, factsOf };
