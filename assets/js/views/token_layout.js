// @ts-check
// The token view's pure part: chips on a character grid, search, lookups. No DOM.
//
// A chip is one token, or several whose bytes make one character. `data` is a decoded payload:
//   header.table: distinct chips {ids, text, kind, hex?, role?, injected?}
//   index: table position of every chip; header.merged: [chip, n tokens] of chips with more than one
//   header.fields + field_runs, line_runs: run-length columns [first chip, value, …]
//   heat: natural log of the probability of every chip, not a number where unknown; null without
import { isWithin } from "../lib/field_paths.js";
import { cellsOf, hexOfText, visibleText } from "../lib/payload.js";

const TAB = 4;

// Display text, width in cells and line breaks of every distinct chip; `options.show` is text, ids or bytes.
/**
 * @param {Chip[]} table
 * @param {TokenOptions} options
 * @returns {Display}
 */
function displayTable(table, options) {
  /** @type {string[]} */
  const shown = new Array(table.length);
  const cells = new Int32Array(table.length);
  const breaks = new Uint8Array(table.length);
  for (let entry = 0; entry < table.length; entry++) {
    const text = chipLabel(table[entry], options);
    let width = 0;
    for (let k = 0; k < text.length; k++) {
      const code = text.charCodeAt(k);
      width += code < 0x300 ? 1 : cellsOf(Number(text.codePointAt(k)));
      if (code >= 0xd800 && code < 0xdc00) k++;
    }
    shown[entry] = text;
    cells[entry] = width;
    breaks[entry] = text.includes("\n") ? 1 : 0;
  }
  return { shown, cells, breaks };
}

/**
 * @param {Chip} chip
 * @param {TokenOptions} options
 */
function chipLabel(chip, options) {
  if (options.show === "ids") return chip.ids.join("+") + " ";
  if (options.show === "bytes") return (chip.hex || hexOfText(chip.text)) + "  ";
  return chipText(chip, options.whitespace);
}

/**
 * @param {Chip} chip
 * @param {boolean} whitespace
 */
function chipText(chip, whitespace) {
  const tab = whitespace ? "\u2192   " : " ".repeat(TAB);
  const text = chip.text === "" ? "\u27e8" + (chip.hex || "empty") + "\u27e9" : visibleText(chip.text, whitespace);
  const flat = text.replace(/\u2192?\t/g, tab);
  return chip.injected ? "injected\u25b8" + flat : flat;
}

// Rows of the grid: row r starts at character `offset[r]` of chip `chip[r]`; `widest` is the width of the widest.
/**
 * @param {TokenIndex} index
 * @param {Display} display
 * @param {number} columns
 * @param {((at: number) => boolean) | null} startsTurn
 * @returns {Rows}
 */
function layoutRows(index, display, columns, startsTurn) {
  let capacity = 1024;
  let chip = new Int32Array(capacity);
  let offset = new Int32Array(capacity);
  let count = 0;
  /** @type {(at: number, from: number) => void} */
  function push(at, from) {
    if (count && chip[count - 1] === at && offset[count - 1] === from) return;
    if (count === capacity) {
      capacity *= 2;
      const chips = new Int32Array(capacity), offsets = new Int32Array(capacity);
      chips.set(chip);
      offsets.set(offset);
      chip = chips;
      offset = offsets;
    }
    chip[count] = at;
    offset[count++] = from;
  }
  let column = 0, widest = 0;
  /** @type {(width: number) => number} */
  const ends = (width) => (widest = Math.max(widest, width));
  if (index.length) push(0, 0);
  for (let at = 0; at < index.length; at++) {
    const entry = index[at], width = display.cells[entry];
    if (column > 0 && startsTurn && startsTurn(at)) {
      ends(column);
      push(at, 0);
      column = 0;
    }
    if (!display.breaks[entry] && column + width <= columns) {
      column += width;
      continue;
    }
    if (!display.breaks[entry] && width <= columns) {
      ends(column);
      push(at, 0);
      column = width;
      continue;
    }
    column = splitChip(display.shown[entry], at, index.length, columns, column, push, ends);
  }
  ends(column);
  return { chip: chip.slice(0, count), offset: offset.slice(0, count), count, widest };
}

// Breaks one long or many-line chip into rows; returns the column behind it.
/**
 * @param {string} text
 * @param {number} at
 * @param {number} chipCount
 * @param {number} columns
 * @param {number} column
 * @param {(at: number, from: number) => void} push
 * @param {(width: number) => unknown} ends
 */
