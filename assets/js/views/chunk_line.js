// @ts-check
// The stream as a line of time: a tick for each chunk where it came, taller where tokens stand behind it, and a list.
import { make } from "../lib/dom.js";
import { walk } from "./linking.js";
import { plural, visibleText } from "../lib/payload.js";

/**
 * @typedef {[at: number, kind: string, text: string, tokens: number, span: [number, number] | null]} Chunk
 * @typedef {{ chunks: Chunk[], figures: string, total_s: number }} Timing
 */

/** @type {Record<string, string>} */
const WORDS = { content: "content", reasoning: "reasoning", call: "tool call", end: "finish_reason", empty: "no text" };

/** @param {number} value */
const seconds = (value) => (value < 1 ? Math.round(value * 1000) + " ms" : value.toFixed(2) + " s");

/**
 * @param {Chunk[]} chunks
 * @param {number} at
 * @returns {Facts}
 */
function factsOf(chunks, at) {
  const [when, kind, text, tokens, span] = chunks[at];
  /** @type {Fact[]} */
  const parts = [["chunk", at + 1 + " of " + chunks.length], ["at", seconds(when)]];
  if (at) parts.push(["gap", "+" + seconds(when - chunks[at - 1][0])]);
  if (tokens) parts.push(["carries", plural(tokens, "token")]);
  parts.push(["", WORDS[kind]]);
  if (text) parts.push([kind === "empty" ? "its tokens wrote" : "", text, "text"]);
  return span ? { parts, raw: [span] } : { parts };
}

/**
 * @param {Timing} timing
 * @param {string} name of the view
 */
export function chunkLine({ chunks, figures, total_s: total }, name) {
  const box = make("section", "pd-chunks");
  const head = make("header", "pd-bar");
  head.append(make("span", "pd-pane-title", "Chunks in time"), make("span", "pd-counts", figures));
  const line = make("div", "pd-chunk-line");
  line.tabIndex = 0;
  line.setAttribute("role", "group");
  line.setAttribute("aria-label", "Chunks in time: " + figures + ". Arrow keys go from chunk to chunk.");
  chunks.forEach(([when, kind], at) => {
    const tick = make("span", "pd-chunk pd-chunk-" + kind);
    tick.style.left = (100 * when) / (total || 1) + "%";
    tick.dataset.at = String(at);
    line.append(tick);
  });
  const axis = make("p", "pd-chunk-axis");
  axis.append(make("span", "", "0"), make("span", "", seconds(total)));
  const more = make("details", "pd-more");
  more.append(make("summary", "", "As a list"));
  more.addEventListener("toggle", () => more.childNodes.length > 1 || more.append(listOf(chunks)));
  box.append(head, line, axis, more);
  walk(line, name, ".pd-chunk", (tick) => factsOf(chunks, Number(tick.dataset.at)));
  return box;
}

/** @param {Chunk[]} chunks */
function listOf(chunks) {
  const list = make("ol", "pd-net-events pd-chunk-list");
  list.tabIndex = 0;
  chunks.forEach(([when, kind, text, tokens], at) => {
    const item = make("li", "pd-chunk-row");
    const gap = at ? "+" + seconds(when - chunks[at - 1][0]) : "";
    item.append(
      make("span", "pd-net-at", seconds(when)), make("span", "pd-net-at", gap), make("span", "pd-muted", tokens ? plural(tokens, "token") : ""),
      make("span", "", WORDS[kind]), make("code", "", visibleText(text, true)),
    );
    list.append(item);
  });
  return list;
}
