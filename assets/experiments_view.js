// Experiments on the request: tabs inside a panel, switches with their token differences, turns, counts, two setups.
"use strict";
(function (global) {
  const pd = (global.PromptDebugger = global.PromptDebugger || {});
  const { make, prose, button } = pd;
  pd.builders = pd.builders || {};

  // --- tabs inside a panel ------------------------------------------------------

  // Payload: {label, prefix, tabs: [[name, title, hint], …]}; each shows the element `prefix + name`.
  pd.builders.tabs = (root) => {
    root.classList.add("pd-tabs");
    root.setAttribute("role", "tablist");
    return {
      show(decoded) {
        if (!decoded) return root.replaceChildren();
        const { label, prefix, tabs } = decoded.header;
        root.setAttribute("aria-label", label);
        const made = tabs.map(([name, title, hint]) => {
          const tab = make("button", "pd-tab", title);
          tab.type = "button";
          tab.id = "pd-tab-of-" + prefix + name;
          tab.title = hint;
          tab.setAttribute("role", "tab");
          tab.setAttribute("aria-controls", prefix + name);
          tab.addEventListener("click", () => choose(made, prefix, tabs, name));
          return tab;
        });
        root.onkeydown = (event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!step) return;
          const next = made[(made.indexOf(document.activeElement) + step + made.length) % made.length];
          next.click();
          next.focus();
        };
        root.replaceChildren(...made);
        choose(made, prefix, tabs, tabs[0][0]);
      },
    };
  };

  function choose(made, prefix, tabs, name) {
    tabs.forEach(([other], i) => {
      const isOpen = other === name;
      made[i].setAttribute("aria-selected", String(isOpen));
      made[i].tabIndex = isOpen ? 0 : -1;
      const place = document.getElementById(prefix + other);
      if (!place) return;
      place.classList.toggle("pd-closed", !isOpen);
      place.setAttribute("role", "tabpanel");
      place.setAttribute("aria-labelledby", made[i].id);
    });
  }

  // --- what all views of the bench share -------------------------------------------

  // A view that shows {state, source, sentence, …}, an error, or, before the first run, what it will show.
  function bench(root, name, hint, draw) {
    root.classList.add("pd-bench-view");
    const empty = () => root.replaceChildren(make("p", "pd-empty", hint));
    empty();
    return {
      show(decoded) {
        if (!decoded) {
          root.dataset.state = "empty";
          return empty();
        }
        const header = decoded.header;
        root.dataset.state = header.state;
        const head = make("div", "pd-bench-head");
        head.append(prose("p", "pd-bench-sentence", header.sentence || "\u2026"));
        if (header.source) head.append(prose("p", "pd-muted", header.source));
        if (header.state === "running") head.append(progress(header.progress));
        if (header.state === "error") head.append(trouble(header));
        const open = openItems(root);
        root.replaceChildren(head);
        if (header.state !== "error") root.append(...draw(header).filter(Boolean));
        reopen(root, open);
        root.shownFor = header.state === "error" ? undefined : requestText();
        if (root.isStopped) showStopped(root); // a step that was under way still came
      },
    };
  }

  // What stands in the request's editor.
  function requestText() {
    const view = pd.editorView ? pd.editorView() : null;
    return view ? view.state.doc.toString() : "";
  }

  // A result says so when the request it belongs to is no longer the one in the editor.
  function markStale() {
    const text = requestText();
    document.querySelectorAll("#pd-panel-what-if .pd-bench-view").forEach((root) => {
      const isStale = root.shownFor !== undefined && root.shownFor !== text && root.dataset.state !== "empty";
      const note = root.querySelector(".pd-stale");
      if (note && !isStale) note.remove();
      if (note || !isStale || !root.querySelector(".pd-bench-head")) return;
      const added = make("p", "pd-stale", "The request was changed since: try again.");
      added.setAttribute("role", "status");
      root.querySelector(".pd-bench-head").append(added);
    });
  }

  // What a person has folded out stays so while the report grows.
  function openItems(root) {
    return new Map([...root.querySelectorAll("details[data-key]")].map((one) => [one.dataset.key, one.open]));
  }

  function reopen(root, open) {
    root.querySelectorAll("details[data-key]").forEach((one) => {
      if (open.has(one.dataset.key)) one.open = open.get(one.dataset.key);
    });
  }

  // A new start is no longer stopped.
  document.addEventListener("click", (event) => {
    const start = event.target.closest ? event.target.closest("button[id^='pd-start-']") : null;
    const root = start && document.querySelector("#" + start.id.replace("pd-start-", "pd-") + " .pd");
    if (root) root.isStopped = false;
  }, true);

  function progress(state) {
    const box = make("p", "pd-bench-progress");
    const meter = make("progress", "pd-meter");
    meter.setAttribute("aria-label", "Progress");
    if (state.fraction !== null) {
      meter.max = 1;
      meter.value = state.fraction;
    }
    box.append(make("span", "pd-muted", state.text), meter);
    return box;
  }

  // After Stop nothing more comes: what is there stays, and says that it is not whole.
  function settle(elementId) {
    const root = document.querySelector("#" + elementId + " .pd");
    if (root) root.isStopped = true;
    if (root) showStopped(root);
  }

  function showStopped(root) {
    if (root.dataset.state !== "running") return;
    root.dataset.state = "stopped";
    const box = root.querySelector(".pd-bench-progress");
    if (box) box.replaceChildren(make("span", "pd-stopped", "Stopped: " + box.textContent));
  }

  function trouble({ hint, place }) {
    const box = make("p", "pd-bench-hint");
    if (hint) box.append(prose("span", "", hint));
    const go = place && placeButton(place);
    if (go) box.append(go);
    return box;
  }

  // A way to a line of the request, a field of it, or a line of the template.
  function placeButton(place) {
    if (place.line) return button("Go to line " + place.line, "pd-jump", () => pd.controller("request").jump(place));
    if (place.field) return button("\u2192 " + place.field, "pd-jump", () => pd.controller("request").jump({ field: place.field }));
    return place.template_line ? lineButton(place) : null;
  }

  function lineButton(place) {
    const column = place.template_column ? ", column " + place.template_column : "";
    const go = () => pd.controller("template_source") && pd.controller("template_source").jump(place);
    return button("template line " + place.template_line + column, "pd-jump", go, "Show it in the template editor");
  }

  function placesOf(...places) {
    const box = make("span", "pd-places");
    const seen = new Set();
    for (const place of places) {
      const field = place && place.field;
      const line = place && place.template_line;
      if (field && !seen.has(field) && seen.add(field)) box.append(placeButton({ field }));
      if (line && !seen.has(line) && seen.add(line)) box.append(lineButton({ template_line: line }));
    }
    return box.childNodes.length ? box : null;
  }

  // --- chips: tokens taken out and put in -----------------------------------------------

  const shownText = (text) => pd.visibleText(text, true).replace(/\n/g, "");

  function chip([text, kind, ids, bytes], mark) {
    if (kind === "more") return make("span", "pd-chip-more", "\u2026 " + text);
    const element = make("span", "pd-chip pd-chip-" + kind + (mark ? " pd-" + mark : ""));
    element.textContent = shownText(text) || "\u2205";
    element.title = [ids && "id " + ids, kind !== "text" && kind, bytes && "bytes " + bytes].filter(Boolean).join(" \u00b7 ");
    element.addEventListener("mouseover", () => {
      const parts = [["", JSON.stringify(text), "text"], ["", kind, kind === "special" ? "special" : ""]];
      if (ids) parts.unshift([ids.includes(" ") ? "ids" : "id", ids]);
      if (bytes) parts.push(["bytes", bytes]);
      pd.point("bench", { parts });
    });
    return element;
  }

  function side(sign, word, chips, mark, lead, tail) {
    const row = make("div", "pd-diff-side pd-diff-" + mark);
    const label = make("span", "pd-diff-sign", sign);
    label.setAttribute("role", "img");
    label.setAttribute("aria-label", word);
    const box = make("span", "pd-diff-chips");
    (lead || []).forEach((one) => box.append(chip(one, "beside")));
    if (chips.length) chips.forEach((one) => box.append(chip(one, mark)));
    else box.append(make("span", "pd-diff-none", "nothing"));
    (tail || []).forEach((one) => box.append(chip(one, "beside")));
    row.append(label, box);
    return row;
  }

  function hunk(one, unit) {
    const box = make("div", "pd-hunk");
    box.append(make("span", "pd-hunk-at", unit + " " + one.at));
    const sides = make("div", "pd-hunk-sides");
    sides.append(side("\u2212", "taken out", one.removed, "removed", one.lead, one.tail));
    sides.append(side("+", "put in", one.added, "added", one.lead, one.tail));
    box.append(sides);
    return box;
  }

  const SHOWN_HUNKS = 3;

  function difference(found, key) {
    const box = make("div", "pd-hunks");
    found.hunks.slice(0, SHOWN_HUNKS).forEach((one) => box.append(hunk(one, found.unit)));
    const rest = found.hunks.slice(SHOWN_HUNKS);
    if (rest.length) {
      const more = make("details", "pd-more");
      more.dataset.key = key;
      more.append(make("summary", "", pd.plural(rest.length, "more place")));
      rest.forEach((one) => more.append(hunk(one, found.unit)));
      box.append(more);
    }
    found.notes.forEach((note) => box.append(make("p", "pd-muted", note)));
    return box;
  }

  const figures = (found) => "\u2212" + found.removed + " +" + found.added + " " + found.unit + "s";

  // --- switches -----------------------------------------------------------------------------

  pd.builders.switches = (root, name) =>
    bench(root, name, "Each switch set otherwise, one at a time: the generation prompt, thinking, tools, content, arguments, ids, what vLLM does to a request. You see which tokens go and come.", (header) => [
      header.failure && failureBox("As pasted", header.failure),
      ...header.mends.map((one) => entry(one, "mends", make("p", "", "The request renders with this switch; as pasted it does not."))),
      ...header.changes.map(change),
      ...header.fails.map((one) => entry(one, "refused", failureBox("", one.failure))),
      header.nothing.length && plainList("Changes nothing", header.nothing.map(([title, hint]) => [title, hint])),
      header.absent.length && absentList(header.absent),
      header.untried.length && plainList("Not tried: rendering took all the time it may", header.untried.map((title) => [title, ""])),
    ]);

  function change(one) {
    const found = one.difference;
    const body = make("div", "");
    body.append(difference(found, one.name));
    const places = placesOf(found.before, found.after);
    if (places) body.append(places);
    return entry(one, figures(found), body);
  }

  function entry(one, figure, body) {
    const box = make("section", "pd-effect");
    box.dataset.switch = one.name;
    const head = make("h2", "pd-effect-head");
    head.append(make("code", "pd-effect-name", one.name), make("span", "pd-effect-figure", figure));
    const what = prose("p", "pd-effect-change", one.change);
    if (one.fields.length) what.append(make("span", "pd-muted", " (" + one.fields.join(", ") + ")"));
    box.append(head, what, body);
    return box;
  }

  function failureBox(label, failure) {
    const box = make("div", "pd-failure");
    box.append(prose("span", "", (label ? label + ": " : "") + failure.sentence));
    if (failure.template_line) box.append(lineButton(failure));
    return box;
  }

  function plainList(title, items) {
    const box = make("p", "pd-plain-list");
    box.append(make("strong", "", title + ": "));
    items.forEach(([item, hint], i) => {
      const code = make("code", "pd-inline-code", item);
      if (hint) code.title = hint;
      box.append(i ? " " : "", code);
    });
    return box;
  }

  function absentList(groups) {
    const box = make("details", "pd-absent");
    box.dataset.key = "absent";
    const count = groups.reduce((sum, [, names]) => sum + names.length, 0);
    box.append(make("summary", "", pd.plural(count, "switch").replace("switchs", "switches") + (count === 1 ? " does" : " do") + " not apply, and why"));
    const list = make("ul", "");
    groups.forEach(([reason, names]) => {
      const item = make("li", "");
      names.forEach((one) => item.append(make("code", "pd-inline-code", one), " "));
      item.append(prose("span", "pd-muted", reason));
      list.append(item);
    });
    box.append(list);
    return box;
  }

  // --- turns -----------------------------------------------------------------------------------

  pd.builders.turns = (root, name) =>
    bench(root, name, "For each past assistant turn: does the next prompt begin with the earlier prompt and what the model wrote? A server's prefix cache lives on it.", (header) => [
      ...(header.turns.length ? [turnList(header.turns)] : []),
      header.note && make("p", "pd-muted", header.note),
    ]);

  const TURN_MARKS = { kept: "\u2713", broken: "\u2715", failed: "?" };

  function turnList(turns) {
    const list = make("ol", "pd-turns");
    list.append(...turns.map(turnItem));
    return list;
  }

  function turnItem(turn) {
    const item = make("li", "pd-turn pd-turn-" + turn.state);
    const head = make("p", "pd-turn-head");
    const mark = make("span", "pd-turn-mark", TURN_MARKS[turn.state]);
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", turn.state);
    head.append(mark, placeButton({ field: "messages[" + turn.index + "]" }), make("span", "", turn.sentence));
    item.append(head);
    if (turn.failure) item.append(failureBox("", turn.failure));
    if (turn.state !== "broken") return item;
    const cause = prose("p", "pd-turn-cause", turn.cause + " ");
    cause.append(make("span", "pd-muted", "(" + turn.certainty + ")"));
    item.append(make("p", "pd-hunk-at", "parts at " + turn.at), cause);
    const sides = make("div", "pd-hunk-sides");
    sides.append(side("\u2212", "was there", turn.removed, "removed", turn.lead), side("+", "stands there now", turn.added, "added", turn.lead));
    item.append(sides);
    const places = placesOf(turn.before, turn.after);
    if (places) item.append(places);
    if (turn.remedies.length) item.append(plainList("Mended by", turn.remedies.map((one) => [one, ""])));
    return item;
  }

  // --- token count --------------------------------------------------------------------------------

  pd.builders.token_count = (root, name) =>
    bench(root, name, "A closed server shows no prompt, only usage.prompt_tokens. Type that number: every likely way to render the request is counted, and those that have it are named.", (header) => [
      header.agreement && agreementBox(header.agreement),
      countTable(header),
      ...header.notes.map((note) => make("p", "pd-muted", note)),
    ]);

  function agreementBox(agreement) {
    const box = plainList(agreement.sentence, agreement.names.map((one) => [one, ""]));
    box.classList.add("pd-agreement");
    return box;
  }

  function countTable(header) {
    const table = make("table", "pd-table pd-count-table");
    const head = make("tr", "");
    ["Tokens", "Off by", "Set otherwise", "What it does"].forEach((title) => {
      const cell = make("th", "", title);
      cell.scope = "col";
      head.append(cell);
    });
    const top = make("thead", "");
    top.append(head);
    const body = make("tbody", "");
    header.explanations.forEach((one) => body.append(countRow(one)));
    table.append(make("caption", "pd-live", "Renders, nearest to the number first"), top, body);
    const box = make("div", "pd-scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Renders by their token count");
    box.append(table);
    return box;
  }

  function countRow(one) {
    const row = make("tr", one.off_by === 0 ? "pd-exact" : "");
    const off = one.off_by === 0 ? "= exact" : (one.off_by > 0 ? "+" : "\u2212") + Math.abs(one.off_by);
    const names = make("td", "");
    (one.names.length ? one.names : ["as pasted"]).forEach((title, i) => names.append(i ? " + " : "", make("code", "pd-inline-code", title)));
    const what = prose("td", "pd-words", one.words);
    if (one.also.length) what.append(make("span", "pd-muted", " The same prompt also by: " + one.also.join("; ") + "."));
    row.append(make("td", "pd-figure-cell", one.count), make("td", "pd-figure-cell", off), names, what);
    return row;
  }

  // --- two setups -----------------------------------------------------------------------------------

  pd.builders.setups = (root, name) =>
    bench(root, name, "Another version of the template, or another tokenizer, on the same request: where do the two prompts part, token by token?", (header) => [
      prose("p", "pd-muted", "Second: " + header.other + "."),
      sideCounts(header.sides),
      header.difference && difference(header.difference, "setups"),
      header.difference && placesOf(header.difference.before, header.difference.after),
    ]);

  function sideCounts(sides) {
    const list = make("ul", "pd-setup-sides");
    sides.forEach((one) => {
      const item = make("li", "");
      item.append(make("strong", "", one.name + ": "), one.count || "");
      if (one.failure) item.append(failureBox("no prompt", one.failure));
      list.append(item);
    });
    return list;
  }

  Object.assign(pd, { bench, settle, lineButton, placeButton, markStale, drawDifference: difference });
})(globalThis);
