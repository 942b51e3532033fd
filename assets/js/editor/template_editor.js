// @ts-check
// The template under edit: its editor as a place to jump to, the line above the prompt, the probes.
import { lineButton, markStale, placeButton } from "../tools/bench.js";
import { builders } from "../lib/builders.js";
import { make, press, prose, region, table, under } from "../lib/dom.js";
import { editorView } from "./editor_link.js";
import { TEMPLATE, markWrong } from "./editor_marks.js";
import { host } from "../lib/host.js";
import { offerPlace, onLight, open, point } from "../views/linking.js";
import { visibleText } from "../lib/payload.js";

/** @param {string} id */
const isShown = (id) => {
  const element = document.getElementById(id);
  return Boolean(element && element.offsetParent !== null);
};

// Selects from a place to the end of its line; the focus moves only if asked.
/**
 * @param {EditorView} view
 * @param {number} line
 * @param {number | null | undefined} column
 * @param {boolean} takesFocus
 */
function selectLine(view, line, column, takesFocus) {
  const doc = view.state.doc;
  const found = doc.line(Math.max(1, Math.min(line, doc.lines)));
  const from = Math.min(found.from + Math.max(0, (column || 1) - 1), found.to);
  view.dispatch({ selection: { anchor: from, head: found.to }, scrollIntoView: true });
  if (takesFocus) view.focus();
}

// Opens the panel, waits until its editor has a text, and shows {template_line, template_column?} in it.
/**
 * @param {Goal} place
 * @param {number} [tries]
 */
function jumpToTemplate(place, tries = 100) {
  if (!isShown("pd-panel-template")) openTemplate();
  const view = editorView("pd-template-source");
  if (view && view.state.doc.length) return selectLine(view, place.template_line || 1, place.template_column, true);
  if (tries > 0) setTimeout(() => jumpToTemplate(place, tries - 1), 50);
}

function openTemplate() {
  host.panelChosen = true;
  open("template");
  press("pd-template-refresh");
}

offerPlace("template_source", (place) => jumpToTemplate(place));

// --- the line above the prompt --------------------------------------------------

builders.edited_status = (root) => {
  root.classList.add("pd-edited");
  root.setAttribute("aria-live", "polite");
  const empty = () => root.replaceChildren(make("p", "pd-empty", "Every change of the template renders the request again: the prompt appears here, with the source of each token."));
  empty();
  return {
    show(decoded) {
      if (!decoded) return empty();
      /** @type {{ state: string, sentence: string, notes: string[], hint: string, place: Place | null, text: string | null }} */
      const { state, sentence, notes, hint, place, text } = decoded.header;
      root.dataset.state = state;
      markWrong("edited", TEMPLATE, place && place.template_line ? [place] : []);
      const line = make("p", "pd-edited-line");
      line.append(prose("strong", "", sentence));
      const go = place && placeButton(place);
      if (go) line.append(go);
      root.replaceChildren(line);
      if (hint) root.append(prose("p", "", hint));
      if (state === "error" && document.querySelector("#pd-edited-tokens [data-at]")) root.append(make("p", "pd-muted", "The tokens below belong to the last version that produced a prompt."));
      notes.forEach((note) => root.append(prose("p", "pd-muted", note)));
      if (text !== null) {
        const box = make("pre", "pd-text pd-edited-text", "");
        box.textContent = visibleText(text, true);
        box.tabIndex = 0;
        root.append(box);
      }
    },
  };
};

// --- probes ------------------------------------------------------------------------

/** @type {Record<string, string>} */
const SUPPORT_MARKS = { supported: "\u2713", changed: "~", ignored: "\u2205", refused: "\u2715", unknown: "?" };

builders.probes = (root) => {
  root.classList.add("pd-probes");
  const empty = () => root.replaceChildren(make("p", "pd-empty", "Small test requests, rendered with this template: does their content arrive in the prompt unchanged?"));
  empty();
  return {
    show(decoded) {
      if (!decoded) return empty();
      const header = decoded.header;
      root.dataset.state = header.state;
      if (header.state === "error") return root.replaceChildren(prose("p", "pd-bench-sentence", header.sentence), prose("p", "", header.hint));
      const made = table("Small requests, and what arrives of each", ["Probe and result", "Result"], header.probes.map(probeRow), "pd-probe-table");
      const box = region("What the template supports", "pd-scroll", made);
      root.replaceChildren(prose("p", "pd-bench-sentence", header.sentence), box);
    },
  };
};

/** @param {{ name: string, title: string, support: string, detail: string, quote: string, template_line: number | null, template_column: number | null }} probe */
function probeRow(probe) {
  const row = make("tr", "pd-support-" + probe.support);
  row.dataset.probe = probe.name;
  const asked = make("td", "pd-words");
  asked.append(make("span", "", probe.title), make("code", "pd-probe-name", probe.name));
  const answer = make("span", "pd-support");
  /** @type {HTMLElement | null} */
  const mark = make("span", "pd-support-mark", SUPPORT_MARKS[probe.support]);
  mark.setAttribute("aria-hidden", "true");
  answer.append(mark, make("span", "", probe.support));
  asked.append(answer);
  const seen = make("td", "pd-words");
  seen.append(prose("span", "", probe.detail));
  const column = probe.support === "refused" ? probe.template_column : null;
  if (probe.template_line) seen.append(" ", lineButton({ template_line: probe.template_line, template_column: column }));
  if (probe.quote) {
    const quote = make("code", "pd-quote", "");
    quote.textContent = visibleText(probe.quote, true).replace(/\n/g, "");
    seen.append(quote);
  }
  row.append(asked, seen);
  return row;
}

