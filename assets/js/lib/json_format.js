// @ts-check
// JSON laid out for reading. Only the space between its parts changes: each number, text and key stays as it was written,
// for `1e400`, `12345678901234567890` and `"\u00e9"` are other bytes once they have been decoded. Pure functions.

const INDENT = "  ";
const MAX_DEPTH = 100; // from there on the space in front of the lines would be most of the text
const SPACE = " \t\n\r";
const SIGNS = "{}[],:";

// The parts of a text that is JSON: signs, strings with their quotes, numbers and words.
/** @param {string} text */
function partsOf(text) {
  const parts = [];
  for (let at = 0; at < text.length; ) {
    const start = at++;
    if (SPACE.includes(text[start])) continue;
    if (text[start] === '"') {
      while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
      at++;
    } else if (!SIGNS.includes(text[start])) {
      while (at < text.length && !SPACE.includes(text[at]) && !SIGNS.includes(text[at])) at++;
    }
    parts.push(text.slice(start, at));
  }
  return parts;
}

/**
 * Returns the text laid out, one part a line; null if it is no JSON.
 * @param {string} text
 * @returns {string | null}
 */
export function formatJson(text) {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const parts = partsOf(text);
  let depth = 0;
  /** @type {string[]} */
  const pieces = [];
  const newLine = () => pieces.push("\n", INDENT.repeat(Math.min(depth, MAX_DEPTH)));
  parts.forEach((part, at) => {
    const before = parts[at - 1];
    const closes = part === "}" || part === "]";
    if (closes) depth--;
    const opened = before === "{" || before === "[";
    if (closes ? !opened : opened || before === ",") newLine();
    pieces.push(part === ":" ? ": " : part);
    if (part === "{" || part === "[") depth++;
  });
  return pieces.join("");
}

/**
 * Whether two texts are the same JSON up to the space between its parts.
 * @param {string} one
 * @param {string} other
 */
export function isSameJson(one, other) {
  const laidOut = formatJson(one);
  return laidOut !== null && laidOut === formatJson(other);
}
