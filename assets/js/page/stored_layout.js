// @ts-check
// How the page is divided and which views wrap lines, stored in this browser if it stores anything.
import { isKeeping } from "../editor/draft.js";
import { onForget } from "../lib/host.js";

const KEY = "pd-room";

function readAll() {
  try {
    const all = JSON.parse(globalThis.localStorage.getItem(KEY) || "null");
    return all && typeof all === "object" ? all : {};
  } catch {
    return {};
  }
}

/**
 * The value stored under a name; null if there is none.
 * @param {string} name
 */
export function readLayout(name) {
  const value = isKeeping() ? readAll()[name] : null;
  return value === undefined ? null : value;
}

/**
 * @param {string} name
 * @param {unknown} value null deletes it.
 */
export function storeLayout(name, value) {
  if (!isKeeping()) return;
  try {
    globalThis.localStorage.setItem(KEY, JSON.stringify({ ...readAll(), [name]: value }));
  } catch {
    // it lasts as long as the page
  }
}

onForget(() => {
  try {
    globalThis.localStorage.removeItem(KEY);
  } catch {
    // then nothing was stored
  }
});
