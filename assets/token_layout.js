// The token view's pure part: chips on a character grid, search, lookups. No DOM.
//
// A chip is one token, or several whose bytes make one character. `data` is a decoded payload:
//   header.table: distinct chips {ids, text, kind, hex?, injected?}; header.kinds names the kinds
//   index: table position of every chip; header.merged: [chip, n tokens] of chips with more than one
//   header.fields + field_runs, line_runs: run-length columns [first chip, value, …]
"use strict";
(function (global) {
  const pd = (global.PromptDebugger = global.PromptDebugger || {});
  const TAB = 4;

  // Display text, width in cells and line breaks of every distinct chip.
  function displayTable(table, options) {
    const shown = new Array(table.length);
    const cells = new Int32Array(table.length);
    const breaks = new Uint8Array(table.length);
    for (let entry = 0; entry < table.length; entry++) {
      const text = options.ids ? table[entry].ids.join("+") + " " : chipText(table[entry], options.whitespace);
      let width = 0;
      for (const character of text) width += pd.cellsOf(character.codePointAt(0));
      shown[entry] = text;
      cells[entry] = width;
      breaks[entry] = text.includes("\n") ? 1 : 0;
    }
    return { shown, cells, breaks };
  }

  function chipText(chip, whitespace) {
    const tab = whitespace ? "\u2192   " : " ".repeat(TAB);
    const text = chip.text === "" ? "\u27e8" + (chip.hex || "empty") + "\u27e9" : pd.visibleText(chip.text, whitespace);
    const flat = text.replace(/\u2192?\t/g, tab);
    return chip.injected ? "injected\u25b8" + flat : flat;
  }

  // Rows of the grid: row r starts at character `offset[r]` of chip `chip[r]`.
  function layoutRows(index, display, columns, startsTurn) {
    let capacity = 1024;
    let chip = new Int32Array(capacity);
    let offset = new Int32Array(capacity);
    let count = 0;
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
    let column = 0;
    if (index.length) push(0, 0);
    for (let at = 0; at < index.length; at++) {
      const entry = index[at], width = display.cells[entry];
      if (column > 0 && startsTurn && startsTurn(at)) {
        push(at, 0);
        column = 0;
      }
      if (!display.breaks[entry] && column + width <= columns) {
        column += width;
        continue;
      }
      if (!display.breaks[entry] && width <= columns) {
        push(at, 0);
        column = width;
        continue;
      }
      column = splitChip(display.shown[entry], at, index.length, columns, column, push);
    }
    return { chip: chip.slice(0, count), offset: offset.slice(0, count), count };
  }

  // Breaks one long or many-line chip into rows; returns the column behind it.
  function splitChip(text, at, chipCount, columns, column, push) {
    for (let k = 0; k < text.length; ) {
      const code = text.codePointAt(k), length = code > 0xffff ? 2 : 1;
      if (code === 10) {
        k += 1;
        column = 0;
        if (k < text.length) push(at, k);
        else if (at + 1 < chipCount) push(at + 1, 0);
        continue;
      }
      const width = pd.cellsOf(code);
      if (column + width > columns && column > 0) {
        push(at, k);
        column = 0;
      }
      column += width;
      k += length;
    }
    return column;
  }

  // Last position in [0, count) for which `isAtMost(position)` holds; 0 if none.
  function bisect(count, isAtMost) {
    let low = 0, high = count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (isAtMost(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function rowOfChip(rows, at) {
    return bisect(rows.count, (r) => rows.chip[r] < at || (rows.chip[r] === at && rows.offset[r] === 0));
  }

  function runValue(runs, at) {
    return runs.length === 0 ? -1 : runs[bisect(runs.length / 2, (r) => runs[r * 2] <= at) * 2 + 1];
  }

  // Index of the first token of a chip; `merged` is [chip, n tokens, …] in order.
  function tokenOfChip(merged, at) {
    let token = at;
    for (let i = 0; i < merged.length && merged[i] < at; i += 2) token += merged[i + 1] - 1;
    return token;
  }

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

  // The whole text and where every chip starts in it, in UTF-16 units.
  function joinText(table, index) {
    const starts = new Uint32Array(index.length + 1);
    const parts = new Array(index.length);
    let at = 0;
    for (let i = 0; i < index.length; i++) {
      parts[i] = table[index[i]].text;
      starts[i] = at;
      at += parts[i].length;
    }
    starts[index.length] = at;
    return { text: parts.join(""), starts };
  }

  function chipAtUnit(joined, unit) {
    return bisect(joined.starts.length - 1, (i) => joined.starts[i] <= unit);
  }

  const MAX_HITS = 100000;

  // Chips that a query finds: text, `id:198`, `special:` or `injected:`. Returns [first chip, last chip, …].
  function searchChips(table, index, joined, query) {
    const hits = [];
    const id = /^id:\s*(\d+)$/.exec(query);
    const wanted = id
      ? (chip) => chip.ids.includes(Number(id[1]))
      : query === "special:" ? (chip) => chip.kind === 1
      : query === "injected:" ? (chip) => Boolean(chip.injected) : null;
    if (wanted) {
      const matches = table.map(wanted);
      for (let i = 0; i < index.length && hits.length < MAX_HITS * 2; i++) if (matches[index[i]]) hits.push(i, i);
      return hits;
    }
    let at = query === "" ? -1 : joined.text.indexOf(query);
    while (at !== -1 && hits.length < MAX_HITS * 2) {
      hits.push(chipAtUnit(joined, at), chipAtUnit(joined, at + query.length - 1));
      at = joined.text.indexOf(query, at + query.length);
    }
    return hits;
  }

  Object.assign(pd, {
    displayTable, layoutRows, rowOfChip, runValue, tokenOfChip, chipOfToken, joinText, chipAtUnit, searchChips,
  });
})(globalThis);
