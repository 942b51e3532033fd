// @ts-check
// What came back, three ways: the raw stream, the streamed chat, the chat message as the server returned it.
import { builders } from "../lib/builders.js";
import { chunkLine } from "./chunk_line.js";
import { button, copyText, make } from "../lib/dom.js";
import { drawJson, drawMarked, lightJson, walkJson } from "./json_view.js";
import { onLight } from "./linking.js";

/** @typedef {{ title: string, figures: string, copy: string | null, streaming: boolean, json: JsonSegment[] | null, marked: [string, string][] | null, empty: string, note: string }} Pane */

builders.completion = (root, name) => {
  root.classList.add("pd-completion");
  const panes = ["raw", "stream", "message"].map((kind) => {
    const pane = make("section", "pd-pane pd-pane-" + kind);
    const head = make("header", "pd-bar");
    const body = make("div", "pd-text");
    body.tabIndex = 0;
    body.setAttribute("role", "region");
    pane.append(head, body);
    root.append(pane);
    return { kind, head, body };
  });

  /**
   * @param {{ head: HTMLElement, body: HTMLElement }} pane
   * @param {Pane} content
   */
  function draw(pane, content) {
    pane.body.setAttribute("aria-label", content.title);
    const title = make("span", "pd-pane-title", content.title);
    const figures = make("span", "pd-counts", content.figures);
    pane.head.replaceChildren(title, figures);
    const { copy } = content;
    if (copy !== null) pane.head.append(button("copy", "pd-small", (event) => copyText(copy, event.currentTarget)));
    pane.body.classList.toggle("pd-streaming", content.streaming);
    if (content.json) {
      drawJson(pane.body, content.json);
      walkJson(pane.body, name, "message", (path) => ({ target: path }));
    } else if (content.marked) {
      drawMarked(pane.body, content.marked, false);
      if (content.streaming) pane.body.scrollTop = pane.body.scrollHeight;
    } else {
      pane.body.replaceChildren(make("p", "pd-empty", content.empty));
    }
    if (content.note) pane.body.append(make("p", "pd-pane-note", content.note));
  }

  onLight((source, facts) => source !== name && lightJson(panes[2].body, facts.target));

  return {
    show(decoded) {
      const content = decoded ? decoded.header : null;
      panes.forEach((pane) => content && draw(pane, content[pane.kind]));
      root.querySelector(".pd-chunks")?.remove();
      if (content && content.timing) root.append(chunkLine(content.timing, name));
    },
  };
};
