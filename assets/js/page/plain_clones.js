// @ts-check
// Gradio's script copies all properties of a component at each step of a run, and asks the browser for a structured clone
// of every text, number and function among them: a hundred times the cost of the value itself, and of a function an
// exception each time. What cannot change is its own copy, and the exception is always the same.

const clone = globalThis.structuredClone;
const notCloned = new DOMException("A function could not be cloned.", "DataCloneError");

/**
 * @template T
 * @param {T} value
 * @param {StructuredSerializeOptions} [options]
 * @returns {T}
 */
globalThis.structuredClone = (value, options) => {
  if (typeof value === "function") throw notCloned;
  if (value === null || (typeof value !== "object" && typeof value !== "symbol")) return value;
  return /** @type {typeof value} */ (clone.call(globalThis, value, options));
};
