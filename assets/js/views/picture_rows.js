// @ts-check
// The rows of a text in a picture: cut to its width, and those that are worth drawing.
import { cellsOf } from "../lib/payload.js";

/**
 * @typedef {{ text: string, fate?: string, role?: string }} Run A stretch of text that is drawn in one way.
 * @typedef {{ rows: Run[][], above: number, below: number }} Part The rows of a text that are drawn.
 */

const MAX_ROWS = 60;
const ROWS_BEFORE = 8;
const MARKERS = /(<[^<>\s]{1,60}>)/; // control tokens, as raw outputs spell them

// Cuts [{text, …}] into rows of at most `columns` cells; a line break ends a row.
/**
 * @param {Run[]} runs
 * @param {number} columns
 * @returns {Run[][]}
 */
function layOut(runs, columns) {
  /** @type {Run[][]} */
  const rows = [[]];
  let used = 0;
  for (const run of runs) {
    let text = "";
    const flush = () => {
      if (text) rows[rows.length - 1].push({ ...run, text });
      text = "";
    };
    const nextRow = () => {
      flush();
      rows.push([]);
      used = 0;
    };
    for (const piece of run.text.split(MARKERS)) {
      if (piece.startsWith("<") && used + piece.length > columns && piece.length <= columns) nextRow(); // a marker stays whole
      for (const character of piece) {
        if (character === "\n") {
          nextRow();
          continue;
        }
        const cells = cellsOf(Number(character.codePointAt(0)));
        if (used + cells > columns) nextRow();
        text += character === "\t" ? " " : character;
        used += cells;
      }
    }
    flush();
  }
  return rows;
}

// The rows worth drawing: all of them, or those around the first that `isTelling`.
/**
 * @param {Run[][]} rows
 * @param {(run: Run) => boolean} isTelling
 * @returns {Part}
 */
function windowOf(rows, isTelling) {
  if (rows.length <= MAX_ROWS) return { rows, above: 0, below: 0 };
  const telling = Math.max(0, rows.findIndex((row) => row.some(isTelling)));
  const first = Math.max(0, Math.min(telling - ROWS_BEFORE, rows.length - MAX_ROWS));
  return { rows: rows.slice(first, first + MAX_ROWS), above: first, below: rows.length - first - MAX_ROWS };
}

export { layOut, windowOf };
