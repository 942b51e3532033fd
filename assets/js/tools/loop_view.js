// @ts-check
// The tool loop: the turns so far, the seam before each, and fields for what the tools answer. What was typed stays until it was sent.
import { bench } from "./bench.js";
import { builders } from "../lib/builders.js";
import { button, make, prose, under } from "../lib/dom.js";
import { drawSide } from "./experiments_view.js";
import { order } from "../page/orders.js";
import { plural, visibleText } from "../lib/payload.js";

/**
 * @typedef {{ text: string, token_id: number | null, lead: string, tail: string, field: string | null, template_line: number | null }} SeamSide
 * @typedef {{ sentence: string, problem: string, before: SeamSide | null, after: SeamSide, unit: string, first: number, kept: number,
 *   known: number, lost: number }} Seam
 * @typedef {{ name: string, arguments: string }} Call
 * @typedef {{ number: number, tone: string, badge: string, verdict: string, content: string, written: number, returned: number,
 *   outcomes: string[], finish_reason: string, seam: Seam | null, said: { who: string, text: string }[], calls: Call[] }} Turn
 * @typedef {{ turns: Turn[], open: Call[], turns_left: number }} LoopHeader
 */

const HINT = "After a run: answer the tool calls of its message, and the model continues. Each prompt is compared with the previous prompt and the model's output after it.";

let shown = ""; // what the fields are for
/** @type {{ answers: HTMLTextAreaElement[], stub: HTMLTextAreaElement, user: HTMLTextAreaElement, turns: HTMLInputElement,
 *   warning: HTMLElement } | null} */
let fields = null; // {answers: [field], stub, user, turns, warning}
let known = { stub: "", turns: 1 }; // what outlives a turn

export const loopOrder = () => {
  if (!fields) return "{}";
  keep();
  const answers = fields.answers.map((field) => field.value);
  return JSON.stringify({ answers, stub: fields.stub.value, user: fields.user.value, turns: Number(fields.turns.value) });
};

function keep() {
  if (fields) known = { stub: fields.stub.value, turns: Number(fields.turns.value) || 1 };
}

builders.loop = (root, name) => {
  const form = make("div", "pd-answers");
  const view = bench(root, name, HINT, (header) => {
    drawForm(form, header);
    tellRefused(header);
    return [turnList(header.turns), form];
  });
  return {
    show(decoded) {
      if (!decoded) [shown, fields] = ["", null];
      view.show(decoded);
    },
  };
};

// Why it did not continue is shown next to the fields, and the field that lacks an answer has the focus.
/** @param {{ state: string, sentence: string }} header */
function tellRefused({ state, sentence }) {
  if (!fields) return;
  const isRefused = state === "refused";
  fields.warning.replaceChildren(...(isRefused ? [prose("span", "", sentence)] : []));
  const missing = isRefused ? fields.answers.find((field) => !field.value.trim()) : undefined;
  fields.answers.forEach((field) => field.toggleAttribute("aria-invalid", false));
  missing?.setAttribute("aria-invalid", "true");
  const { user } = fields;
  if (isRefused) queueMicrotask(() => (missing || user).focus()); // once the form is in its place again
}

// --- the turns ---------------------------------------------------------------------------

/** @param {Turn[]} turns */
function turnList(turns) {
  const list = make("ol", "pd-loop-turns");
  list.append(...turns.map(turnItem));
  return list;
}

/** @param {Turn} turn */
function turnItem(turn) {
  const item = make("li", "pd-loop-turn");
  item.dataset.tone = turn.tone;
  if (turn.seam) item.append(seamBox(turn.seam));
  turn.said.forEach((one) => item.append(said(one.who, one.text)));
  const head = make("div", "pd-loop-head");
  const counts = plural(turn.written, "call") + " written, " + turn.returned + " returned";
  head.append(make("h2", "pd-loop-title", "Turn " + turn.number), make("span", "pd-badge", turn.badge));
  head.append(make("span", "pd-muted", [counts, ...turn.outcomes, turn.finish_reason && "finish reason " + turn.finish_reason].filter(Boolean).join(" \u00b7 ")));
  const note = make("span", "pd-muted", "");
  note.setAttribute("role", "status");
  head.append(
    button("Open the run", "pd-small", () => order("pd-open-turn", String(turn.number), note), "Show this turn in all views"),
    button("Request into the editor", "pd-small", () => order("pd-turn-request", String(turn.number), note), "The whole request of this turn, to run it or to change it"),
    note,
  );
  item.append(head, prose("p", "", turn.verdict));
  if (turn.content) item.append(said("assistant", turn.content));
  turn.calls.forEach((call) => item.append(said("calls " + call.name, call.arguments)));
  return item;
}

