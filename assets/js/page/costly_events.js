// @ts-check
// Events that start long work on the server, or requests that may cost money: each press starts them once at most. Where
// it is not known whether one has reached the server, it is not sent again. A test compares the list with the server's.
const COSTLY = new Set([
  "run",
  "try_switches", "follow_turns", "follow_sessions", "explain_count", "compare_setups", "test_server", "verify_dataset", "live_watch",
  "try_fix", "run_trials", "shrink", "run_turns", "ask_apis",
  "ask_parsers", "ask_lost_call", "ask_kept_call", "try_splits", "ask_releases", "judge_constrained", "check_model", "upstream_test",
]);

/** @typedef {{ dependencies?: { id: number, api_name: string, outputs: number[] }[], components?: { id: number, props: { elem_id?: string } }[] }} PageConfig */

/** @returns {PageConfig} */
const config = () => /** @type {any} */ (globalThis).gradio_config || {};

/**
 * The name of an event that must not be sent twice.
 * @param {string} number by which Gradio's script sends it
 * @returns {string | null}
 */
export function costlyEvent(number) {
  const name = config().dependencies?.find((one) => one.id === Number(number))?.api_name;
  return name && COSTLY.has(name) ? name : null;
}

/**
 * The element of the page where the result of an event would be drawn.
 * @param {string} name
 * @returns {string} its id; "" for none
 */
export function placeOf(name) {
  const outputs = config().dependencies?.find((one) => one.api_name === name)?.outputs || [];
  const drawn = outputs.map((id) => config().components?.find((one) => one.id === id)?.props.elem_id || "");
  return drawn.find((id) => document.querySelector("#" + id + " .pd") !== null) || "";
}
