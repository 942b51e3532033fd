// @ts-check
// The frame of every experiment: tabs inside a panel, a sentence with what it rests on, progress, and ways to a place.
import { builders } from "../lib/builders.js";
import { button, make, prose, under } from "../lib/dom.js";
import { editorView } from "../editor/editor_link.js";
import { host } from "../lib/host.js";
import { controller } from "../views/linking.js";

// --- tabs inside a panel ------------------------------------------------------

// Payload: {label, prefix, tabs: [[name, title, hint], …]}; each shows the element `prefix + name`.
builders.tabs = (root) => {
  root.classList.add("pd-tabs");
  root.setAttribute("role", "tablist");
  return {
    show(decoded) {
      if (!decoded) return root.replaceChildren();
      /** @type {{ label: string, prefix: string, tabs: [name: string, title: string, hint: string][], folds: boolean }} */
      const { label, prefix, tabs, folds } = decoded.header;
      const isFolded = folds && globalThis.matchMedia("(min-width: 901px) and (max-height: 860px)").matches;
      root.setAttribute("aria-label", label);
      const made = tabs.map(([name, title, hint]) => {
        const tab = make("button", "pd-tab", title);
        tab.type = "button";
        tab.id = "pd-tab-of-" + prefix + name;
        tab.title = hint;
        tab.setAttribute("role", "tab");
        tab.setAttribute("aria-controls", prefix + name);
        tab.addEventListener("click", () => {
          const isOpen = tab.getAttribute("aria-selected") === "true";
          choose(made, prefix, tabs, isFolded && isOpen ? null : name); // what takes room from the panes folds again
          tab.tabIndex = 0;
        });
        return tab;
      });
      root.onkeydown = (event) => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (!step) return;
        const next = made[(made.findIndex((tab) => tab === document.activeElement) + step + made.length) % made.length];
        next.click();
        next.focus();
      };
      root.replaceChildren(...made);
      choose(made, prefix, tabs, isFolded ? null : tabs[0][0]);
      if (isFolded) made[0].tabIndex = 0;
      host.tabsDrawn?.();
    },
  };
};

/**
 * @param {HTMLButtonElement[]} made
 * @param {string} prefix
 * @param {[string, string, string][]} tabs
 * @param {string | null} name
 */
function choose(made, prefix, tabs, name) {
  tabs.forEach(([other], i) => {
    const isOpen = other === name;
    made[i].setAttribute("aria-selected", String(isOpen));
    made[i].tabIndex = isOpen ? 0 : -1;
    const place = document.getElementById(prefix + other);
    if (!place) return;
    place.classList.toggle("pd-closed", !isOpen);
    place.parentElement?.classList.toggle("pd-folded", name === null);
    place.setAttribute("role", "tabpanel");
    place.setAttribute("aria-labelledby", made[i].id);
  });
  document.dispatchEvent(new Event("pd-opened"));
}

// --- a view of the bench -------------------------------------------

// A view that shows {state, source, sentence, …}, an error, or, before the first run, what it will show.
/**
 * @param {HTMLElement} root
 * @param {string} name
 * @param {string} hint
 * @param {(header: any) => (Node | string | false | null | undefined | 0 | "")[]} draw
 * @returns {View}
 */
function bench(root, name, hint, draw) {
  root.classList.add("pd-bench-view");
  const empty = () => root.replaceChildren(make("p", "pd-empty", hint));
  empty();
  return {
    show(decoded) {
      if (!decoded) {
        root.dataset.state = "empty";
        return empty();
      }
      const header = decoded.header;
      root.dataset.state = header.state;
      const head = make("div", "pd-bench-head");
      head.append(prose("p", "pd-bench-sentence", header.sentence || "\u2026"));
      if (header.source) head.append(prose("p", "pd-muted", header.source));
      if (header.state === "running" && header.progress) head.append(progress(header.progress));
      if (header.state === "error") head.append(trouble(header));
      const open = openItems(root);
      root.replaceChildren(head);
      if (header.state !== "error") root.append(...draw(header).filter((part) => part instanceof Node));
      reopen(root, open);
      root.shownFor = header.state === "error" ? undefined : requestText();
      if (root.isStopped) showStopped(root); // a step that was under way still came
    },
  };
}

// What is in the request's editor.
function requestText() {
  const view = editorView();
  return view ? view.state.doc.toString() : "";
}

