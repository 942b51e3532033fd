// @ts-check
// What ties the views of a page together: mounting, the open panel, jumps, links between views, the inspector.
// Knows no Gradio; the page's adapter and an exported report both call `attach`.
import { builders } from "../lib/builders.js";
import { button, make, under } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { decodePayload, visibleText } from "../lib/payload.js";

/** @type {Map<string, Controller>} */
const controllers = new Map();
/** @type {Record<string, Controller>} */
const places = {};
/** @type {Set<Light>} */
const lighters = new Set();
/** @type {{ targetOf(spans: [number, number][]): string | null | undefined, spansOf(target: string): [number, number][] } | null} */
let account = null;
/** @type {{ fieldsOf(template_line: number): string[], linesOf(field: string): number[] } | null} */
let origins = null;
/** @type {string | null} */
let pinned = null;
/** @type {Facts | null} */
let pinnedFacts = null;

// Mounts view `name` of kind `kind` into `root`; returns its controller with `set(payload)`.
/**
 * @param {ViewRoot} root
 * @param {string} kind
 * @param {string} name
 * @returns {{ jump: (evidence: Goal) => unknown, set: (payload: string | null) => Promise<void> }}
 */
function attach(root, kind, name) {
  const controller = builders[kind](root, name);
  let sequence = 0;
  /** @type {string | null} */
  let shown = null;
  let ready = Promise.resolve();
  /** @param {string | null} payload */
  async function draw(payload) {
    const mine = ++sequence;
    if (payload === shown) return;
    const decoded = payload ? await decodePayload(payload) : null;
    if (mine !== sequence) return; // a newer payload won
    shown = payload;
    controller.show(decoded);
    root.dataset.shown = String(mine);
  }
  const outer = {
    jump: (/** @type {Goal} */ evidence) => ready.then(() => controller.jump?.(evidence)),
    set: (/** @type {string | null} */ payload) => (ready = draw(payload)),
  };
  controllers.set(name, outer);
  return outer;
}

// Opens one panel and closes its siblings.
/** @param {string} panel */
function open(panel) {
  document.querySelectorAll("[id^='pd-panel-']").forEach((element) => {
    const isOpen = element.id === "pd-panel-" + panel;
    element.classList.toggle("pd-closed", !isOpen);
    element.setAttribute("role", "tabpanel");
    element.setAttribute("aria-labelledby", "pd-tab-" + element.id.slice("pd-panel-".length));
  });
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-opens]")).forEach((tab) => {
    const isOpen = tab.dataset.opens === panel;
    tab.setAttribute("aria-selected", String(isOpen));
    tab.tabIndex = isOpen ? 0 : -1;
  });
  document.documentElement.dataset.panel = panel;
  document.dispatchEvent(new Event("pd-opened"));
}

/** @type {Record<string, [panel: string | null, view: string | null]>} */
const PLACES = {
  prompt: ["render", "prompt_tokens"],
  raw: ["parse", "ledger"],
  message: ["parse", "ledger"],
  finding: ["findings", "findings"],
  request: [null, "request"],
  server: [null, "header"],
};

/**
 * @param {Goal} evidence
 * @returns {[panel: string | null, view: string | null]}
 */
function placeOf(evidence) {
  const isByToken = evidence.in === "raw" && evidence.token_span && !evidence.char_span;
  return isByToken ? ["complete", "raw_tokens"] : PLACES[evidence.in || ""] || [null, null];
}

/** @param {Goal} evidence */
function panelOf(evidence) {
  return placeOf(evidence)[0];
}

// Goes to a piece of evidence, wherever it is: {in, char_span?, token_span?, field?, quote?}.
// `quiet` leaves the focus where it is: the end of a run shows, it does not interrupt.
/** @param {Goal} evidence */
function jump(evidence) {
  const [panel, name] = placeOf(evidence);
  if (panel) open(panel);
  if (panel === "render" && host.showPromptOfRun) host.showPromptOfRun();
  const target = name && controller(name);
  // Two frames: the panel has its size, and views that change together have all begun to.
  if (target) requestAnimationFrame(() => requestAnimationFrame(() => target.jump(evidence)));
}

// Facts of the thing under the cursor go to the inspector and to every view that can light them.
// facts: {parts: [[label, value, mark?], …], and what it is tied to, as far as known:
//   field: path in the request; template_line; raw: [[start, stop], …] characters of the raw output;
//   target: path in the message}. Views get `fields` and `template_lines`, also those that follow from the others.
/**
 * @param {string | null} source
 * @param {Facts | null} facts
 */
function point(source, facts) {
  if (pinned && facts !== pinnedFacts) return;
  inspect(facts ? facts.parts : []);
  const whole = facts ? { ...facts, ...written(facts), ...accounted(facts) } : { fields: [], template_lines: [] };
  lighters.forEach((light) => light(source, whole, Boolean(pinned) || facts === pinnedFacts));
}

// The prompt's tokens know which template line wrote which field.
/** @param {Facts} facts */
function written({ field, template_line }) {
  const fields = field ? [field] : template_line && origins ? origins.fieldsOf(template_line) : [];
  const lines = template_line ? [template_line] : field && origins ? origins.linesOf(field) : [];
  return { fields, template_lines: lines };
}

// The ledger knows which characters became which field of the message.
/**
 * @param {Facts} facts
 * @returns {Partial<Facts>}
 */
