// @ts-check
// Names of places in a run, as links and reports carry them: `prompt.t87` a token, `raw.c12-40` characters,
// `message.tool_calls[0]` a field, `finding.PD401.1` a finding by its number.
import { host } from "../lib/host.js";
import { jump } from "./linking.js";

const DRAWN_MS = 300;
const TOKEN = /^(prompt|raw)\.t(\d{1,9})$/;
const CHARACTERS = /^(prompt|raw)\.c(\d{1,9})-(\d{1,9})$/;
const FIELD = /^(request|message)\.([^\s"'<>`]{1,300})$/;
const FINDING = /^finding\.PD\d{3}\.\d{1,4}$/;

// The evidence that a name stands for: {in, …}; null if it names no place.
/**
 * @param {unknown} name
 * @returns {Goal | null}
 */
export function readPlace(name) {
  if (typeof name !== "string") return null;
  const token = TOKEN.exec(name);
  if (token) return { in: token[1], token_span: [Number(token[2]), Number(token[2]) + 1] };
  const characters = CHARACTERS.exec(name);
  if (characters) return { in: characters[1], char_span: [Number(characters[2]), Number(characters[3])] };
  const field = FIELD.exec(name);
  if (field) return { in: field[1], field: field[2] };
  return FINDING.test(name) ? { in: "finding", finding: name } : null;
}

// Goes to a place, scrolls there and marks it. Returns whether it names one.
/** @param {unknown} name */
export function goToPlace(name) {
  const evidence = readPlace(name);
  if (!evidence) return false;
  host.panelChosen = true; // the end of drawing opens no other panel
  jump(evidence);
  setTimeout(bringIntoSight, DRAWN_MS); // the panel was opened by the jump: its views are drawn a moment later
  return true;
}

// A view scrolls within itself; on a low window it may itself lie below the edge.
function bringIntoSight() {
  const shown = [...document.querySelectorAll(".pd-shown")].find((part) => part instanceof HTMLElement && part.offsetParent !== null);
  if (shown) shown.scrollIntoView({ block: "nearest" });
}