// A result says so when the request it belongs to is no longer the one in the editor.
function markStale() {
  const text = requestText();
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#pd-panel-what-if .pd-bench-view")).forEach((root) => {
    const isStale = root.shownFor !== undefined && root.shownFor !== text && root.dataset.state !== "empty";
    const note = root.querySelector(".pd-stale");
    if (note && !isStale) note.remove();
    if (note || !isStale || !root.querySelector(".pd-bench-head")) return;
    const added = make("p", "pd-stale", "The request was changed since: try again.");
    added.setAttribute("role", "status");
    root.querySelector(".pd-bench-head")?.append(added);
  });
}

// What a person has folded out stays so while the report grows.
/** @param {HTMLElement} root */
function openItems(root) {
  const items = /** @type {NodeListOf<HTMLDetailsElement>} */ (root.querySelectorAll("details[data-key]"));
  return new Map([...items].map((one) => /** @type {const} */ ([one.dataset.key, one.open])));
}

/**
 * @param {HTMLElement} root
 * @param {Map<string | undefined, boolean>} open
 */
function reopen(root, open) {
  /** @type {NodeListOf<HTMLDetailsElement>} */ (root.querySelectorAll("details[data-key]")).forEach((one) => {
    one.open = open.get(one.dataset.key) ?? one.open;
  });
}

// A new start is no longer stopped.
document.addEventListener("click", (event) => {
  const start = under(event, "button[id^='pd-start-']");
  if (start) begun(start.id.replace("pd-start-", "pd-"));
}, true);

/** @param {string} elementId */
function begun(elementId) {
  const root = viewIn(elementId);
  if (root) root.isStopped = false;
}

/** @param {{ fraction: number | null, text: string }} state */
function progress(state) {
  const box = make("p", "pd-bench-progress");
  const meter = make("progress", "pd-meter");
  meter.setAttribute("aria-label", "Progress");
  if (state.fraction !== null) {
    meter.max = 1;
    meter.value = state.fraction;
  }
  box.append(make("span", "pd-muted", state.text), meter);
  return box;
}

/**
 * The root of the view inside an element of Gradio's.
 * @param {string} elementId
 * @returns {HTMLElement | null}
 */
function viewIn(elementId) {
  return document.querySelector("#" + elementId + " .pd");
}

// After Stop nothing more comes: what is there stays, and says that it is not whole.
/**
 * @param {string} elementId
 * @param {string} [reason]
 */
function settle(elementId, reason) {
  const root = viewIn(elementId);
  if (root) root.isStopped = true;
  if (root) showStopped(root, reason);
}

// How far it came is said where that was counted; what was being done then is over.
/**
 * @param {HTMLElement} root
 * @param {string} [reason]
 */
function showStopped(root, reason = "Stopped") {
  if (root.dataset.state !== "running") return;
  root.dataset.state = "stopped";
  const box = root.querySelector(".pd-bench-progress");
  const [count] = /^[\d,]+ of [^:\u00b7]+/.exec(box?.textContent || "") || [];
  box?.replaceChildren(make("span", "pd-stopped", reason + (count ? " after " + count.trim() : "") + "."));
}

/** @param {{ hint: string, place: Place | null }} header */
function trouble({ hint, place }) {
  const box = make("p", "pd-bench-hint");
  if (hint) box.append(prose("span", "", hint));
  const go = place && placeButton(place);
  if (go) box.append(go);
  return box;
}

// A way to a line of the request, a field of it, or a line of the template.
/**
 * @param {Place} place
 * @returns {HTMLButtonElement | null}
 */
function placeButton(place) {
  if (place.line) return button("Go to line " + place.line, "pd-jump", () => controller("request")?.jump(place));
  if (place.field) return button("\u2192 " + place.field, "pd-jump", () => controller("request")?.jump({ field: place.field }));
  return place.template_line ? lineButton(place) : null;
}

/** @param {Place} place */
function lineButton(place) {
  const column = place.template_column ? ", column " + place.template_column : "";
  const go = () => controller("template_source")?.jump(place);
  return button("template line " + place.template_line + column, "pd-jump", go, "Show it in the template editor");
}

/** @param {...(Place | null | undefined)} places */
function placesOf(...places) {
  const box = make("span", "pd-places");
  const seen = new Set();
  for (const place of places) {
    const field = place && place.field;
    const line = place && place.template_line;
    if (field && !seen.has(field) && seen.add(field)) box.append(placeButton({ field }) || "");
    if (line && !seen.has(line) && seen.add(line)) box.append(lineButton({ template_line: line }));
  }
  return box.childNodes.length ? box : null;
}

host.placeButton = placeButton;

export { begun, bench, settle, lineButton, placeButton, placesOf, markStale, viewIn };
