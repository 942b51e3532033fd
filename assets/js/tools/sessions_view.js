// @ts-check
// Sessions of agents: a bar per request, and below it where the prefix cache breaks, why, and what to do.
import { bench } from "./bench.js";
import { builders } from "../lib/builders.js";
import { make, prose } from "../lib/dom.js";
import { visibleText } from "../lib/payload.js";

/**
 * @typedef {{ at: string, cause: string, cure: string, before: string, after: string }} Break
 * @typedef {{ number: number, parts: [name: string, share: number][], words: string, server: string, break: Break | null }} SessionTurn
 * @typedef {{ title: string, turns: SessionTurn[], more: number }} Session
 */

const HINT = "Paste or drop the requests of an agent: a capture, a HAR, lines of requests, a session file. Each request is a bar: what a server had computed before, what it has to compute again, and where and why the prefix breaks.";
/** @type {[name: string, word: string][]} */
const LEGEND = [["kept", "kept"], ["again", "computed again"], ["new", "new"]];

builders.sessions = (root, name) =>
  bench(root, name, HINT, (header) => [
    legend(),
    ...header.sessions.map(sessionBox),
    ...header.notes.map((/** @type {string} */ note) => make("p", "pd-muted", note)),
  ]);

function legend() {
  const line = make("p", "pd-session-legend");
  line.append(...LEGEND.map(([part, word]) => {
    const item = make("span", "");
    item.append(make("span", "pd-session-key pd-session-" + part), word);
    return item;
  }));
  return line;
}

/** @param {Session} session */
function sessionBox({ title, turns, more }) {
  const box = make("section", "pd-session");
  const list = make("ol", "pd-session-turns");
  list.append(...turns.map(turnRow));
  box.append(make("h3", "pd-session-title", title), list);
  if (more) box.append(make("p", "pd-muted", "\u2026 and " + more.toLocaleString("en") + " more requests"));
  return box;
}

/** @param {SessionTurn} turn */
function turnRow(turn) {
  const row = make("li", "pd-session-turn");
  const bar = make("span", "pd-session-bar");
  bar.setAttribute("aria-hidden", "true"); // the words next to it say the same
  turn.parts.forEach(([part, share]) => {
    const piece = make("span", "pd-session-" + part);
    piece.style.width = 100 * share + "%";
    bar.append(piece);
  });
  const words = make("span", "pd-session-words", turn.words);
  if (turn.server) words.append(make("span", "pd-muted", "; " + turn.server));
  row.append(make("span", "pd-session-number", String(turn.number)), bar, words);
  if (turn.break) row.append(breakBox(turn.break));
  return row;
}

/** @param {Break} broken */
function breakBox({ at, cause, cure, before, after }) {
  const box = make("div", "pd-session-break");
  const why = prose("p", "", "Breaks at " + at + ": " + cause);
  if (cure) why.append(prose("span", "pd-session-cure", " " + cure));
  box.append(why);
  [["\u2212", "was", before], ["+", "is now", after]].forEach(([sign, word, text]) => {
    const line = make("div", "pd-session-side");
    const mark = make("span", "pd-change-sign", sign);
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", word);
    line.append(mark, make("code", "", visibleText(text, true)));
    box.append(line);
  });
  return box;
}
