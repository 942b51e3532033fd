// @ts-check
// One request by chat completions, Responses and Messages: a column each, and what differs, with its cause.
import { bench } from "./bench.js";
import { builders } from "../lib/builders.js";
import { make, prose, region, table } from "../lib/dom.js";
import { visibleText } from "../lib/payload.js";

/**
 * @typedef {{ name: string, same: string, other: string, note: string }} Part
 * @typedef {{ api: string, sentence: string, parts: Part[] }} Column
 * @typedef {{ between: string, where: string, detail: string, cause: string, is_explained: boolean }} Difference
 */

const TITLES = { prompt: "Prompt", raw: "Raw output", message: "Message" };

builders.apis = (root, name) =>
  bench(root, name, "The request of the last run, asked by chat completions, Responses and Messages on the same server: prompts, outputs and messages side by side, and the cause of each difference.", (/** @type {{ columns?: Column[], differences: Difference[] }} */ header) => {
    if (!header.columns) return [];
    return [header.differences.length > 0 && differences(header.differences), columns(header.columns)];
  });

/** @param {Difference[]} found */
function differences(found) {
  const rows = found.map((one) => {
    const row = make("tr"), cause = prose("td", one.is_explained ? "pd-words" : "pd-words pd-muted", one.cause);
    row.append(make("td", "", one.between), make("td", "", one.where), prose("td", "pd-words", one.detail), cause);
    return row;
  });
  return region("Differences", "pd-scroll pd-apis-differences", table("Differences", ["between", "where", "what differs", "cause"], rows));
}

/** @param {Column[]} found */
function columns(found) {
  const box = make("div", "pd-apis-columns");
  box.append(...found.map(({ api, sentence, parts }) => {
    const column = make("section", "pd-apis-column");
    column.append(make("h2", "pd-check-title", api), prose("p", "pd-muted", sentence));
    parts.forEach((part) => {
      const title = make("h3", "pd-apis-part", TITLES[/** @type {keyof typeof TITLES} */ (part.name)] + " ");
      title.append(make("span", "pd-muted", part.note));
      const text = make("pre", "pd-apis-text", visibleText(part.same, false));
      if (part.other) text.append(make("mark", "pd-apis-other", visibleText(part.other, false)));
      column.append(title);
      if (part.same || part.other) column.append(region(api + ": " + part.name, "pd-scroll", text));
    });
    return column;
  }));
  return box;
}
