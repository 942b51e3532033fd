// @ts-check
// Header, verdict strip and stage cards: what is under test, the run in one sentence, the way to each stage.
import { builders } from "./builders.js";
import { button, copyText, make, prose } from "./dom.js";
import { host, tellVerdict } from "./host.js";
import { controller, jump, open, panelOf, release } from "./linking.js";
import { visibleText } from "./payload.js";

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
    },
    jump() {
      target.animate([{ opacity: 0.2 }, { opacity: 1 }], 400);
    },
  };
};

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
  let shownRun = null;
  return {
    show(decoded) {
      const verdict = decoded ? /** @type {VerdictPayload} */ (decoded.header) : null;
      if (!verdict) return root.replaceChildren();
      root.dataset.state = verdict.state;
      if (verdict.state !== "running") settleStages();
      if (verdict.state === "idle" || verdict.state === "recorded" || verdict.run !== shownRun) release();
      root.dataset.tone = verdict.tone;
      const text = make("div", "pd-verdict-text");
      text.append(prose("p", "pd-sentence", verdict.sentence));
      if (verdict.detail) text.append(prose("p", "pd-detail", verdict.detail));
      if (verdict.log) text.append(logBox(verdict.log));
      root.replaceChildren(make("span", "pd-badge", verdict.badge), text, actions(verdict));
      if (verdict.state === "running") root.append(meter(verdict.fraction, "Progress of the run"));
      if (verdict.state === "running" && shownRun !== verdict.run) host.panelChosen = false;
      const isResult = verdict.state === "done" || verdict.state === "recorded";
      if (isResult && verdict.open && !host.panelChosen) {
        open(verdict.open);
        const isNew = verdict.state === "done"; // a case that was merely chosen scrolls nothing
        if (isNew && verdict.evidence && panelOf(verdict.evidence) === verdict.open) jump({ ...verdict.evidence, quiet: true });
      }
      shownRun = verdict.run;
      tellVerdict(verdict);
    },
  };
};

function logBox(log) {
  const box = make("details", "pd-log");
  box.append(make("summary", "", "Last lines of the log"), make("pre", "", log));
  return box;
}

/** @param {VerdictPayload} verdict */
function actions(verdict) {
  const box = make("div", "pd-actions");
  if (verdict.place) {
    const { line, column } = verdict.place;
    const go = () => controller("request") && controller("request").jump({ line, column });
    box.append(button("Go to line " + line, "", go));
  }
  if (verdict.evidence) box.append(button("Show evidence", "", () => jump(verdict.evidence)));
  if (verdict.asks_margin && host.order) box.append(...marginButton()); // a report has nothing to ask
  if (verdict.quotable) {
    box.append(button("Copy sentence", "", (event) => copyText(verdict.sentence, event.currentTarget)));
  }
  return box;
}

function marginButton() {
  const said = make("span", "pd-live", "");
  said.setAttribute("role", "status");
  const hint = "Run the request again with log probabilities: how likely was the marker that opens a call, against its best rival?";
  return [button("How close was a call?", "", () => host.order("pd-ask-margin", "", said), hint), said];
}

// A run that ended early leaves no card running.
function settleStages() {
  /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".pd-stage-running")).forEach((tab) => {
    const hasFigures = tab.querySelector(".pd-figure") !== null;
    tab.classList.replace("pd-stage-running", hasFigures ? "pd-stage-note" : "pd-stage-idle");
    const mark = /** @type {HTMLElement} */ (tab.querySelector(".pd-stage-mark"));
    mark.textContent = hasFigures ? MARKS.note : MARKS.idle;
    mark.title = hasFigures ? "the run ended behind this" : "has not run";
    mark.setAttribute("aria-label", mark.title);
  });
}

const MARKS = { ok: "\u2713", guilty: "\u2715", follows: "~", idle: "\u25cb", running: "\u2026", unknown: "?", note: "!" };

builders.stages = (root) => {
  root.classList.add("pd-stages");
  root.setAttribute("role", "tablist");
  root.setAttribute("aria-label", "Stages of the run");
  root.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[role=tab]"))];
    const next = tabs[(tabs.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step + tabs.length) % tabs.length];
    next.click();
    next.focus();
  });
  return {
    show(decoded) {
      const cards = decoded ? /** @type {StagesPayload} */ (decoded.header).cards : [];
      const focused = document.activeElement && root.contains(document.activeElement) ? document.activeElement.id : null;
      root.replaceChildren(...cards.map(card), toolTabs());
      open(document.documentElement.dataset.panel || (cards[0] && cards[0].opens));
      if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
    },
  };
};

// Panels beside the stages: experiments on the request and on finished runs. A report has none of them.
const TOOLS = [
  ["what-if", "What-if", "Try every render switch, token counts and turns on this request"],
  ["template", "Template", "Edit the chat template and render the request again"],
  ["mend", "Mend", "Prove a cause by experiments, shrink the request, hand over a plugin or a test"],
  ["compare", "Compare", "Two runs side by side"],
  ["check", "Check", "Which parsers read this model's template, and with which flags?"],
  ["verify", "Verify", "What `verify` found: rates, causes, rows, and two beside each other"],
];

function toolTabs() {
  const box = make("div", "pd-tools");
  box.setAttribute("role", "presentation");
  TOOLS.filter(([opens]) => document.getElementById("pd-panel-" + opens)).forEach(([opens, title, hint]) => {
    const tab = tabOf(opens, "pd-tool");
    tab.textContent = title;
    tab.title = hint;
    box.append(tab);
  });
  return box;
}

function tabOf(opens, className) {
  const tab = make("button", className);
  tab.type = "button";
  tab.id = "pd-tab-" + opens;
  tab.dataset.opens = opens;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", "pd-panel-" + opens);
  tab.addEventListener("click", () => {
    host.panelChosen = true;
    open(opens);
  });
  return tab;
}

/** @param {StageCard} stage */
function card(stage) {
  const tab = tabOf(stage.opens, "pd-stage pd-stage-" + stage.state);
  const head = make("span", "pd-stage-head");
  const mark = make("span", "pd-stage-mark", MARKS[stage.state]);
  mark.title = stage.word;
  mark.setAttribute("aria-label", stage.word);
  mark.setAttribute("role", "img");
  head.append(make("span", "pd-stage-title", stage.title), mark);
  tab.append(head);
  stage.figures.forEach((figure) => tab.append(make("span", "pd-figure", figure)));
  if (stage.hint) tab.append(make("span", "pd-hint", stage.hint));
  return tab;
}