// --- what ties the editor to the rest ---------------------------------------------------

let timer = 0;
document.addEventListener("click", (event) => {
  if (under(event, "#pd-tab-template")) press("pd-template-refresh");
  if (under(event, "#pd-tab-of-pd-template-of-supports")) press("pd-probe");
  // The view has drawn its rows anew by now: the path still knows where the click was.
  if (event.composedPath().some((one) => one instanceof Element && one.id === "pd-edited-tokens")) followToken();
});
// The request is edited with the template open next to it. The page calls this, as a paste raises no event.
function requestEdited() {
  clearTimeout(timer);
  markStale();
  if (isShown("pd-panel-template")) timer = setTimeout(() => press("pd-template-refresh"), 400);
}

// The line that wrote the token under the cursor is marked; a click brings it into sight.
// The mark lies over the editor, which would take a class off its own lines again.
/** @type {number | null} */
let lastLine = null;
/** @type {HTMLElement | null} */
let mark = null;
onLight((source, facts) => {
  if (source !== "edited_tokens") return markLine(null);
  lastLine = facts.template_line || null;
  markLine(lastLine);
});

/** @param {number | null} line */
function markLine(line) {
  const view = line && isShown("pd-panel-template") ? editorView("pd-template-source") : null;
  if (mark) mark.remove();
  mark = null;
  if (!view || !line || line > view.state.doc.lines) return;
  const block = view.lineBlockAt(view.state.doc.line(line).from);
  const made = make("div", "pd-line-light");
  mark = made;
  made.style.top = block.top + view.documentPadding.top + "px";
  made.style.height = block.height + "px";
  made.dataset.line = String(line);
  view.scrollDOM.append(made);
}

function followToken() {
  const view = editorView("pd-template-source");
  if (!view || !lastLine) return;
  selectLine(view, lastLine, 1, false);
  requestAnimationFrame(() => markLine(lastLine));
}

// The line under the caret lights what it wrote.
document.addEventListener("selectionchange", () => {
  const active = document.activeElement;
  if (!active || !active.closest("#pd-template-source")) return;
  const view = editorView("pd-template-source");
  if (!view) return;
  const line = view.state.doc.lineAt(view.state.selection.main.head);
  point("template_source", { parts: [["template line", line.number], ["", line.text, "text"]], template_line: line.number });
});

// Gradio gives every editor the same name; screen readers need their own.
const NAMES = { "pd-template-source": "Chat template", "pd-second-template": "Second template" };
function nameEditors(tries = 200) {
  let missing = false;
  Object.entries(NAMES).forEach(([id, label]) => {
    const content = document.querySelector("#" + id + " .cm-content");
    if (!content) return void (missing = missing || Boolean(document.getElementById(id)) || tries > 150);
    content.setAttribute("aria-label", label);
    const scroller = /** @type {HTMLElement | null} */ (document.querySelector("#" + id + " .cm-scroller"));
    if (scroller) scroller.tabIndex = -1;
  });
  if (missing && tries > 0) setTimeout(() => nameEditors(tries - 1), 100);
  else setTimeout(mendColours, 0);
}
nameEditors();

// --- colours of the editor --------------------------------------------------------------

// Gradio colours code below AA, by classes whose names change with every release: each colour is moved
// towards the text's own until it can be read on our grounds, in both modes.
/** @type {Record<string, number[][]>} */
const GROUNDS = { "": [[255, 255, 255], [248, 249, 251]], ".dark ": [[20, 24, 31], [16, 20, 26]] };
/** @type {Record<string, number[]>} */
const INKS = { "": [25, 29, 38], ".dark ": [231, 235, 242] };
const CONTRAST = 4.6;

/** @param {number[]} colour */
function luminance(colour) {
  const [r, g, b] = colour.map((part) => (part / 255 <= 0.03928 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * @param {number[]} one
 * @param {number[]} other
 */
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/**
 * @param {number[]} colour
 * @param {number[][]} grounds
 * @param {number[]} ink
 */
function readable(colour, grounds, ink) {
  for (let share = 0; share <= 1; share += 0.05) {
    const mixed = colour.map((part, i) => Math.round(part + (ink[i] - part) * share));
    if (grounds.every((ground) => contrast(mixed, ground) >= CONTRAST)) return mixed;
  }
  return ink;
}

function mendColours() {
  const probe = document.body.appendChild(make("span", ""));
  /** @type {string[]} */
  const mended = [];
  const sheets = [...document.styleSheets, ...(document.adoptedStyleSheets || [])];
  sheets.flatMap((sheet) => rulesOf(sheet)).forEach((rule) => {
    if (!(rule instanceof CSSStyleRule)) return;
    const found = /^\.(\u037c[\w]+)$/u.exec(rule.selectorText);
    if (!found || !rule.style.color) return;
    probe.style.color = rule.style.color;
    const colour = getComputedStyle(probe).color.match(/[\d.]+/g)?.slice(0, 3).map(Number) || [];
    for (const mode of Object.keys(GROUNDS)) {
      const shown = readable(colour, GROUNDS[mode], INKS[mode]);
      mended.push(`${mode}.pd-code-editor .cm-line .${found[1]}{color:rgb(${shown.join(",")})!important}`);
    }
  });
  probe.remove();
  const style = document.getElementById("pd-editor-colours") || document.head.appendChild(make("style", ""));
  style.id = "pd-editor-colours";
  style.textContent = mended.join("\n");
}

/** @param {CSSStyleSheet} sheet */
function rulesOf(sheet) {
  try {
    return [...sheet.cssRules];
  } catch {
    return []; // a sheet of another origin shows none
  }
}

export { requestEdited };
