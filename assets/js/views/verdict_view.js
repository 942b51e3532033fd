// @ts-check
// Header, verdict strip and stage cards: what is under test, the run in one sentence, the way to each stage.
import { builders } from "../lib/builders.js";
import { button, copyText, make, prose } from "../lib/dom.js";
import { host, notifyVerdict } from "../lib/host.js";
import { controller, jump, open, panelOf, release } from "./linking.js";
import { visibleText } from "../lib/payload.js";
import { nextStep, trialLine, watchTrial } from "./next_step.js";
import { tabOf, toolTabs } from "./tools_row.js";

const PURPOSE = "See the prompt the model reads, what it writes, and where a tool call gets lost.";

function themeButton() {
  const theme = button("\u25d0", "pd-small pd-theme", () => {
    const isDark = document.body.classList.toggle("dark");
    if (host.keepTheme) host.keepTheme(isDark);
  }, "Light or dark");
  theme.setAttribute("aria-label", "Light or dark");
  return theme;
}

export { themeButton };

builders.header = (root) => {
  root.classList.add("pd-header");
  const target = make("div", "pd-target");
  const title = make("h1", "pd-title", "Prompt Debugger");
  root.append(title);
  if (document.getElementById("pd-lab")) root.append(make("p", "pd-purpose", PURPOSE)); // a report is about its run
  root.append(target);
  // In a narrow window they end in an ellipsis: who goes there sees them whole.
  const offerWhole = () => {
    if (target === document.activeElement) return;
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  };
  new ResizeObserver(offerWhole).observe(target);
  if (!document.getElementById("pd-lab")) root.append(themeButton()); // a report has no line about a lab
  return {
    show(decoded) {
      const facts = decoded ? /** @type {HeaderPayload} */ (decoded.header).facts : [];
      target.replaceChildren(
        ...facts.map(([label, value, hint]) => {
          const fact = make("span", "pd-fact");
          if (label) fact.append(make("span", "pd-fact-label", label), " ");
          fact.append(make("span", "pd-fact-value", value));
          if (hint) fact.title = visibleText(hint, false);
          return fact;
        }),
      );
      offerWhole();
    },
    jump({ quiet }) {
      target.tabIndex = -1;
      if (!quiet) target.focus();
      target.animate([{ opacity: 0.2 }, { opacity: 1 }], 400);
    },
  };
};

/**
 * @param {number | null} fraction
 * @param {string} label
 */
function meter(fraction, label) {
  const bar = make("progress", "pd-meter");
  bar.setAttribute("aria-label", label);
  if (fraction !== null) {
    bar.max = 1;
    bar.value = fraction;
  }
  return bar;
}

