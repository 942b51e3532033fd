// @ts-check
// Pretty JSON whose every value knows its path, and stretches of text with marks. Shared by several views.
import { make } from "../lib/dom.js";
import { isWithin } from "../lib/field_paths.js";
import { walk } from "./linking.js";
import { visibleText } from "../lib/payload.js";

// Draws [[text, role, path], …] into `box`; role is `key`, `string`, `number`, `word`, `mark`, `invented`.
/**
 * @param {HTMLElement} box
 * @param {JsonSegment[]} segments
 * @param {(path: string, element: HTMLElement) => void} [onPoint]
 */
function drawJson(box, segments, onPoint) {
  box.replaceChildren(
    ...segments.map(([text, role, path]) => {
      const element = make("span", "pd-json-" + role, text);
      if (path) element.dataset.path = path;
      return element;
    }),
  );
  if (!onPoint) return;
  box.onmouseover = ({ target }) => {
    if (target instanceof HTMLElement && target.dataset.path) onPoint(target.dataset.path, target);
  };
}

// Pointer and arrow keys tell what is known of the value under them; `extra(path)` adds what it is linked to.
/**
 * @param {HTMLElement} box
 * @param {string} name
 * @param {string} label
 * @param {(path: string) => Partial<Facts>} extra
 */
function walkJson(box, name, label, extra) {
  /** @type {(element: HTMLElement) => Facts} */
  const factsOf = (element) => {
    const path = String(element.dataset.path);
    return { parts: [[label, path], ["", element.textContent, "text"]], ...extra(path) };
  };
  walk(box, name, "[data-path]", factsOf, "[data-path]:not(.pd-json-mark)");
}

// Lights every value that is at one of the paths or below it.
/**
 * @param {HTMLElement} box
 * @param {...MaybePath} paths
 */
function lightJson(box, ...paths) {
  /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll("[data-path]")).forEach((element) => {
    element.classList.toggle("pd-lit", paths.some((path) => isWithin(element.dataset.path, path)));
  });
}

// Draws [[text, mark], …]: raw text whose control tokens are marked.
/**
 * @param {HTMLElement} box
 * @param {[string, string][]} segments
 * @param {boolean} whitespace
 */
function drawMarked(box, segments, whitespace) {
  box.replaceChildren(
    ...segments.map(([text, mark]) => make("span", mark ? "pd-inline-" + mark : "", visibleText(text, whitespace))),
  );
}

export { drawJson, walkJson, lightJson, drawMarked };