function accounted({ raw, target }) {
  if (!account) return {};
  if (raw && !target) return { target: account.targetOf(raw) };
  return target && !raw ? { raw: account.spansOf(target) } : {};
}

/** @param {NonNullable<typeof account>} offered */
function offerAccount(offered) {
  account = offered;
}

/** @param {NonNullable<typeof origins>} offered */
function offerOrigins(offered) {
  origins = offered;
}

/**
 * @param {string} source
 * @param {Facts} facts
 */
function pin(source, facts) {
  pinned = null;
  pinnedFacts = facts;
  point(source, facts);
  if (facts.place && host.linkTo) offerLink(facts.place);
  host.placePinned?.(facts.place || null);
  pinned = source;
  document.documentElement.classList.add("pd-pinned");
}

// What is pinned can be sent to someone.
/** @param {string} place */
function offerLink(place) {
  const line = document.getElementById("pd-inspector");
  const words = /\.t\d+$/.test(place) ? "Copy link to this token" : "Copy link to this place";
  if (line) line.prepend(button(words, "pd-small pd-place-link", (event) => host.linkTo?.(place, event.currentTarget)));
}

function release() {
  host.placePinned?.(null);
  pinned = pinnedFacts = null;
  document.documentElement.classList.remove("pd-pinned");
  point(null, null);
}

/** @param {Fact[]} parts */
function inspect(parts) {
  const line = document.getElementById("pd-inspector");
  if (!line) return;
  if (!parts.length) {
    line.replaceChildren(make("span", "pd-muted", "Point at a token, a character or a field to see everything known about it."));
    return;
  }
  line.replaceChildren(
    ...originFirst(parts).map(([label, value, mark]) => {
      const part = make("span", "pd-fact" + (mark ? " pd-fact-" + mark : ""));
      if (label) part.append(make("span", "pd-fact-label", label), " ");
      part.append(make("span", "pd-fact-value", visibleText(String(value), mark === "text").replace(/\n/g, "")));
      part.title = part.textContent;
      return part;
    }),
    letGo(),
  );
}

// Where a thing comes from is what one looks for, and must not be cut off at the end of a line.
const ORIGINS = new Set(["from", "template line", "in"]);
/**
 * @param {Fact[]} parts
 * @returns {Fact[]}
 */
function originFirst(parts) {
  /** @type {(part: Fact) => boolean} */
  const isOrigin = ([label]) => ORIGINS.has(label);
  return [...parts.slice(0, 1), ...parts.slice(1).filter(isOrigin), ...parts.slice(1).filter((part) => !isOrigin(part))];
}

// For who has no Escape key; shown on narrow windows once something is pinned.
function letGo() {
  const close = make("button", "pd-let-go", "\u00d7");
  close.type = "button";
  close.setAttribute("aria-label", "Release the pin");
  close.addEventListener("click", release);
  return close;
}

// `light(source, facts, isKept)` is called for whatever is pointed at; `isKept` once it is pinned.
/** @param {Light} light */
function onLight(light) {
  lighters.add(light);
}

// Lets pointer and arrow keys walk the elements of a scrolling box; a click or Enter pins. May be called again.
/**
 * @param {HTMLElement} box
 * @param {string} name
 * @param {string} selector
 * @param {(element: HTMLElement) => Facts} factsOf
 * @param {string} [steps]
 */
function walk(box, name, selector, factsOf, steps) {
  /** @type {(event: Event) => HTMLElement | null} */
  const within = (event) => {
    const element = under(event, selector);
    return element && box.contains(element) ? element : null;
  };
  box.onmouseover = (event) => {
    const element = within(event);
    if (element) point(name, factsOf(element));
  };
  box.onclick = (event) => {
    const element = within(event);
    if (element && document.getSelection()?.isCollapsed) pin(name, factsOf(element));
  };
  box.onkeydown = (event) => {
    if (event.target instanceof HTMLButtonElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const here = /** @type {HTMLElement | null} */ (box.querySelector(".pd-at"));
    if (event.key === "Enter" || event.key === " ") {
      if (here) pin(name, factsOf(here));
      return event.preventDefault();
    }
    const elements = /** @type {HTMLElement[]} */ ([...box.querySelectorAll(steps || selector)]);
    const at = stepOf(event.key, here ? elements.indexOf(here) : -1, elements.length);
    if (at === null) return;
    event.preventDefault();
    if (here) here.classList.remove("pd-at");
    elements[at].classList.add("pd-at");
    elements[at].scrollIntoView({ block: "nearest" });
    release();
    point(name, factsOf(elements[at]));
  };
}

// Where a key leads from `at` among `count` things; null if it leads nowhere.
/**
 * @param {string} key
 * @param {number} at
 * @param {number} count
 * @returns {number | null}
 */
function stepOf(key, at, count) {
  /** @type {Record<string, number>} */
  const steps = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: count - 1 };
  const to = steps[key];
  return to === undefined || !count ? null : Math.max(0, Math.min(count - 1, to));
}

// Offers a place that is no view of ours, such as the page's editor.
/**
 * @param {string} name
 * @param {(place: Goal) => unknown} jumpThere
 */
function offerPlace(name, jumpThere) {
  places[name] = { jump: jumpThere };
}

/**
 * @param {string} name
 * @returns {Controller | undefined}
 */
function controller(name) {
  return controllers.get(name) || places[name];
}

export {
  attach, open, jump, panelOf, point, pin, release, inspect, onLight,
  offerAccount, offerOrigins, walk, offerPlace, controller };