builders.verdict = (root) => {
  root.classList.add("pd-verdict");
  root.setAttribute("aria-live", "polite");
  /** @type {number | null} */
  let shownRun = null;
  /** @type {VerdictPayload | null} */
  let shown = null;

  /**
   * A run that goes on with what it was doing: only its clock and its bar move, and no one hears them.
   * @param {VerdictPayload} verdict
   */
  function isTick({ state, run, sentence }) {
    return state === "running" && shown !== null && shown.state === state && shown.run === run && shown.sentence === sentence;
  }

  /** @param {VerdictPayload} verdict */
  function tick(verdict) {
    root.querySelector(".pd-detail")?.replaceChildren(...prose("p", "", verdict.detail).childNodes);
    const old = root.querySelector(".pd-meter");
    if (verdict.fraction !== shown?.fraction) old?.replaceWith(meter(verdict.fraction, "Progress of the run"));
    shown = verdict;
    notifyVerdict(verdict);
  }

  return {
    show(decoded) {
      const verdict = decoded ? /** @type {VerdictPayload} */ (decoded.header) : null;
      if (!verdict) {
        shown = null;
        return root.replaceChildren();
      }
      if (isTick(verdict)) return tick(verdict);
      shown = verdict;
      root.dataset.state = verdict.state;
      delete root.dataset.trial; // of the run before
      if (verdict.state !== "running") settleStages();
      if (verdict.state === "idle" || verdict.state === "recorded" || verdict.run !== shownRun) release();
      root.dataset.tone = verdict.tone;
      const text = make("div", "pd-verdict-text");
      const result = make("div", "pd-result");
      result.append(prose("h2", "pd-sentence", verdict.sentence));
      if (verdict.tag) result.append(" ", tagOf(verdict.tag));
      text.append(result);
      const detail = make("p", "pd-detail");
      detail.append(...causeOf(verdict.cause || []), ...prose("span", "", verdict.detail).childNodes);
      if (verdict.state === "running") detail.setAttribute("aria-live", "off"); // its seconds are not read out
      if (detail.childNodes.length || verdict.state === "running") text.append(detail);
      if (verdict.log) text.append(logBox(verdict.log));
      const { proof } = verdict;
      if (proof) text.append(trialLine(proof.worked ? "worked" : "failed", proof.short, proof.sentence));
      root.replaceChildren(make("span", "pd-badge", verdict.badge), text, actions(verdict));
      watchTrial(root, verdict.step?.kind === "try" ? verdict.step.code : null);
      if (verdict.state === "running") root.append(meter(verdict.fraction, "Progress of the run"));
      if (verdict.state === "running" && shownRun !== verdict.run) host.panelChosen = false;
      const isResult = verdict.state === "done" || verdict.state === "recorded";
      if (isResult && verdict.open && !host.panelChosen) {
        open(verdict.open);
        const isNew = verdict.state === "done"; // a case that was merely chosen scrolls nothing
        const isWide = !globalThis.matchMedia("(max-width: 900px)").matches; // on a narrow one the page would scroll away from the verdict
        if (isNew && isWide && verdict.evidence && panelOf(verdict.evidence) === verdict.open) jump({ ...verdict.evidence, quiet: true });
      }
      // A run that came to nothing leaves no one in front of an empty panel.
      if (verdict.bare?.includes(document.documentElement.dataset.panel ?? "")) open("render");
      shownRun = verdict.run;
      notifyVerdict(verdict);
    },
  };
};

/**
 * What led to the result, root first; each says by its title which finding it is.
 * @param {{ text: string, code: string | null }[]} causes
 */
function causeOf(causes) {
  /** @type {Node[]} */
  const parts = [];
  causes.forEach(({ text, code }, i) => {
    const one = prose("span", "pd-cause-part", text);
    if (code) one.title = code;
    if (i) parts.push(arrow());
    parts.push(one);
  });
  if (causes.some(({ code }) => code)) parts.push(document.createTextNode("."));
  if (parts.length) parts.push(document.createTextNode(" "));
  return parts;
}

function arrow() {
  const sign = make("span", "pd-cause-arrow", " \u2192 ");
  sign.setAttribute("role", "img");
  sign.setAttribute("aria-label", " leads to ");
  return sign;
}

/** @param {[word: string, hint: string]} tag */
function tagOf([word, hint]) {
  const made = make("span", "pd-tag", word);
  made.title = visibleText(hint, false);
  return made;
}

/** @param {string} log */
function logBox(log) {
  const box = make("details", "pd-log");
  box.append(make("summary", "", "Last lines of the log"), make("pre", "", log));
  return box;
}

/**
 * The buttons: one primary that is the next step, then the evidence; to copy the sentence is a quiet one.
 * @param {VerdictPayload} verdict
 */
function actions(verdict) {
  const box = make("div", "pd-actions");
  const said = make("span", "pd-live", "");
  said.setAttribute("role", "status");
  if (verdict.place) {
    const { line, column } = verdict.place;
    const go = () => controller("request")?.jump({ line, column });
    box.append(button("Go to line " + line, "pd-primary pd-go-to-line", go));
  }
  if ("held" in verdict && verdict.held && host.openHeld) box.append(button("Show the run in it", "pd-primary", () => host.openHeld?.()));
  const { evidence, quote } = verdict;
  const step = nextStep(verdict.step, said);
  if (step) box.append(step);
  if (verdict.asks_margin && host.order) box.append(marginButton(said)); // a report has nothing to ask
  if (evidence) box.append(button("Evidence", "", () => jump(evidence), "Show what the verdict is based on"));
  if (quote) box.append(copyButton(quote));
  box.append(said);
  return box;
}

