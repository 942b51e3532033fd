// @ts-check
// The database of this browser's runs: one record per run, its file packed in the form that events carry.

/**
 * @typedef {{ id: number, at: number, title: string, badge: string, tone: string, sentence: string, ended: string, target: string,
 *   ran: string | null, packed: string }} KeptRun
 */

const STORE = "runs";
const MAX_RUNS = 60;
const MAX_PACKED = 60_000_000;

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBTransactionMode} mode */
async function store(mode) {
  const opening = globalThis.indexedDB.open("prompt-debugger", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "id", autoIncrement: true });
  return (await settled(opening)).transaction(STORE, mode).objectStore(STORE);
}

/** @returns {Promise<KeptRun[]>} The newest first. */
export async function allRuns() {
  return (await settled((await store("readonly")).getAll())).reverse();
}

/**
 * @param {Omit<KeptRun, "id"> & { id?: number }} record
 * @returns {Promise<number>}
 */
export async function put(record) {
  return Number(await settled((await store("readwrite")).put(record)));
}

/** @param {number[]} ids */
export async function drop(ids) {
  const runs = await store("readwrite");
  ids.forEach((id) => runs.delete(id));
}

/**
 * @param {number} id
 * @returns {Promise<KeptRun | undefined>}
 */
export async function runOf(id) {
  return settled((await store("readonly")).get(id));
}

export async function clear() {
  await settled((await store("readwrite")).clear());
}

// Deletes the oldest runs when there are too many of them, or they take too much space.
export async function dropOldest() {
  let size = 0;
  const old = (await allRuns()).filter((run, at) => (size += run.packed.length) > MAX_PACKED || at >= MAX_RUNS);
  if (old.length) await drop(old.map((run) => run.id));
}
