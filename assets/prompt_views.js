// Beside the prompt's tokens: the template with the lines that ran, and where server and local prompt part.
"use strict";
(function (global) {
  const pd = (global.PromptDebugger = global.PromptDebugger || {});
  const { make, prose, button } = pd;
  pd.builders = pd.builders || {};

  pd.builders.template = (root, name) => {
    root.classList.add("pd-template");
    const head = make("div", "pd-bar");
    const source = make("div", "pd-source");
    source.tabIndex = 0;
    source.setAttribute("role", "region");
    source.setAttribute("aria-label", "Chat template");
    root.append(head, source);
    let lit = null;

    function light(line, scroll) {
      if (lit) lit.classList.remove("pd-lit");
      lit = line ? source.querySelector('[data-line="' + line + '"]') : null;
      if (!lit) return;
      lit.classList.add("pd-lit");
      if (scroll) source.scrollTop = lit.offsetTop - source.clientHeight / 2;
    }

    function pointed(event) {
      const row = event.target.closest("[data-line]");
      if (!row) return null;
      const line = Number(row.dataset.line);
      return { parts: [["template line", line], ["", row.querySelector(".pd-code").textContent, "text"]], template_line: line };
    }

    source.addEventListener("mouseover", (event) => {
      const facts = pointed(event);
      if (facts) pd.point(name, facts);
    });
    source.addEventListener("click", (event) => {
      const facts = pointed(event);
      if (facts) pd.pin(name, facts);
    });
    pd.onLight((from, facts) => light(facts.template_line, from !== name));

    return {
      show(decoded) {
        if (!decoded) {
          head.replaceChildren(make("span", "pd-counts", "Template"));
          source.replaceChildren(make("p", "pd-empty", "The chat template, with the lines that wrote this prompt."));
          return;
        }
        const { lines, ran, caption } = decoded.header;
        const didRun = new Set(ran);
        head.replaceChildren(make("span", "pd-counts", caption));
        source.replaceChildren(
          ...lines.map((line, i) => {
            const row = make("div", "pd-line" + (didRun.has(i + 1) ? " pd-ran" : ""));
            row.dataset.line = i + 1;
            row.append(make("span", "pd-gutter", String(i + 1)), make("span", "pd-code", line));
            return row;
          }),
        );
      },
    };
  };

  pd.builders.difference = (root) => {
    root.classList.add("pd-difference");
    return {
      show(decoded) {
        const difference = decoded ? decoded.header : null;
        root.dataset.state = difference ? difference.state : "empty";
        if (!difference) return root.replaceChildren();
        const line = make("p", "pd-difference-line");
        line.append(make("span", "", difference.sentence));
        if (difference.first_token !== null) {
          line.append(button("Show token " + difference.first_token, "pd-small", () => pd.jump({ in: "prompt", token_span: [difference.first_token, difference.first_token + 1] })));
        }
        root.replaceChildren(line);
        if (difference.cause) root.append(prose("p", "pd-cause", difference.cause));
        for (const [label, parts] of difference.texts) root.append(side(label, parts));
        if (difference.notes.length) root.append(notes(difference.notes));
      },
    };
  };

  function side(label, [before, apart, after]) {
    const row = make("div", "pd-side");
    const text = make("code", "");
    text.append(
      make("span", "pd-muted", pd.visibleText(before, true)),
      make("mark", "", pd.visibleText(apart || "", true) || "\u2205"),
      make("span", "pd-muted", pd.visibleText(after, true)),
    );
    row.append(make("span", "pd-side-label", label), text);
    return row;
  }

  function notes(items) {
    const list = make("ul", "pd-notes");
    list.append(...items.map((item) => prose("li", "", item)));
    return list;
  }
})(globalThis);
