import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { load } from "./load.mjs";

const pd = await load(["payload.js"]);

function pack(header, columns = Buffer.alloc(0)) {
  let text = Buffer.from(JSON.stringify(header), "ascii");
  text = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, " ")]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return gzipSync(Buffer.concat([length, text, columns])).toString("base64");
}

test("a payload gives back its header and aligned columns", async () => {
  const columns = Buffer.from(new Uint16Array([7, 65535, 3]).buffer);

  const decoded = await pd.decodePayload(pack({ text: "x", count: 3 }, columns));

  assert.deepEqual(decoded.header, { text: "x", count: 3 });
  assert.deepEqual([...new Uint16Array(decoded.columns, 0, 3)], [7, 65535, 3]);
});

test("white space is marked on demand only", () => {
  assert.equal(pd.visibleText("a b\tc\n", false), "a b\tc\n");
  assert.equal(pd.visibleText("a b\tc\n", true), "a\u00b7b\u2192\tc\u21b5\n");
});

test("what hides or reorders is named whether or not white space is shown", () => {
  for (const whitespace of [true, false]) {
    assert.equal(pd.visibleText("a\u202eb\u200b\u2066\ufeff", whitespace), "a\u27e8RLO\u27e9b\u27e8ZWSP\u27e9\u27e8LRI\u27e9\u27e8BOM\u27e9");
    assert.equal(pd.visibleText("\u0000\u001b\u007f\u0085", whitespace), "\u2400\u241b\u2421\u27e8U+0085\u27e9");
    assert.equal(pd.visibleText("\ud800x\udfff", whitespace), "\u27e8U+D800\u27e9x\u27e8U+DFFF\u27e9");
    assert.equal(pd.visibleText("\u{e0041}", whitespace), "\u27e8U+E0041\u27e9");
  }
});

test("joiners inside emoji are left alone, elsewhere they are named", () => {
  assert.equal(pd.visibleText("\u{1f469}\u200d\u{1f680}", false), "\u{1f469}\u200d\u{1f680}");
  assert.equal(pd.visibleText("\u2764\ufe0f 1\ufe0f\u20e3", false), "\u2764\ufe0f 1\ufe0f\u20e3");
  assert.equal(pd.visibleText("a\u200db\ufe0f", false), "a\u27e8ZWJ\u27e9b\u27e8U+FE0F\u27e9");
});

test("scripts that spell with joiners keep them", () => {
  for (const word of ["\u0915\u094d\u200d\u0937", "\u0645\u06cc\u200c\u062e"]) assert.equal(pd.visibleText(word, false), word);
});

test("no character is drawn as nothing", () => {
  const nothing = [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x2065, 0x206a, 0x3164, 0xffa0, 0xfff9, 0x1d173, 0xe0001, 0xe0100, 0xf8ff, 0x2800, 0x2003, 0x205f];
  for (const code of nothing) {
    assert.match(pd.visibleText("a" + String.fromCodePoint(code) + "b", false), /^a\u27e8.+\u27e9b$/, code.toString(16));
  }
});

test("other scripts are left as they are", () => {
  for (const text of ["\u4e2d\u6587\uff0c\u6d4b\u8bd5", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629", "\u05e9\u05dc\u05d5\u05dd", "e\u0301\u00e9", "\u0e44\u0e17\u0e22", "\ud55c\uad6d\uc5b4", "\u3053\u3093\u3000\u306b"]) {
    assert.equal(pd.visibleText(text, false), text);
  }
});

test("wide characters take two cells, combining ones none", () => {
  assert.deepEqual(["a", "\u4e2d", "\u{1f600}", "\u0301", "\u00e9"].map((c) => pd.cellsOf(c.codePointAt(0))), [1, 2, 2, 0, 1]);
});

test("code points become UTF-16 units", () => {
  assert.equal(pd.unitsOfPoints("a\u{1f600}b", 0), 0);
  assert.equal(pd.unitsOfPoints("a\u{1f600}b", 2), 3);
  assert.equal(pd.unitsOfPoints("a\u{1f600}b", 99), 4);
});
