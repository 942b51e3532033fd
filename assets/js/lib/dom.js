// @ts-check
// What every view makes its elements with: text goes in as text, never as markup.
import { visibleText } from "./payload.js";

/**
 * Makes an element; text goes in as text, never as markup, and nothing in it hides or reorders.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} [className]
 * @param {unknown} [text]
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = visibleText(String(text), false);
  return element;
}

/**
 * A sentence of ours: what is in backticks is set as code; everything goes in as text.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} className
 * @param {string} text
 * @returns {HTMLElementTagNameMap[T]}
 */
export function prose(tag, className, text) {
  const element = make(tag, className);
  visibleText(text, false).split("`").forEach((part, i, all) => {
    const isCode = i % 2 === 1 && i < all.length - 1;
    if (isCode) element.append(make("code", "pd-inline-code", part));
    else element.append((i % 2 === 1 ? "`" : "") + part);
  });
  return element;
}

/**
 * @param {string} label
 * @param {string} className
 * @param {(event: MouseEvent & { currentTarget: HTMLButtonElement }) => unknown} onClick
 * @param {string} [title]
 */
export function button(label, className, onClick, title) {
  const element = make("button", "pd-button " + (className || ""), label);
  element.type = "button";
  if (title) element.title = visibleText(title, false);
  element.addEventListener("click", /** @type {(event: MouseEvent) => unknown} */ (onClick));
  return element;
}

/**
 * A table with a heading for each column. Who sees it sees what it is of: the caption is for those who hear it.
 * @param {string} caption
 * @param {string[]} heads
 * @param {HTMLTableRowElement[]} rows
 * @param {string} [className]
 */
export function table(caption, heads, rows, className) {
  const element = make("table", "pd-table" + (className ? " " + className : ""));
  const head = make("tr"), top = make("thead"), body = make("tbody");
  heads.forEach((text) => {
    const cell = make("th", "", text);
    cell.scope = "col";
    head.append(cell);
  });
  top.append(head);
  body.append(...rows);
  element.append(make("caption", "pd-live", caption), top, body);
  return element;
}

/**
 * A box that scrolls: the keyboard must reach it, and hear what it is.
 * @param {string} label
 * @param {string} className
 * @param {...HTMLElement} children
 */
export function region(label, className, ...children) {
  const box = make("div", className);
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  box.append(...children);
  return box;
}

/**
 * What is where nothing is yet: a sentence, and on the page the button that changes that. A report has no such button.
 * @param {string} sentence
 */
export function beforeRun(sentence) {
  const box = make("p", "pd-empty");
  box.append(make("span", "", sentence));
  if (document.getElementById("pd-run")) box.append(button("Run", "pd-run-here", () => press("pd-run"), "Run the text in the editor"));
  return box;
}

/**
 * The element under an event that a selector names; null without.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function under(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/** @type {Set<string>} */
const early = new Set(); // buttons to press once they are drawn: of a page that comes slowly, some come after others

/**
 * Presses a button of the page, if it can be pressed: one that is not drawn yet, once it is.
 * @param {string} id
 */
export function press(id) {
  const find = () => /** @type {HTMLButtonElement | null} */ (document.getElementById(id));
  const element = find();
  if (element !== null) {
    if (!element.disabled) element.click();
  } else if (!early.has(id)) {
    early.add(id);
    drawn(find).then(() => {
      early.delete(id);
      setTimeout(() => press(id)); // once Gradio listens to it
    });
  }
}

/**
 * @param {string} text
 * @param {HTMLElement} element The button, which says so.
 */
export async function copyText(text, element) {
  // Without a clipboard where the page came over plain http; a browser may deny it as well.
  const isCopied = await written(text) || copyBySelection(text);
  const before = element.textContent;
  element.textContent = isCopied ? element.dataset.done || "copied" : element.dataset.done ? "\u2717" : "not copied";
  setTimeout(() => (element.textContent = before), 1200);
}

/** @param {string} text */
async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} text */
function copyBySelection(text) {
  const area = make("textarea", "pd-live", "");
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

/**
 * What the page is still drawing, as soon as it is there.
 * @template T
 * @param {() => T | null} find
 * @returns {Promise<T>}
 */
export function drawn(find) {
  return new Promise((resolve) => {
    const look = () => {
      const found = find();
      if (found === null) return false;
      watching.disconnect();
      resolve(found);
      return true;
    };
    const watching = new MutationObserver(look);
    if (!look()) watching.observe(document.documentElement, { childList: true, subtree: true });
  });
}

/**
 * A command, whose lines break between its words: never inside `--tool-call-parser`.
 * @param {string} command
 * @param {string} [className]
 */
export function commandText(command, className = "") {
  const code = make("code", className);
  code.append(...command.split(/(\s+)/).map((part) => (part.trim() ? make("span", "pd-command-word", part) : part)));
  return code;
}
