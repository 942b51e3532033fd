// @ts-check
// Log probabilities as a layer of the token view: levels, words for the inspector, alternatives at a token.
import { make } from "../lib/dom.js";
import { visibleText } from "../lib/payload.js";

const LEVELS = [0.9, 0.5, 0.1, 0.01]; // probability at least; a level below the last is the fifth
const WORDS = ["at least 90 %", "50 to 90 %", "10 to 50 %", "1 to 10 %", "under 1 %"];
const NEVER_NATS = -9000; // servers write about this for what cannot be

/**
 * @param {TokensHeader} header
 * @param {ArrayBuffer} columns
 * @returns {Heat | null}
 */
function heatOf(header, columns) {
  if (!header.heat) return null;
  const { offset, alternatives, limit } = header.heat;
  return { values: new Float32Array(columns, offset, header.count), alternatives: new Map(alternatives), limit };
}

// 0 for a token the model was sure of … 4 for one it hardly considered; -1 where nothing is known.
/** @param {number} logprob */
function heatLevel(logprob) {
  if (Number.isNaN(logprob)) return -1;
  const probability = Math.exp(logprob);
  const level = LEVELS.findIndex((least) => probability >= least - 1e-6);
  return level < 0 ? LEVELS.length : level;
}

/** @param {number} logprob */
function percent(logprob) {
  const value = Math.exp(logprob) * 100;
  if (logprob <= NEVER_NATS) return "0 %";
  if (value < 0.01) return "< 0.01 %";
  return (value >= 99.95 && logprob < 0 ? "> 99.9" : value >= 10 ? value.toFixed(1) : value.toPrecision(2)) + " %";
}

/** @param {number} logprob */
function nats(logprob) {
  return logprob <= NEVER_NATS ? "\u2212\u221e nats" : (logprob < 0 ? "\u2212" : "") + Math.abs(logprob).toFixed(3) + " nats";
}

// Alternatives of a chip as {text, id, logprob, isOwn}, likeliest first.
/**
 * @param {Heat} heat
 * @param {number} at
 * @param {Chip} chip
 * @returns {Alternative[]}
 */
function alternativesAt(heat, at, chip) {
  /** @type {(text: string, id: number | null) => boolean} */
  const isOwn = (text, id) => (id === null ? text === chip.text : chip.ids[0] === id);
  return (heat.alternatives.get(at) || []).map(([text, id, logprob]) => ({ text, id, logprob, isOwn: isOwn(text, id) }));
}

/** @param {{ text: string, id: number | null }} alternative */
function alternativeText({ text, id }) {
  const shown = text === "" ? (id === null ? "\u27e8bytes\u27e9" : "") : JSON.stringify(text);
  return shown + (id === null ? "" : (shown ? " " : "") + "id " + id);
}

// What the inspector says of a chip's probability.
/**
 * @param {Heat} heat
 * @param {number} at
 * @param {Chip} chip
 * @returns {Fact[]}
 */
function heatParts(heat, at, chip) {
  const logprob = heat.values[at];
  if (Number.isNaN(logprob)) return [["logprob", "not given"]];
  /** @type {Fact[]} */
  const parts = [["logprob", nats(logprob)], ["probability", percent(logprob), heatLevel(logprob) > 2 ? "bad" : ""]];
  const all = alternativesAt(heat, at, chip);
  const rank = all.findIndex((one) => one.isOwn);
  if (rank >= 0) parts.push(["rank", rank + 1 + " of " + all.length + " given"]);
  const others = all.filter((one) => !one.isOwn);
  if (others.length) {
    const more = others.length > 3 ? ", \u2026" : "";
    parts.push(["instead", others.slice(0, 3).map((one) => alternativeText(one) + " " + percent(one.logprob)).join(", ") + more]);
  }
  return parts;
}

// The strip under the tokens: the legend, and the alternatives at the token under the cursor.
class HeatStrip {
  constructor() {
    this.root = make("div", "pd-heat-strip");
    this.root.hidden = true;
    this.root.tabIndex = 0; // it may scroll
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", "Alternatives at the token");
    this.legend = make("div", "pd-heat-legend");
    WORDS.forEach((word, level) => {
      const item = make("span", "pd-legend-item");
      item.append(make("span", "pd-chip pd-heat-" + level, "abc"), " " + word);
      this.legend.append(item);
    });
    this.list = make("ol", "pd-alternatives");
    this.root.append(this.legend, this.list);
  }

  /**
   * @param {Heat} heat
   * @param {number} at
   * @param {Chip} chip
   */
  show(heat, at, chip) {
    const all = alternativesAt(heat, at, chip);
    const own = heat.values[at];
    if (!all.length) {
      const why = Number.isNaN(own) ? "There is no log probability for this token." : at >= heat.limit ? "Alternatives are kept for the first " + heat.limit + " tokens." : "No alternatives were requested: add top_logprobs to the request.";
      this.list.replaceChildren(make("li", "pd-muted", why));
      return;
    }
    this.list.replaceChildren(...all.map((one) => this.item(one)));
  }

  /** @param {Alternative} one */
  item(one) {
    const item = make("li", "pd-alternative" + (one.isOwn ? " pd-own" : ""));
    const bar = make("span", "pd-probability");
    bar.style.setProperty("--share", Math.exp(one.logprob).toFixed(4));
    const text = one.text === "" ? "\u27e8" + (one.id === null ? "bytes" : "id " + one.id) + "\u27e9" : visibleText(one.text, true).replace(/\n/g, "");
    item.append(make("span", "pd-alternative-text", text), bar, make("span", "pd-alternative-figure", percent(one.logprob)));
    if (one.id !== null && one.text !== "") item.append(make("span", "pd-muted", "id " + one.id));
    if (one.isOwn) item.append(make("span", "pd-own-word", "written"));
    return item;
  }
}

export { heatOf, heatLevel, heatParts, percent, nats, HeatStrip };
