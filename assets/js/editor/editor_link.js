// @ts-check
// Ties the request's editor to the views: a field under the pointer or the caret lights what came of it, and the other way.
// The text is never touched and the focus never taken: the mark is a highlight of the browser's own.
import { press } from "../lib/dom.js";
import { fieldAt, locateField, readFields } from "../lib/field_paths.js";
import { onLight, point } from "../views/linking.js";

const NAME = "request";
const MARK = "pd-lit";
/** @type {{ doc: unknown, text: string, fields: Field[] } | null} */
let known = null; // {doc, text, fields} of the text as it stands
/** @type {[number, number][]} */
let lit = []; // [start, stop] in the text, of every field that is lit
/** @type {string | null | undefined} */
let lastField = null; // under the pointer
let lastCaret = -1;
const LONG_CHARS = 100_000;
const PAUSE_MS = 400;
let timer = 0;

/**
 * The CodeMirror view of an editor; its property has had two names.
 * @param {string} [id]
 * @returns {EditorView | null}
 */
function editorView(id = "pd-request") {
  const content = document.querySelector("#" + id + " .cm-content");
  const tile = content && (content.cmView || content.cmTile);
  return tile ? tile.view || tile.root?.view || tile.rootView?.view || null : null;
}

// Puts a text in place of the editor's, in one step: nothing that was typed meanwhile is lost unseen.
/**
 * @param {string} text
 * @param {boolean} [asTyped]
 */
function replaceRequest(text, asTyped) {
  const view = editorView();
  if (!view) return false;
  const changes = { from: 0, to: view.state.doc.length, insert: text };
  view.dispatch(asTyped ? { changes, userEvent: "input" } : { changes });
  if (!asTyped) setTimeout(() => press("pd-name-run")); // once Gradio has the text; what is typed is checked anyhow
  return true;
}

/** @param {EditorView} view */
function read(view) {
  if (!known || known.doc !== view.state.doc) {
    const text = view.state.doc.toString();
    known = { doc: view.state.doc, text, fields: readFields(text) };
  }
  return known;
}

/**
 * @param {EditorView} view
 * @param {number | null} unit
 * @returns {Facts | null}
 */
function factsAt(view, unit) {
  const { text, fields } = read(view);
  const path = unit === null ? null : fieldAt(fields, unit);
  if (!path) return null;
  const [start, stop] = locateField(text, path, fields) || [0, 0];
  return { parts: [["request", path], ["", text.slice(start, Math.min(stop, start + 200)), "text"]], field: path };
}

/** @param {MouseEvent} event */
function onPointer(event) {
  const view = editorView();
  if (!view) return;
  const unit = view.posAtCoords({ x: event.clientX, y: event.clientY });
  const facts = factsAt(view, unit);
  if (facts && facts.field !== lastField) point(NAME, facts);
  lastField = facts && facts.field;
}

// The caret moved: by keys, by a click, by a jump. To find the fields of a long text takes longer than a key may.
function onCaret() {
  const view = editorView();
  clearTimeout(timer);
  if (view && view.state.doc.length > LONG_CHARS && known?.doc !== view.state.doc) timer = setTimeout(pointAtCaret, PAUSE_MS);
  else pointAtCaret();
}

function pointAtCaret() {
  const view = editorView();
  if (!view || !view.hasFocus) return;
  const { head } = view.state.selection.main;
  if (head === lastCaret) return;
  lastCaret = head;
  const facts = factsAt(view, head);
  if (facts) point(NAME, facts);
}

// Marks the field that another view points at. Only what the editor has drawn can be marked: drawn again after scrolling.
/**
 * @param {string | null} source
 * @param {LitFacts} facts
 * @param {boolean} isKept
 */
function light(source, facts, isKept) {
  const view = editorView();
  lit = [];
  if (view && facts.fields.length && source !== NAME) {
    const { text, fields } = read(view);
    lit = facts.fields.map((field) => locateField(text, field, fields)).filter((span) => span !== null);
    if (lit.length && isKept) bringIntoSight(view, lit[0][0]);
  }
  draw();
}

/**
 * @param {EditorView} view
 * @param {number} start
 */
function bringIntoSight(view, start) {
  const box = view.coordsAtPos(start);
  const outer = view.scrollDOM.getBoundingClientRect();
  if (box && box.top >= outer.top && box.bottom <= outer.bottom) return;
  view.dispatch({ effects: view.constructor.scrollIntoView(start, { y: "center" }) });
}

function draw() {
  if (!globalThis.CSS || !CSS.highlights) return; // an old browser: the inspector still says it
  CSS.highlights.delete(MARK);
  const view = editorView();
  if (!view || !lit.length) return;
  const ranges = [];
  for (const { from, to } of view.visibleRanges) {
    for (const [first, last] of lit) {
      const start = Math.max(from, first), stop = Math.min(to, last, view.state.doc.length);
      if (start < stop) ranges.push(rangeOf(view, start, stop));
    }
  }
  if (ranges.length) CSS.highlights.set(MARK, new Highlight(...ranges));
}

/**
 * @param {EditorView} view
 * @param {number} start
 * @param {number} stop
 */
function rangeOf(view, start, stop) {
  const range = document.createRange();
  const begin = view.domAtPos(start), end = view.domAtPos(stop);
  range.setStart(begin.node, begin.offset);
  range.setEnd(end.node, end.offset);
  return range;
}

// Called once the editor is on the page.
function watchEditor() {
  const view = editorView();
  if (!view) return setTimeout(watchEditor, 200);
  view.scrollDOM.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  view.contentDOM.addEventListener("mousemove", onPointer);
  view.contentDOM.addEventListener("mouseleave", () => (lastField = null));
  document.addEventListener("selectionchange", onCaret);
  // Typing moves the text under a mark: it goes.
  view.contentDOM.addEventListener("input", () => {
    lit = [];
    draw();
  });
  onLight(light);
}

export { editorView, watchEditor, replaceRequest, rangeOf };
