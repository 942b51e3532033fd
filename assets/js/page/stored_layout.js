// @ts-check
// How the page is divided, and what wraps: kept in this browser, if anything is.
import { isKeeping } from "../editor/draft.js";
import { onForget } from "../lib/host.js";

const ROOM = "pd-room";

function readAll() {
  try {
    const all = JSON.parse(globalThis.localStorage.getItem(ROOM) || "null");
    return all && typeof all === "object" ? all : {};
  } catch {
    return {};
  }
}

/**
 * What was kept under a name; null without.
 * @param {string} name
 */
export function readRoom(name) {
  const value = isKeeping() ? readAll()[name] : null;
  return value === undefined ? null : value;
}

/**
 * @param {string} name
 * @param {unknown} value null takes it back.
 */
export function keepRoom(name, value) {
  if (!isKeeping()) return;
  try {
    globalThis.localStorage.setItem(ROOM, JSON.stringify({ ...readAll(), [name]: value }));
  } catch {
    // it lasts as long as the page
  }
}

onForget(() => {
  try {
    globalThis.localStorage.removeItem(ROOM);
  } catch {
    // nothing is kept anyhow
  }
});
