// @ts-check
// Help: what this is, its keys, where to read on. Opened by the button with the question mark, or by that key.
import { button, make, prose, under } from "../lib/dom.js";
import { keepSwitch } from "../editor/draft.js";
import { host } from "../lib/host.js";
import { startTour } from "./tour.js";

const STAGES = [
  ["1 Render", "Your request becomes one text, the prompt. You see it token by token, and which field or template line produced each of them. It is rendered here while you type."],
  ["2 Complete", "The model writes text. You see it raw, before any parser touched it, next to what the chat endpoint returned."],
  ["3 Parse", "A parser turns that text into a message. Every character is accounted for: kept, altered or lost."],
  ["Findings", "What is wrong, worst first, each with its evidence and a fix. A code such as `PD401` leads to its page."],
];
const TASKS = [
  ["My tool call vanished", "Paste your `curl`: its server becomes the target, and Enter its key opens the field for it; or paste the request and enter your server under Target. Then press Run."],
  ["What did it write?", "Paste the raw output of a model and press Run: Parse shows its calls. No server is asked."],
  ["Does the fix help?", "In Findings press Apply and run: Compare opens with before and after."],
  ["Which token?", "Click it and press Copy link to this token: the link contains the run and opens there."],
  ["Yesterday's run", "History, at the top, keeps the runs of this browser."],
  ["Only the prompt", "Paste the request: it appears in the Render pane without a run. Enter the model's tokenizer under Target."],
  ["Which parser?", "Check, next to the stage cards: every parser of vLLM on this model's template, with the command to start a server."],
  ["A thousand requests", "`verify` runs them; Verify, next to the stage cards, shows its results, each row as a run."],
  ["Tell a colleague", "Share, at the top: a link to this request, or a file with the whole run that opens offline."],
];
const KEYS = [
  ["Ctrl + Enter", "run the request (\u2318 + Enter on a Mac)"],
  ["?", "this help, when no field has the focus"],
  ["Tab", "next control; also leaves the editors"],
  ["F6", "next region: menus, verdict, request, stages, panel; Shift + F6 goes back"],
  ["Ctrl + ]", "indent the line or the selection in an editor; Ctrl + [ undoes it (\u2318 on a Mac)"],
  ["Shift + Alt + F", "format the request, with the focus in its column: numbers, strings and the order of keys stay unchanged"],
  ["\u2190 \u2192 \u2191 \u2193", "walk tokens, characters, fields; between the stage cards"],
  ["Enter", "pin the token under the cursor, and what belongs to it"],
  ["Escape", "release it"],
];
/** @type {HTMLDialogElement | null} */
let dialog = null;

/**
 * @param {string[][]} rows
 * @param {string} className
 */
function table(rows, className) {
  const list = make("dl", className);
  rows.forEach(([name, words]) => list.append(make("dt", "", name), prose("dd", "", words)));
  return list;
}

/** @returns {HTMLDialogElement} */
function build() {
  const dialog = make("dialog", "pd pd-help");
  dialog.setAttribute("aria-labelledby", "pd-help-title");
  const title = make("h2", "", "Prompt Debugger in a minute");
  title.id = "pd-help-title";
  const close = button("Close", "pd-help-close", () => dialog.close());
  const rules = make("a", "", "All rules: what each finding means");
  rules.href = host.rulesAt || "";
  rules.target = "_blank";
  rules.rel = "noopener";
  const links = make("p", "pd-help-links");
  const tour = button("Show me around", "", () => {
    dialog.close();
    startTour(document.querySelector(".pd-help-button"));
  });
  links.append(tour, rules);
  const head = make("header", "pd-help-head");
  head.append(title, close);
  const keep = keepSwitch("pd-help-keep");
  dialog.append(
    head, table(STAGES, "pd-help-list"), make("h3", "", "What to do"), table(TASKS, "pd-help-list"),
    make("h3", "", "Keys"), table(KEYS, "pd-help-list pd-help-keys"), keep, links,
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  return dialog;
}

export const openHelp = () => {
  dialog = dialog || build();
  if (!dialog.open) dialog.showModal();
};

export const helpButton = () => {
  const help = button("?", "pd-small pd-help-button", openHelp, "Help and keys");
  help.setAttribute("aria-label", "Help and keys");
  return help;
};

document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (under(event, "input, textarea, select, [contenteditable=true]")) return;
  event.preventDefault();
  openHelp();
});
