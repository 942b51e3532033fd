// @ts-check
// A wavy line under what is wrong, in the editor of the request and that of the template. The text is never touched.
// The words stand elsewhere: under the editor, above the live prompt, on the card of the finding.
import { editorView, rangeOf } from "./editor_link.js";
import { readFields } from "../lib/field_paths.js";
import { host } from "../lib/host.js";
import { isOutdated, onDrawn } from "../page/outdated.js";
import { placeInString, valueAt, wordAt } from "../lib/text_places.js";

/** @typedef {Place & { in?: string }} FaultyPlace */

export const REQUEST = "pd-request";
export const TEMPLATE = "pd-template-source";
const MARK = "pd-wrong";
const OF_THE_REQUEST = /^PD[12]\d\d$/; // findings about what was sent, or rendered of it
/** @type {Map<string, { id: string, places: FaultyPlace[], doc: unknown }>} */
const marks = new Map(); // who says so → {id, places, doc: the text it was said of; null for any}
const watched = new WeakSet();

// `source` says what is wrong in an editor, in place of what it said before. Places: {line, column?}, {field} or
// {template_line, template_column?}. They are forgotten as soon as another text is there.
/**
 * @param {string} source
 * @param {string} id
 * @param {FaultyPlace[]} places
 */
export function markWrong(source, id, places) {
  const view = editorView(id);
  marks.set(source, { id, places, doc: view ? view.state.doc : undefined });
  draw();
}

// The faults of a request that findings have a place of: [{code, severity, evidence: […]}, …].
/**
 * @param {{ code: string, severity: string, evidence: (Evidence | null)[] }[]} findings
 * @returns {FaultyPlace[]}
 */
export function faultsOf(findings) {
  const wrong = findings.filter((finding) => finding.severity !== "note" && OF_THE_REQUEST.test(finding.code));
  return wrong.flatMap((finding) => finding.evidence.flatMap((one) => (one !== null && one.in === "request" && one.field ? [{ field: one.field }] : [])));
}

host.markFindings = (findings) => {
  marks.set("findings", { id: REQUEST, places: faultsOf(findings), doc: null });
  draw();
};

onDrawn(() => {
  if (isOutdated() && marks.delete("findings")) draw();
});

/**
 * @param {string} id
 * @param {string} text
 * @param {FaultyPlace[]} places
 * @returns {[number, number][]}
 */
export function spansOf(id, text, places) {
  const fields = id === REQUEST && places.length ? readFields(text) : [];
  const spans = places.map((place) => spanOf(id, text, fields, place)).filter((span) => span !== null);
  return spans.filter(([start, stop], at) => spans.findIndex((other) => other[0] === start && other[1] === stop) === at);
}

/**
 * @param {string} id
 * @param {string} text
 * @param {Field[]} fields
 * @param {FaultyPlace} place
 * @returns {[number, number] | null}
 */
function spanOf(id, text, fields, place) {
  if (place.line) return wordAt(text, place.line, place.column);
  if (place.field) return valueAt(text, place.field, fields);
  if (!place.template_line) return null;
  if (id === TEMPLATE) return wordAt(text, place.template_line, place.template_column);
  const own = fields.find((field) => field.path.length === 1 && field.path[0] === "chat_template"); // or the model's own failed
  return own && text[own.start] === '"' ? placeInString(text, [own.start, own.stop], place.template_line, place.template_column) : null;
}

function draw() {
  if (!globalThis.CSS || !CSS.highlights) return; // an old browser: the words still say it
  const ranges = [REQUEST, TEMPLATE].flatMap((id) => rangesIn(id, editorView(id)));
  CSS.highlights.delete(MARK);
  if (ranges.length) CSS.highlights.set(MARK, new Highlight(...ranges));
}

/**
 * @param {string} id
 * @param {EditorView | null} view
 */
function rangesIn(id, view) {
  if (!view) return [];
  watch(view);
  const { doc } = view.state;
  const said = [...marks.values()].filter((mark) => mark.id === id && (mark.doc === null || mark.doc === doc));
  const places = said.flatMap((mark) => mark.places);
  if (!places.length) return [];
  const ranges = [];
  for (const [start, stop] of spansOf(id, doc.toString(), places)) {
    for (const { from, to } of view.visibleRanges) {
      if (Math.max(from, start) < Math.min(to, stop)) ranges.push(rangeOf(view, Math.max(from, start), Math.min(to, stop)));
    }
  }
  return ranges;
}

// What is drawn changes with the text, and with what of it is in sight.
/** @param {EditorView} view */
function watch(view) {
  if (watched.has(view.contentDOM)) return;
  watched.add(view.contentDOM);
  new MutationObserver(() => marks.size && draw()).observe(view.contentDOM, { childList: true, characterData: true, subtree: true });
}
