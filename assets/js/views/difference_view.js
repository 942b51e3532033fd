// @ts-check
// Above the prompt's tokens: where server and local prompt part.
import { builders } from "../lib/builders.js";
import { button, make, prose } from "../lib/dom.js";
import { jump, point } from "./linking.js";
import { plural, visibleText } from "../lib/payload.js";

builders.difference = (root) => {
  root.classList.add("pd-difference");
  return {
    show(decoded) {
      const difference = decoded ? /** @type {DifferencePayload} */ (decoded.header) : null;
      root.dataset.state = difference ? difference.state : "empty";
      if (!difference) return root.replaceChildren();
      const line = make("p", "pd-difference-line");
      line.append(make("span", "", difference.sentence));
      const at = difference.first_token;
      if (at !== null) line.append(button("Show token " + at, "pd-small", () => jump({ in: "prompt", token_span: [at, at + 1] })));
      root.replaceChildren(line);
      if (difference.cause) root.append(prose("p", "pd-cause", difference.cause));
      for (const [label, parts] of difference.texts) root.append(side(label, parts));
      if (difference.notes.length) root.append(notes(difference.notes));
      if (difference.costs) root.append(costBar(difference.costs));
    },
  };
};

/**
 * What each part of the prompt costs: a bar whose pieces lead to their tokens.
 * @param {TokenCosts} costs
 */
function costBar({ total, parts, rest, sentence }) {
  const box = make("div", "pd-costs");
  const bar = make("div", "pd-cost-bar");
  bar.setAttribute("role", "toolbar"); // one stop for Tab, however many parts there are
  rove(bar);
  bar.setAttribute("aria-label", "Tokens by part of the request. " + sentence);
  parts.forEach(({ label, field, kind, first, tokens }) => {
    const words = visibleText(label, false) + ": " + plural(tokens, "token") + ", " + Math.round((100 * tokens) / total) + " %";
    const piece = make("button", "pd-cost pd-cost-" + (COST_KINDS.has(kind) ? kind : "others"));
    piece.type = "button";
    piece.tabIndex = bar.childElementCount ? -1 : 0;
    piece.title = words;
    piece.addEventListener("click", () => jump({ in: "prompt", token_span: [first, first + 1] }));
    piece.style.flexGrow = String(tokens);
    piece.setAttribute("aria-label", words);
    piece.append(make("span", "pd-cost-label", visibleText(label.split(" ")[0], false)));
    const light = () => point("costs", { parts: [["", label], ["costs", plural(tokens, "token")], ["of", total.toLocaleString("en")]], ...(field ? { field } : {}) });
    piece.addEventListener("mouseenter", light);
    piece.addEventListener("focus", light);
    bar.append(piece);
  });
  if (rest) {
    const others = make("span", "pd-cost pd-cost-others", "");
    others.style.flexGrow = String(rest);
    others.title = "others: " + plural(rest, "token");
    bar.append(others);
  }
  box.append(make("p", "pd-cost-words", sentence), bar);
  return box;
}

// Arrows move between the buttons of a bar, and Tab comes back to the last one.
/** @param {HTMLElement} bar */
function rove(bar) {
  bar.addEventListener("keydown", (event) => {
    const pieces = /** @type {HTMLElement[]} */ ([...bar.querySelectorAll("button")]);
    const at = pieces.findIndex((piece) => piece === document.activeElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: pieces.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    pieces[(next + pieces.length) % pieces.length].focus();
  });
  bar.addEventListener("focusin", ({ target }) => bar.querySelectorAll("button").forEach((piece) => (piece.tabIndex = piece === target ? 0 : -1)));
}

const COST_KINDS = new Set(["messages", "tools", "template"]);

/**
 * @param {string} label
 * @param {[before: string, apart: string, after: string]} parts
 */
function side(label, [before, apart, after]) {
  const row = make("div", "pd-side");
  const text = make("code", "");
  text.append(
    make("span", "pd-muted", visibleText(before, true)),
    make("mark", "", visibleText(apart || "", true) || "\u2205"),
    make("span", "pd-muted", visibleText(after, true)),
  );
  row.append(make("span", "pd-side-label", label), text);
  return row;
}

/** @param {string[]} items */
function notes(items) {
  const list = make("ul", "pd-notes");
  list.append(...items.map((item) => prose("li", "", item)));
  return list;
}
