// @ts-check
// Payloads and visible text. Pure functions, usable in the page, in an exported report and under `node --test`.
//
// A payload is one string: base64(gzip(u32 header length | JSON header | binary columns)).

/** @param {string} text */
function bytesOfBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * Returns the JSON header and the bytes behind it, aligned to 4.
 * @param {string} text
 * @returns {Promise<Decoded>}
 */
async function decodePayload(text) {
  const stream = new Blob([bytesOfBase64(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { header, columns: buffer.slice(4 + length) };
}

// Characters that would hide, or reorder what is around them: always drawn by name.
const HIDDEN = new Map([
  [0x00ad, "SHY"], [0x034f, "CGJ"], [0x061c, "ALM"], [0x115f, "HCF"], [0x1160, "HJF"], [0x17b4, "KIV"], [0x17b5, "KIV"],
  [0x180e, "MVS"], [0x200b, "ZWSP"], [0x200c, "ZWNJ"], [0x200d, "ZWJ"], [0x200e, "LRM"], [0x200f, "RLM"],
  [0x202a, "LRE"], [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"], [0x202e, "RLO"], [0x2028, "LS"], [0x2029, "PS"],
  [0x2060, "WJ"], [0x2066, "LRI"], [0x2067, "RLI"], [0x2068, "FSI"], [0x2069, "PDI"], [0x3164, "HF"], [0xfeff, "BOM"],
  [0xffa0, "HHF"], [0xfffc, "OBJ"],
]);
// Without a name of three letters: format characters, unassigned blanks, tags, lone surrogates, what no font can show.
const UNNAMED = /[\p{Cf}\p{Cs}\p{Co}\u0080-\u009f\u2065\ufff0-\ufff8\ufdd0-\ufdef\u{e0000}-\u{e0fff}]|[\u180b-\u180f]/u;
// Blanks that are not the plain one: they look like it, or like nothing.
const BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]/;
const PICTURE = /\p{Extended_Pictographic}|[\u{1f3fb}-\u{1f3ff}\ufe0f\u20e3]/u;

/** @param {number} code */
function nameOf(code) {
  return "\u27e8" + (HIDDEN.get(code) || "U+" + code.toString(16).toUpperCase().padStart(4, "0")) + "\u27e9";
}

/**
 * @param {string} character
 * @param {string} before
 * @param {string} after
 * @param {boolean} whitespace
 */
function visibleCharacter(character, before, after, whitespace) {
  const code = Number(character.codePointAt(0));
  if (code > 0x20 && code < 0x7f) return character;
  if (code === 0x20) return whitespace ? "\u00b7" : " ";
  if (code === 0x0a) return whitespace ? "\u21b5\n" : "\n";
  if (code === 0x09) return whitespace ? "\u2192\t" : "\t";
  if (code === 0xa0) return whitespace ? "\u237d" : "\u00a0";
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (BLANK.test(character)) return whitespace || code !== 0x3000 ? nameOf(code) : character;
  if (code >= 0xfe00 && code <= 0xfe0f) return PICTURE.test(before) || /[0-9#*]/.test(before) ? character : nameOf(code);
  if (code === 0x200d && PICTURE.test(before) && PICTURE.test(after)) return character; // a family is one picture
  if ((code === 0x200c || code === 0x200d) && isIndic(before)) return character; // these scripts spell with them
  return HIDDEN.has(code) || UNNAMED.test(character) ? nameOf(code) : character;
}

// Scripts from Devanagari to Sinhala, and Persian: joiners between their letters choose a letter's form.
/** @param {string} character */
function isIndic(character) {
  const code = character.codePointAt(0) || 0;
  return (code >= 0x0900 && code <= 0x0dff) || (code >= 0x0620 && code <= 0x06d3);
}

const PLAIN = /^[\x21-\x7e]*$/;
const PLAIN_LINES = /^[\n\t\x20-\x7e]*$/;

// Text as it may be drawn: nothing in it hides or reorders; whitespace as marks on demand.
/**
 * @param {string} text
 * @param {boolean} whitespace
 */
function visibleText(text, whitespace) {
  if ((whitespace ? PLAIN : PLAIN_LINES).test(text)) return text;
  const characters = Array.from(text);
  let shown = "";
  for (let i = 0; i < characters.length; i++) {
    shown += visibleCharacter(characters[i], characters[i - 1] || "", characters[i + 1] || "", whitespace);
  }
  return shown;
}

/** @param {number} code */
function isWide(code) {
  return (
    code >= 0x1100 &&
    (code <= 0x115f || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
      (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd))
  );
}

// Cells of the character grid that a code point takes.
/** @param {number} code */
function cellsOf(code) {
  if (code < 0x300) return 1;
  if ((code >= 0x300 && code <= 0x36f) || (code >= 0xfe00 && code <= 0xfe0f) || code === 0x200d) return 0;
  return isWide(code) ? 2 : 1;
}

/** @param {string} text */
function hexOfText(text) {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

// Offset in UTF-16 units of a code point offset.
/**
 * @param {string} text
 * @param {number} points
 */
function unitsOfPoints(text, points) {
  let units = 0;
  for (const character of text) {
    if (points-- <= 0) break;
    units += character.length;
  }
  return units;
}

/**
 * @param {number} count
 * @param {string} word
 */
function plural(count, word) {
  return count + " " + word + (count === 1 ? "" : "s");
}

export { decodePayload, visibleText, cellsOf, hexOfText, unitsOfPoints, plural };