function splitChip(text, at, chipCount, columns, column, push, ends) {
  for (let k = 0; k < text.length; ) {
    const code = Number(text.codePointAt(k)), length = code > 0xffff ? 2 : 1;
    if (code === 10) {
      k += 1;
      ends(column);
      column = 0;
      if (k < text.length) push(at, k);
      else if (at + 1 < chipCount) push(at + 1, 0);
      continue;
    }
    const width = cellsOf(code);
    if (column + width > columns && column > 0) {
      ends(column);
      push(at, k);
      column = 0;
    }
    column += width;
    k += length;
  }
  return column;
}

// Last position in [0, count) for which `isAtMost(position)` holds; 0 if none.
/**
 * @param {number} count
 * @param {(position: number) => boolean} isAtMost
 */
function bisect(count, isAtMost) {
  let low = 0, high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isAtMost(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * @param {Rows} rows
 * @param {number} at
 */
function rowOfChip(rows, at) {
  return bisect(rows.count, (r) => rows.chip[r] < at || (rows.chip[r] === at && rows.offset[r] === 0));
}

/**
 * @param {number[]} runs
 * @param {number} at
 */
function runValue(runs, at) {
  return runs.length === 0 ? -1 : runs[bisect(runs.length / 2, (r) => runs[r * 2] <= at) * 2 + 1];
}

// Index of the first token of a chip; `merged` is [chip, n tokens, …] in order.
/**
 * @param {number[]} merged
 * @param {number} at
 */
function tokenOfChip(merged, at) {
  let token = at;
  for (let i = 0; i < merged.length && merged[i] < at; i += 2) token += merged[i + 1] - 1;
  return token;
}

/**
 * @param {number[]} merged
 * @param {number} token
 */
function chipOfToken(merged, token) {
  let extra = 0;
  for (let i = 0; i < merged.length; i += 2) {
    const first = merged[i] + extra;
    if (token < first) break;
    if (token < first + merged[i + 1]) return merged[i];
    extra += merged[i + 1] - 1;
  }
  return token - extra;
}

// The whole text and where every chip starts in it: in UTF-16 units, and in code points as Python counts them.
/**
 * @param {Chip[]} table
 * @param {TokenIndex} index
 * @returns {Joined}
 */
function joinText(table, index) {
  const starts = new Uint32Array(index.length + 1);
  const points = new Uint32Array(index.length + 1);
  const sizes = Uint32Array.from(table, (chip) => pointsOf(chip.text));
  const parts = new Array(index.length);
  let unit = 0, point = 0;
  for (let i = 0; i < index.length; i++) {
    const { text } = table[index[i]];
    parts[i] = text;
    starts[i] = unit;
    points[i] = point;
    unit += text.length;
    point += sizes[index[i]];
  }
  starts[index.length] = unit;
  points[index.length] = point;
  return { text: parts.join(""), starts, points };
}

/** @param {string} text */
function pointsOf(text) {
  let count = 0;
  for (let k = 0; k < text.length; k++) {
    const code = text.charCodeAt(k), next = text.charCodeAt(k + 1);
    if (code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000) k++;
    count++;
  }
  return count;
}

// The chip that covers a unit or a point; of chips that show nothing, the last.
/**
 * @param {Uint32Array} starts
 * @param {number} position
 */
function chipAt(starts, position) {
  return bisect(starts.length - 1, (i) => starts[i] <= position);
}

// Chips that run-length columns give to a template line or to a request field: flat [first, stop, …], in order.
// A field is given by all below it; where nothing is below, by what it is in.
/**
 * @param {TokenData} data
 * @param {{ field?: string | null, template_line?: number | null }} facts
 */
function rangesOf(data, facts) {
  if (facts.template_line) return rangesOfRuns(data.line_runs, data.index.length, (line) => line === facts.template_line);
  if (!facts.field) return [];
  const isBelow = data.fields.map((field) => isWithin(field, facts.field));
  const isAbove = data.fields.map((field) => field !== "" && isWithin(facts.field, field));
  const wanted = isBelow.includes(true) ? isBelow : isAbove;
  return rangesOfRuns(data.field_runs, data.index.length, (number) => wanted[number]);
}

// Values that a run-length column has inside ranges of chips, each once, in order of appearance.
/**
 * @param {number[]} runs
 * @param {number[]} ranges
 */
function valuesInRanges(runs, ranges) {
  /** @type {Set<number>} */
  const values = new Set();
  for (let i = 0; i < ranges.length; i += 2) {
    for (let r = runs.length ? bisect(runs.length / 2, (k) => runs[k * 2] <= ranges[i]) : 0; r * 2 < runs.length && runs[r * 2] < ranges[i + 1]; r++) {
      values.add(runs[r * 2 + 1]);
    }
  }
  return [...values];
}

/**
 * @param {number[]} runs
 * @param {number} count
 * @param {(value: number) => boolean} isWanted
 * @returns {number[]}
 */
function rangesOfRuns(runs, count, isWanted) {
  /** @type {number[]} */
  const ranges = [];
  for (let i = 0; i < runs.length; i += 2) {
    if (!isWanted(runs[i + 1])) continue;
    const stop = i + 2 < runs.length ? runs[i + 2] : count;
    if (ranges.length && ranges[ranges.length - 1] === runs[i]) ranges[ranges.length - 1] = stop;
    else ranges.push(runs[i], stop);
  }
  return ranges;
}

// Chips that show any character of the given stretches of text, in code points.
/**
 * @param {Joined} joined
 * @param {[number, number][]} spans
 * @returns {number[]}
 */
function rangesOfPoints(joined, spans) {
  const ranges = [];
  for (const [start, stop] of spans) {
    if (stop <= start) continue;
    ranges.push(chipAt(joined.points, start), chipAt(joined.points, stop - 1) + 1);
  }
  return ranges;
}

/**
 * @param {number[]} ranges
 * @param {number} at
 */
function isInRanges(ranges, at) {
  if (!ranges.length) return false;
  const i = bisect(ranges.length / 2, (r) => ranges[r * 2] <= at) * 2;
  return at >= ranges[i] && at < ranges[i + 1];
}

/** @param {number[]} ranges */
function countOfRanges(ranges) {
  let count = 0;
  for (let i = 0; i < ranges.length; i += 2) count += ranges[i + 1] - ranges[i];
  return count;
}

const MAX_HITS = 100000;

// What a query asks of a single chip: `id:198`, `special:`, `injected:`; null if it is text.
/**
 * @param {string} query
 * @returns {((chip: Chip) => boolean) | null}
 */
function entryTest(query) {
  const id = /^id:\s*(\d+)$/.exec(query);
  if (id) return (chip) => chip.ids.includes(Number(id[1]));
  if (query === "special:") return (chip) => chip.kind === 1;
  return query === "injected:" ? (chip) => Boolean(chip.injected) : null;
}

// `p<10%` and `p<0.1`: the natural log below which a token counts as found; null if it is no such query.
/** @param {string} query */
function heatBound(query) {
  const bound = /^p\s*<\s*(\d*\.?\d+)\s*(%?)$/.exec(query);
  return bound ? Math.log(Number(bound[1]) / (bound[2] ? 100 : 1)) : null;
}

// Chips that a query finds: text, or one of the questions above. Returns [first chip, last chip, …].
/**
 * @param {Chip[]} table
 * @param {TokenIndex} index
 * @param {Joined} joined
 * @param {string} query
 * @param {Float32Array | null} heat
 * @returns {number[]}
 */
function searchChips(table, index, joined, query, heat) {
  /** @type {number[]} */
  const hits = [];
  /** @type {(test: (i: number) => boolean) => number[]} */
  const push = (test) => {
    for (let i = 0; i < index.length && hits.length < MAX_HITS * 2; i++) if (test(i)) hits.push(i, i);
    return hits;
  };
  const wanted = entryTest(query);
  if (wanted) {
    const matches = table.map(wanted);
    return push((i) => matches[index[i]]);
  }
  const bound = heat ? heatBound(query) : null;
  if (heat && bound !== null) return push((i) => heat[i] < bound);
  let at = query === "" ? -1 : joined.text.indexOf(query);
  let chip = 0;
  // Hits come in order, so hits and chips are walked together.
  while (at !== -1 && hits.length < MAX_HITS * 2) {
    while (joined.starts[chip + 1] <= at) chip++;
    const first = chip;
    while (joined.starts[chip + 1] <= at + query.length - 1) chip++;
    hits.push(first, chip);
    at = joined.text.indexOf(query, at + query.length);
  }
  return hits;
}

export {
  displayTable, layoutRows, rowOfChip, runValue, tokenOfChip, chipOfToken, joinText, chipAt, rangesOf, rangesOfPoints,
  valuesInRanges, isInRanges, countOfRanges, searchChips,
};