/**
 * @param {string} who
 * @param {string} text
 */
function said(who, text) {
  const row = make("div", "pd-loop-said");
  row.append(make("strong", "", who), make("span", "pd-loop-text", visibleText(text, false)));
  return row;
}

/** @param {Seam} seam */
function seamBox(seam) {
  const box = make("div", "pd-seam");
  box.dataset.state = seam.problem ? "unknown" : seam.before ? "broken" : "whole";
  box.append(prose("p", "", seam.sentence));
  if (!seam.before) return box;
  const sides = make("div", "pd-hunk-sides");
  sides.append(drawSide("\u2212", "was there", chips(seam.before), "removed", beside(seam.before.lead), beside(seam.before.tail)));
  sides.append(drawSide("+", "is there now", chips(seam.after), "added", beside(seam.after.lead), beside(seam.after.tail)));
  box.append(make("p", "pd-hunk-at", seam.unit + " " + seam.first + ": " + seam.kept + " of " + seam.known + " kept, " + seam.lost + " to be recomputed"), sides);
  const places = [place("was", seam.before), place("is", seam.after)].filter(Boolean);
  if (places.length) box.append(make("p", "pd-muted", places.join("; ")));
  return box;
}

/**
 * @param {SeamSide} one
 * @returns {DifferenceChip[]}
 */
const chips = (one) => (one.text ? [[one.text, "text", one.token_id === null ? "" : String(one.token_id), ""]] : []);
/**
 * @param {string} text
 * @returns {DifferenceChip[]}
 */
const beside = (text) => (text ? [[text, "text", "", ""]] : []);

/**
 * @param {string} word
 * @param {SeamSide} one
 */
function place(word, one) {
  const parts = [one.field, one.template_line && "template line " + one.template_line].filter(Boolean);
  return parts.length ? word + " " + parts.join(", ") : "";
}

// --- what the tools answer ---------------------------------------------------------------------

// The fields are made anew only where another turn waits for them.
/**
 * @param {HTMLElement} form
 * @param {LoopHeader} header
 */
function drawForm(form, header) {
  const wanted = JSON.stringify([header.turns.length, header.open]);
  if (wanted === shown && fields) return;
  keep();
  shown = wanted;
  const made = {
    answers: header.open.map((call) => field("Answer of " + call.name, "Result of the tool; empty: the default answer below")),
    stub: field("Answers by tool, as JSON", '{"get_weather": {"temperature": 20}, "*": "done"}', known.stub),
    user: field("Next user message (optional)", "A further message after the answers"),
    turns: make("input", "pd-number"),
    warning: make("p", "pd-loop-told", ""),
  };
  made.warning.setAttribute("role", "alert");
  fields = made;
  Object.assign(made.turns, { type: "number", min: 1, max: Math.max(1, header.turns_left), value: Math.min(known.turns, Math.max(1, header.turns_left)) });
  const asked = header.open.map((call, at) => labelled(made.answers[at], "calls " + call.name + "(" + call.arguments + ")"));
  const saying = make("span", "pd-muted", "");
  saying.setAttribute("role", "status");
  const row = make("p", "pd-offered-actions");
  const turns = make("label", "pd-variant-number", "Turns at most ");
  turns.append(made.turns);
  const save = button("Save the conversation", "pd-small", () => order("pd-save-loop", "", saying), "All turns with their account, as JSON; what looks like a key is masked");
  row.append(turns, make("span", "pd-muted", "later ones only with the default answers"), save, saying);
  form.replaceChildren(made.warning, ...asked, labelled(made.user, "Next user message (optional)"), labelled(made.stub, "Answers by tool, as JSON: * is for any other"), row);
}

/**
 * @param {string} name
 * @param {string} placeholder
 * @param {string} [value]
 */
function field(name, placeholder, value) {
  const made = make("textarea", "pd-answer-field");
  made.rows = 2;
  made.spellcheck = false;
  made.value = value || "";
  made.placeholder = placeholder;
  made.setAttribute("aria-label", name);
  return made;
}

/**
 * @param {HTMLElement} made
 * @param {string} words
 */
function labelled(made, words) {
  const label = make("label", "pd-answer", "");
  label.append(make("span", "", visibleText(words, false)), made);
  return label;
}

// The conversation is looked at anew whenever the panel is opened: another run begins another one.
document.addEventListener("click", (event) => {
  const tab = under(event, "#pd-tab-fix, #pd-tab-of-pd-fix-loop");
  if (tab) order("pd-show-loop", "", null);
});