/** @param {string} quote */
function copyButton(quote) {
  const copy = button("", "pd-quiet pd-icon pd-icon-copy", (event) => copyText(quote, event.currentTarget), "Copy sentence");
  copy.setAttribute("aria-label", "Copy sentence");
  copy.dataset.done = "\u2713";
  return copy;
}

/** @param {HTMLElement} said */
function marginButton(said) {
  const hint = "Run the request again with log probabilities: how likely was the marker that opens a call, compared with its strongest rival?";
  return button("How close was a call?", "", () => host.order?.("pd-ask-margin", "", said), hint);
}

// A run that ended early leaves no card running.
function settleStages() {
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".pd-stage-running")).forEach((tab) => {
    const hasFigures = tab.querySelector(".pd-figure") !== null;
    tab.classList.replace("pd-stage-running", hasFigures ? "pd-stage-note" : "pd-stage-idle");
    const mark = /** @type {HTMLElement} */ (tab.querySelector(".pd-stage-mark"));
    mark.textContent = hasFigures ? MARKS.note : MARKS.idle;
    mark.title = hasFigures ? "the run ended after this" : "has not run";
    mark.setAttribute("aria-label", mark.title);
  });
}

const MARKS = { ok: "\u2713", guilty: "\u2715", follows: "~", idle: "\u25cb", running: "\u2026", unknown: "?", note: "!" };

builders.stages = (root) => {
  root.classList.add("pd-stages");
  const list = make("div", "pd-stage-tabs");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Stages of the run");
  root.addEventListener("keydown", (event) => {
    const tabs = [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[role=tab]"))];
    const at = tabs.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    /** @type {Record<string, number>} */
    const goals = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
    if (at < 0 || !(event.key in goals)) return;
    event.preventDefault();
    const next = tabs[(goals[event.key] + tabs.length) % tabs.length];
    next.click();
    next.focus();
  });
  return {
    show(decoded) {
      const { cards, request } = decoded ? /** @type {StagesPayload} */ (decoded.header) : { cards: [], request: null };
      const focused = document.activeElement && root.contains(document.activeElement) ? document.activeElement.id : null;
      list.replaceChildren(...cards.map(card), toolTabs());
      root.replaceChildren(...(request ? [requestCard(request)] : []), list);
      open(document.documentElement.dataset.panel || (cards[0] && cards[0].opens));
      if (focused) document.getElementById(focused)?.focus();
      host.stagesDrawn?.();
    },
  };
};

/**
 * A request at fault: a card of its own, which leads to the place. What is wrong with it stands among the findings.
 * @param {RequestCard} request
 */
function requestCard(request) {
  const go = make("button", "pd-stage pd-request-card pd-stage-" + request.state);
  go.type = "button";
  fill(go, request);
  go.addEventListener("click", () => {
    if (request.evidence && controller("request")) return jump(request.evidence);
    host.panelChosen = true;
    open("findings");
  });
  return go;
}

/** @param {StageCard} stage */
function card(stage) {
  const tab = tabOf(stage.opens, "pd-stage pd-stage-" + stage.state);
  fill(tab, stage);
  if (stage.hint) tab.append(make("span", "pd-hint", stage.hint));
  tab.append(make("span", "pd-hint pd-promise", stage.promise));
  return tab;
}

/**
 * @param {HTMLElement} tab
 * @param {StageCard | RequestCard} stage
 */
function fill(tab, stage) {
  const head = make("span", "pd-stage-head");
  const mark = make("span", "pd-stage-mark", MARKS[stage.state]);
  mark.title = stage.word;
  mark.setAttribute("aria-label", stage.word);
  mark.setAttribute("role", "img");
  head.append(make("span", "pd-stage-title", stage.title), mark);
  tab.append(head);
  if (!stage.figures.length) return;
  const figures = make("span", "pd-stage-figures");
  figures.append(...stage.figures.map((figure) => make("span", "pd-figure", figure)));
  tab.title = visibleText(stage.figures.join(" \u00b7 "), false);
  tab.append(figures);
}
