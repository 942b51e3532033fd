// What every view makes its elements with: text goes in as text, never as markup.
import { visibleText } from "./payload.js";

// Makes an element; text goes in as text, never as markup, and nothing in it hides or reorders.
export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = visibleText(String(text), false);
  return element;
}

// A sentence of ours: what stands in backticks is set as code; everything goes in as text.
export function prose(tag, className, text) {
  const element = make(tag, className);
  visibleText(text, false).split("`").forEach((part, i, all) => {
    const isCode = i % 2 === 1 && i < all.length - 1;
    if (isCode) element.append(make("code", "pd-inline-code", part));
    else element.append((i % 2 === 1 ? "`" : "") + part);
  });
  return element;
}

export function button(label, className, onClick, title) {
  const element = make("button", "pd-button " + (className || ""), label);
  element.type = "button";
  if (title) element.title = visibleText(title, false);
  element.addEventListener("click", onClick);
  return element;
}

export async function copyText(text, element) {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else copyBySelection(text); // a page that came over plain http
  const before = element.textContent;
  element.textContent = "copied";
  setTimeout(() => (element.textContent = before), 1200);
}

function copyBySelection(text) {
  const area = make("textarea", "pd-live", "");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
