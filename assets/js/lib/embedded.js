// @ts-check
// The bundle that a report, a picture or a Markdown text holds, packed as events carry it: found by its marks, and
// nothing else of the file is read. `core/report/embedded.py` writes and reads the same.

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const KEYWORD = "prompt-debugger";
const MARKS = [['<script type="application/json" id="pd-bundle">"', '"<\/script>'], ["pd-bundle.1.", "."]];
const EDGES = 12; // bytes of a chunk besides its data: length, type, checksum
const END = 12; // bytes of the last chunk
const PACKED = /^[\w-]+$/;

/** @param {Uint8Array} bytes */
export const isPng = (bytes) => PNG.every((byte, at) => bytes[at] === byte);

/** @param {Uint8Array} bytes */
const wordOf = (bytes) => String.fromCharCode(...bytes);

/**
 * The packed bundle in a picture; null without one.
 * @param {Uint8Array} bytes
 * @returns {string | null}
 */
export function bundleInPicture(bytes) {
  if (!isPng(bytes)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = PNG.length; at + EDGES <= bytes.length; at += view.getUint32(at) + EDGES) {
    const data = bytes.subarray(at + 8, at + 8 + view.getUint32(at));
    const isOurs = wordOf(bytes.subarray(at + 4, at + 8)) === "tEXt" && wordOf(data.subarray(0, KEYWORD.length)) === KEYWORD;
    if (!isOurs || data[KEYWORD.length] !== 0) continue;
    const text = new TextDecoder("latin1").decode(data.subarray(KEYWORD.length + 1));
    return PACKED.test(text) ? text : null;
  }
  return null;
}

/**
 * The packed bundle in a report or a Markdown text; null without one.
 * @param {string} text
 * @returns {string | null}
 */
export function bundleInText(text) {
  if (/^\s*[[{]/.test(text)) return null; // JSON, such as a bundle whose prompt speaks of such marks
  // In a report nothing of the run is markup, and its script comes after the block; in Markdown the fold comes last.
  const starts = [text.indexOf(MARKS[0][0]), text.lastIndexOf(MARKS[1][0])];
  for (const [at, [opening, ending]] of MARKS.entries()) {
    const start = starts[at];
    const end = start < 0 ? -1 : text.indexOf(ending, start + opening.length);
    const packed = end < 0 ? "" : text.slice(start + opening.length, end).replace(/\s/g, "");
    if (PACKED.test(packed)) return packed;
  }
  return null;
}

/** @param {Uint8Array} bytes */
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/**
 * A picture with a packed bundle in it, before its last chunk.
 * @param {Uint8Array} picture
 * @param {string} packed
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function embedBundle(picture, packed) {
  const body = new TextEncoder().encode("tEXt" + KEYWORD + "\0" + packed);
  const chunk = new Uint8Array(body.length + 8);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, body.length - 4);
  chunk.set(body, 4);
  view.setUint32(body.length + 4, checksum(body));
  const whole = new Uint8Array(picture.length + chunk.length);
  whole.set(picture.subarray(0, picture.length - END));
  whole.set(chunk, picture.length - END);
  whole.set(picture.subarray(picture.length - END), picture.length - END + chunk.length);
  return whole;
}
