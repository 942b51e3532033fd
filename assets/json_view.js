// Pretty JSON whose every value knows its path, and stretches of text with marks. Shared by several views.
"use strict";
(function (global) {
  const pd = (global.PromptDebugger = global.PromptDebugger || {});
  const { make } = pd;

  // Draws [[text, role, path], …] into `box`; role is `key`, `string`, `number`, `word`, `mark`, `invented`.
  function drawJson(box, segments, onPoint) {
    box.replaceChildren(
      ...segments.map(([text, role, path]) => {
        const element = make("span", "pd-json-" + role, text);
        if (path) element.dataset.path = path;
        return element;
      }),
    );
    if (onPoint) {
      box.onmouseover = (event) => event.target.dataset.path && onPoint(event.target.dataset.path, event.target);
    }
  }

  // Lights every value that stands at `path` or below it.
  function lightJson(box, path) {
    box.querySelectorAll("[data-path]").forEach((element) => {
      const here = element.dataset.path;
      const isIn = Boolean(path) && (here === path || here.startsWith(path + ".") || here.startsWith(path + "["));
      element.classList.toggle("pd-lit", isIn);
    });
  }

  // Draws [[text, mark], …]: raw text whose control tokens are marked.
  function drawMarked(box, segments, whitespace) {
    box.replaceChildren(
      ...segments.map(([text, mark]) => make("span", mark ? "pd-inline-" + mark : "", pd.visibleText(text, whitespace))),
    );
  }

  // Splits a field path: `messages[2].tool_calls[0].id` → ["messages", 2, "tool_calls", 0, "id"].
  function splitPath(path) {
    const parts = [];
    for (const match of path.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)) {
      parts.push(match[1] !== undefined ? Number(match[1]) : match[2] !== undefined ? JSON.parse('"' + match[2] + '"') : match[3]);
    }
    return parts;
  }

  // Finds where the value at `path` stands in JSON text: [start, stop) in UTF-16 units, or null.
  // Reads the text without decoding it, so that places stay exact; a missing last part gives its parent.
  function locateField(text, path) {
    let at = 0;
    const skip = () => {
      while (at < text.length && " \t\r\n,:".includes(text[at])) at++;
    };
    const string = () => {
      const start = at++;
      while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
      return text.slice(start, ++at);
    };
    const value = () => {
      skip();
      if (text[at] === '"') return string();
      if (text[at] !== "{" && text[at] !== "[") {
        while (at < text.length && !",]} \t\r\n".includes(text[at])) at++;
        return;
      }
      let depth = 0;
      do {
        if (text[at] === '"') {
          string();
          continue;
        }
        if (text[at] === "{" || text[at] === "[") depth++;
        if (text[at] === "}" || text[at] === "]") depth--;
        at++;
      } while (depth > 0 && at < text.length);
    };
    // Moves to the member of the container at `at`; false if there is none.
    const enter = (part) => {
      const isObject = text[at] === "{";
      if (!isObject && text[at] !== "[") return false;
      at++;
      for (let i = 0; ; i++) {
        skip();
        if (at >= text.length || text[at] === "}" || text[at] === "]") return false;
        let key = i;
        if (isObject) {
          if (text[at] !== '"') return false;
          try {
            key = JSON.parse(string());
          } catch {
            return false;
          }
          skip();
        }
        if (key === part) return true;
        value();
      }
    };
    skip();
    let start = at;
    for (const part of splitPath(path)) {
      if (!enter(part)) break;
      start = at;
    }
    at = start;
    value();
    return at > start ? [start, at] : null;
  }

  Object.assign(pd, { drawJson, lightJson, drawMarked, splitPath, locateField });
})(globalThis);
