// @ts-check
// Above the prompt's tokens: where server and local prompt part.
import { builders } from "../lib/builders.js";
import { button, make, prose } from "../lib/dom.js";
import { jump } from "./linking.js";
import { visibleText } from "../lib/payload.js";

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
    },
  };
};

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
