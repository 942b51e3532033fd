// @ts-check
// A further question about a raw output: the first token that a server which forces the form of calls had not let through.
import { bench, placeButton } from "./bench.js";
import { builders } from "../lib/builders.js";
import { make, prose } from "../lib/dom.js";
import { jumpButton, mark, shown } from "./parser_views.js";

/**
 * @typedef {{ place: string, jump: Goal | null, cause: string, accepted: string, token: string, anything_but: boolean, allowed: string[],
 *   may_end: boolean, sentence: string, rule: { path: string, text: string } | null, forgiven: string }} Intervention
 * @typedef {{ call: string, schema: string, llguidance: string, jump: Goal | null, note: string }} Opinion
 * @typedef {{ status: string, word: string, constrains: string, starts: { text: string, jump: Goal | null } | null,
 *   interventions: Intervention[], then: string, opinion: Opinion | null, reading: { word: string, sentence: string,
 *   jump: Goal | null } | null, notes: string[] }} ConstrainedHeader
 */

builders.constrained = (root, name) =>
  bench(
    root,
    name,
    "A server can force the form of tool calls by masking tokens. Would it have allowed this output? If not: the first token that it would have changed, what it would have allowed there, and which line of the request requires it. The output is not necessarily wrong; it would have been different.",
    (header) => (header.status ? constrained(header) : []),
  );

/**
 * @param {ConstrainedHeader} header
 * @returns {Node[]}
 */
function constrained(header) {
  const parts = [];
  /** @type {Record<string, string>} */
  const states = { legal: "right", steered: "lossy", incomplete: "right" };
  const state = states[header.status] || "untried";
  const status = make("p", "pd-constrained-status");
  status.append(mark(state === "right" ? "\u2713" : state === "lossy" ? "\u21b7" : "\u2013", header.word, state), " ", make("strong", "", header.word));
  if (header.constrains) status.append(prose("span", "pd-muted", header.constrains));
  parts.push(status);
  if (header.starts) {
    const line = make("p", "pd-muted", header.starts.text + " ");
    line.append(jumpButton("show", header.starts.jump));
    parts.push(line);
  }
  if (header.interventions.length) {
    const list = make("ol", "pd-interventions");
    header.interventions.forEach((item, i) => list.append(intervention(item, i)));
    parts.push(list);
  }
  if (header.then) parts.push(prose("p", "pd-then", "Then: " + header.then));
  if (header.opinion) parts.push(opinion(header.opinion));
  if (header.reading) {
    const line = prose("p", "", "Markers read by token id: " + header.reading.word + ". " + header.reading.sentence + " ");
    if (header.reading.jump) line.append(jumpButton("token", header.reading.jump));
    parts.push(line);
  }
  header.notes.forEach((note) => parts.push(prose("p", "pd-muted", note)));
  return parts;
}

/**
 * @param {Intervention} item
 * @param {number} i
 */
function intervention(item, i) {
  const box = make("li", "pd-intervention");
  const head = make("p", "pd-effect-head");
  head.append(make("strong", "", i ? "next, with that relaxed" : "first"), jumpButton(item.place, item.jump), make("span", "pd-cause-word", item.cause));
  box.append(head);
  const came = make("p", "pd-came");
  const token = make("code", "pd-came-text");
  if (item.accepted) token.append(make("span", "pd-accepted", shown(item.accepted)));
  token.append(make("span", "pd-steered", shown(item.token.slice(item.accepted.length)) || "the end"));
  came.append(make("span", "pd-muted", "came "), token, make("span", "pd-muted", " allowed "));
  if (item.anything_but) came.append(make("span", "", "almost anything but this"));
  item.allowed.forEach((text) => came.append(make("code", "pd-allowed", shown(text)), " "));
  if (item.may_end) came.append(make("span", "pd-allowed", "the end"));
  if (!item.anything_but && !item.allowed.length && !item.may_end) came.append("nothing");
  box.append(came, prose("p", "", item.sentence));
  if (item.rule) {
    const rule = make("p", "pd-rule");
    rule.append(placeButton({ field: item.rule.path }) || "", make("code", "pd-inline-code", item.rule.text));
    box.append(rule);
  }
  if (item.forgiven) box.append(prose("p", "pd-muted", "To judge the rest: " + item.forgiven + "."));
  return box;
}

/** @param {Opinion} one */
function opinion(one) {
  const list = make("dl", "pd-facts");
  list.append(make("dt", "", "JSON Schema"), make("dd", "", one.schema));
  const other = make("dd", "", one.llguidance + " ");
  if (one.jump) other.append(jumpButton("show", one.jump));
  if (one.note) other.append(make("span", "pd-muted", " (" + one.note + ")"));
  list.append(make("dt", "", "LLGuidance"), other);
  const box = make("div", "pd-opinion");
  box.append(prose("p", "", "Second opinions on the arguments of `" + one.call + "`:"), list);
  return box;
}
