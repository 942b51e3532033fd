// @ts-check
// Texts as they travel: compressed, in characters that links, events and payloads carry.
import { host } from "./host.js";

/** @param {Uint8Array} bytes */
function base64url(bytes) {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} text */
function bytesOf(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/**
 * @param {string} text
 * @param {CompressionFormat} format
 */
async function squeeze(text, format) {
  const stream = new Blob([new TextEncoder().encode(text)]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A file for the server: compressed, as text, for an event carries it; null if the server would not take it.
/**
 * @param {string} text
 * @returns {Promise<string | null>}
 */
async function packText(text) {
  const packed = base64url(await squeeze(text, "gzip"));
  return host.sharePage && packed.length > host.sharePage.most_packed ? null : packed;
}

/** @param {string} packed */
async function unpackText(packed) {
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const TOO_LONG = "This bundle is too long for the page: open it with `run --bundle FILE`.";

// A payload of a view, made here: what a link says never goes to the server.
/** @param {object} header */
async function packPayload(header) {
  let text = JSON.stringify(header).replace(/[\u007f-\uffff]/g, (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));
  text += " ".repeat((4 - (text.length % 4)) % 4);
  const length = new Uint8Array(new Uint32Array([text.length]).buffer);
  const bytes = new Uint8Array([...length, ...new TextEncoder().encode(text)]);
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return base64url(new Uint8Array(await new Response(stream).arrayBuffer())).replaceAll("-", "+").replaceAll("_", "/");
}

export { base64url, bytesOf, packPayload, packText, squeeze, unpackText, TOO_LONG };

/**
 * @param {BlobPart} bytes
 * @param {string} type
 * @param {string} name
 */
export function saveFile(bytes, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
