// @ts-check
// Where in a text a fault stands, as [start, stop) in UTF-16 units. Pure functions.
import { locateField } from "./field_paths.js";

const WORD = /"(?:[^"\\\n]|\\.)*"?|[\p{L}\p{N}_.+-]+|\S/uy;

/**
 * How many units the first `count` characters of a text take: Python counts code points.
 * @param {string} text
 * @param {number} count
 */
function unitsOf(text, count) {
  let units = 0;
  for (const character of text) {
    if (count-- <= 0) break;
    units += character.length;
  }
  return units;
}

/**
 * What is at a line and column, both from 1: a word, a string, one sign; at the end of a line what is before it.
 * Without a column the line, but for the blanks around it.
 * @param {string} text
 * @param {number} line
 * @param {number | null} [column]
 * @returns {[number, number] | null}
 */
export function wordAt(text, line, column) {
  let start = 0;
  for (let at = 1; at < line; at++) {
    const next = text.indexOf("\n", start);
    if (next < 0) break;
    start = next + 1;
  }
  const end = text.indexOf("\n", start) < 0 ? text.length : text.indexOf("\n", start);
  const written = text.slice(start, end);
  const first = start + written.length - written.trimStart().length;
  if (!column) return written.trim() ? [first, start + written.trimEnd().length] : null;
  const from = start + unitsOf(written, column - 1);
  WORD.lastIndex = from;
  const found = from < end ? WORD.exec(text) : null;
  if (found) return [from, Math.min(end, from + found[0].length)];
  const before = text.slice(0, from).trimEnd().length; // the fault is that something ends here
  return before ? [before - 1, before] : null;
}

/**
 * The value of a field; of an object or a list, whose lines may be many, the key or the bracket.
 * @param {string} text
 * @param {string} path
 * @param {Field[]} fields What `readFields` made of the text.
 * @returns {[number, number] | null}
 */
export function valueAt(text, path, fields) {
  const span = locateField(text, path, fields);
  if (!span || !"{[(".includes(text[span[0]])) return span;
  const field = fields.find((one) => one.start === span[0] && one.stop === span[1]);
  if (!field || field.keyStart === undefined) return [span[0], span[0] + 1];
  return [field.keyStart, field.keyStart + text.slice(field.keyStart, span[0]).replace(/[\s:=]+$/, "").length];
}

/**
 * A line and column of what a string in quotes says, as they stand in the text with its escapes.
 * @param {string} text
 * @param {[number, number]} span The string, with its quotes.
 * @param {number} line
 * @param {number | null} [column]
 * @returns {[number, number] | null}
 */
export function placeInString(text, [start, stop], line, column) {
  const units = unescaped(text, start + 1, stop - 1);
  const found = wordAt(units.map((unit) => unit.said).join(""), line, column);
  if (!found) return null;
  return [units[found[0]].start, units[found[1] - 1].stop];
}

// What the string says, unit by unit, and where in the text each one stands.
/**
 * @param {string} text
 * @param {number} start
 * @param {number} stop
 */
function unescaped(text, start, stop) {
  /** @type {Record<string, string>} */
  const SIMPLE = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
  const units = [];
  for (let at = start; at < stop; ) {
    const long = text[at] === "\\" && text[at + 1] === "u";
    const size = long ? 6 : text[at] === "\\" ? 2 : 1;
    const said = long ? String.fromCharCode(parseInt(text.slice(at + 2, at + 6), 16) || 0) : size === 2 ? SIMPLE[text[at + 1]] || text[at + 1] : text[at];
    units.push({ said, start: at, stop: Math.min(stop, at + size) });
    at += size;
  }
  return units;
}
