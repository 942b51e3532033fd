// Token view: every token of a text, however long. Only the rows on screen exist in the DOM.
"use strict";
(function (global) {
  const pd = (global.PromptDebugger = global.PromptDebugger || {});
  const ROW_PX = 22;
  const SPARE_ROWS = 8;
  const GUTTER_CELLS = 7;
  const KINDS = ["text", "special", "added", "byte"];
  const { make, button } = pd;

  class TokenView {
    constructor(root, name) {
      this.root = root;
      this.name = name;
      this.where = name === "raw_tokens" ? "raw" : "prompt";
      this.data = null;
      this.options = { whitespace: false, ids: false, turns: true };
      this.active = 0;
      this.hits = [];
      this.hitAt = -1;
      this.window = [-1, -1];
      this.build();
    }

    build() {
      this.root.classList.add("pd-tokens");
      this.counts = make("span", "pd-counts");
      this.search = make("input", "pd-search");
      this.search.type = "search";
      this.search.placeholder = "find text, id:198, special:";
      this.search.setAttribute("aria-label", "Find tokens");
      this.found = make("span", "pd-found");
      this.found.setAttribute("role", "status");
      const bar = make("div", "pd-bar");
      bar.append(this.counts, this.searchBox(), this.switches());
      this.scroller = make("div", "pd-grid");
      this.scroller.tabIndex = 0;
      this.scroller.setAttribute("role", "listbox");
      this.scroller.setAttribute("aria-label", this.where === "prompt" ? "Tokens of the prompt" : "Tokens of the raw output");
      this.sizer = make("div", "pd-grid-sizer");
      this.rowsBox = make("div", "pd-grid-rows");
      this.sizer.setAttribute("role", "presentation");
      this.rowsBox.setAttribute("role", "presentation");
      this.sizer.append(this.rowsBox);
      this.scroller.append(this.sizer);
      this.live = make("div", "pd-live");
      this.live.setAttribute("role", "status");
      this.empty = make("p", "pd-empty", this.emptyText());
      this.bar = bar;
      this.root.append(bar, this.scroller, this.live, this.empty);
      this.listen();
      this.showEmpty(true);
    }

    emptyText() {
      return this.where === "prompt"
        ? "The prompt the server really used, token by token, with what wrote each of them."
        : "The raw output, token by token, before any parser touched it.";
    }

    showEmpty(isEmpty) {
      this.empty.hidden = !isEmpty;
      this.scroller.hidden = this.bar.hidden = isEmpty;
    }

    searchBox() {
      const box = make("span", "pd-search-box");
      const up = button("\u2191", "pd-small", () => this.step(-1), "Previous hit (Shift+Enter)");
      const down = button("\u2193", "pd-small", () => this.step(1), "Next hit (Enter)");
      up.setAttribute("aria-label", "Previous hit");
      down.setAttribute("aria-label", "Next hit");
      box.append(this.search, up, down, this.found);
      return box;
    }

    switches() {
      const box = make("span", "pd-switches");
      const add = (option, label, title) => {
        const toggle = button(label, "pd-switch", () => this.toggle(option, toggle), title);
        toggle.dataset.option = option;
        toggle.setAttribute("aria-pressed", String(this.options[option]));
        box.append(toggle);
      };
      add("whitespace", "\u00b7\u21b5 white space", "Show spaces, tabs and line breaks as marks");
      add("turns", "\u2936 turns", "Start a new line where one control token follows another");
      add("ids", "ids", "Show ids instead of text");
      return box;
    }

    toggle(option, element) {
      this.options[option] = !this.options[option];
      element.setAttribute("aria-pressed", String(this.options[option]));
      this.refresh();
    }

    listen() {
      this.scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.paint(false)), { passive: true });
      this.scroller.addEventListener("mouseover", (event) => this.onPointer(event, false));
      this.scroller.addEventListener("click", (event) => this.onPointer(event, true));
      this.scroller.addEventListener("keydown", (event) => this.onKey(event));
      this.scroller.addEventListener("focus", () => this.data && this.point());
      this.scroller.addEventListener("copy", (event) => this.onCopy(event));
      let timer = 0;
      this.search.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => this.find(this.search.value), 60);
      });
      this.search.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.metaKey || event.ctrlKey) return;
        event.preventDefault();
        this.step(event.shiftKey ? -1 : 1);
      });
      this.width = 0;
      new ResizeObserver(() => this.onResize()).observe(this.scroller);
      pd.onLight((source, facts) => this.light(source, facts));
    }

    show(decoded) {
      if (!decoded) {
        this.data = null;
        this.showEmpty(true);
        return;
      }
      const header = decoded.header;
      const index = header.wide ? new Uint32Array(decoded.columns, 0, header.count) : new Uint16Array(decoded.columns, 0, header.count);
      this.data = { ...header, index };
      this.joined = null;
      this.hits = [];
      this.hitSet = new Set();
      this.lit = null;
      this.shown = [-1, -1];
      this.found.textContent = "";
      this.search.value = "";
      this.active = 0;
      this.counts.textContent = header.counts;
      this.showEmpty(false);
      this.measure();
      this.scroller.scrollTop = 0;
      this.refresh();
    }

    measure() {
      const probe = make("div", "pd-row", "x".repeat(100));
      probe.style.cssText = "position:absolute;visibility:hidden;width:max-content";
      this.rowsBox.append(probe);
      this.cell = probe.getBoundingClientRect().width / 100 || 8;
      probe.remove();
      this.width = this.scroller.clientWidth;
    }

    // Lays everything out again and keeps the active chip in sight.
    refresh() {
      if (!this.data || !this.scroller.clientWidth) return;
      const { table, index } = this.data;
      this.display = pd.displayTable(table, this.options);
      const columns = Math.max(16, Math.floor((this.scroller.clientWidth - 14) / this.cell) - GUTTER_CELLS);
      const isSpecial = (at) => table[index[at]].kind === 1;
      const startsTurn = this.options.turns ? (at) => at > 0 && isSpecial(at) && isSpecial(at - 1) : null;
      this.rows = pd.layoutRows(index, this.display, columns, startsTurn);
      this.sizer.style.height = this.rows.count * ROW_PX + "px";
      this.paint(true);
    }

    onResize() {
      if (!this.data || !this.scroller.clientWidth || this.scroller.clientWidth === this.width) return;
      const top = this.rows ? this.rows.chip[Math.floor(this.scroller.scrollTop / ROW_PX)] || 0 : 0;
      this.measure();
      this.refresh();
      this.scroller.scrollTop = pd.rowOfChip(this.rows, top) * ROW_PX;
      this.paint(true);
    }

    paint(force) {
      if (!this.data || !this.rows || !this.scroller.clientHeight) return;
      const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_PX) - SPARE_ROWS);
      const last = Math.min(this.rows.count, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / ROW_PX) + SPARE_ROWS);
      if (!force && first === this.window[0] && last === this.window[1]) return;
      this.window = [first, last];
      const fragment = document.createDocumentFragment();
      for (let r = first; r < last; r++) fragment.append(this.row(r));
      this.rowsBox.style.transform = "translateY(" + first * ROW_PX + "px)";
      this.rowsBox.replaceChildren(fragment);
      const active = document.getElementById(this.activeId());
      if (active) this.scroller.setAttribute("aria-activedescendant", this.activeId());
      else this.scroller.removeAttribute("aria-activedescendant");
    }

    activeId() {
      return "pd-active-" + this.name;
    }

    row(r) {
      const { chip, offset, count } = this.rows;
      const row = make("div", "pd-row");
      row.setAttribute("role", "presentation");
      const gutter = make("span", "pd-gutter", offset[r] ? "" : String(pd.tokenOfChip(this.data.merged, chip[r])));
      gutter.setAttribute("aria-hidden", "true");
      row.append(gutter);
      const stopChip = r + 1 < count ? chip[r + 1] : this.data.index.length;
      const stopOffset = r + 1 < count ? offset[r + 1] : 0;
      for (let at = chip[r]; at < stopChip || (at === stopChip && stopOffset > 0); at++) {
        const from = at === chip[r] ? offset[r] : 0;
        row.append(this.chip(at, from, at === stopChip ? stopOffset : undefined));
      }
      return row;
    }

    chip(at, from, to) {
      const entry = this.data.index[at];
      const kind = this.data.table[entry];
      const text = this.display.shown[entry].slice(from, to);
      const element = make("span", this.chipClass(at, kind), text.endsWith("\n") ? text.slice(0, -1) : text);
      element.dataset.at = at;
      if (from > 0) {
        element.setAttribute("role", "presentation");
        return element;
      }
      element.setAttribute("role", "option");
      element.setAttribute("aria-posinset", at + 1);
      element.setAttribute("aria-setsize", this.data.index.length);
      element.setAttribute("aria-selected", String(at === this.active));
      if (text.trim() === "") element.setAttribute("aria-label", JSON.stringify(kind.text));
      if (at === this.active) element.id = this.activeId();
      return element;
    }

    chipClass(at, chip) {
      let name = "pd-chip pd-chip-" + KINDS[chip.kind] + (at & 1 ? " pd-odd" : "");
      if (chip.injected) name += " pd-injected";
      if (at === this.active) name += " pd-active";
      if (this.hitSet.has(at)) name += " pd-hit";
      if (this.lit && this.lit(at)) name += " pd-lit";
      if (at >= this.shown[0] && at <= this.shown[1]) name += " pd-shown";
      return name;
    }

    // Everything known of the chip at `at`, for the inspector and the other views.
    facts(at) {
      const { table, index, merged, fields, field_runs, line_runs } = this.data;
      const chip = table[index[at]];
      const token = pd.tokenOfChip(merged, at);
      const field = fields[pd.runValue(field_runs, at)] || null;
      const line = pd.runValue(line_runs, at);
      const many = chip.ids.length > 1;
      const parts = [
        [many ? "tokens" : "token", many ? token + "\u2013" + (token + chip.ids.length - 1) : token],
        [many ? "ids" : "id", chip.ids.join(" ")],
        ["", JSON.stringify(chip.text), "text"],
        ["", KINDS[chip.kind], chip.kind === 1 ? "special" : ""],
        ["bytes", chip.hex || pd.hexOfText(chip.text)],
      ];
      if (chip.injected) parts.push(["", "injected by request data", "bad"]);
      if (line > 0) parts.push(["template line", line]);
      if (field) parts.push(["from", field]);
      return { parts, field, template_line: line > 0 ? line : null, at };
    }

    point() {
      pd.point(this.name, this.facts(this.active));
    }

    onPointer(event, isClick) {
      const at = event.target.dataset ? event.target.dataset.at : undefined;
      if (at === undefined || !this.data) return;
      if (!isClick) return pd.point(this.name, this.facts(Number(at)));
      this.active = Number(at);
      this.paint(true);
      pd.pin(this.name, this.facts(this.active));
    }

    onKey(event) {
      if (!this.data || event.ctrlKey || event.metaKey || event.altKey) return;
      const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_PX) - 1);
      const moves = {
        ArrowRight: () => this.go(this.active + 1),
        ArrowLeft: () => this.go(this.active - 1),
        ArrowDown: () => this.walkRows(1),
        ArrowUp: () => this.walkRows(-1),
        PageDown: () => this.walkRows(page),
        PageUp: () => this.walkRows(-page),
        Home: () => this.go(0),
        End: () => this.go(this.data.index.length - 1),
        Enter: () => pd.pin(this.name, this.facts(this.active)),
        " ": () => pd.pin(this.name, this.facts(this.active)),
      };
      const move = moves[event.key];
      if (!move) return;
      event.preventDefault();
      move();
    }

    walkRows(rows) {
      const here = pd.rowOfChip(this.rows, this.active);
      const row = Math.max(0, Math.min(this.rows.count - 1, here + rows));
      const continues = this.rows.offset[row] > 0 && rows > 0 ? 1 : 0;
      this.go(this.rows.chip[row] + continues);
    }

    go(at) {
      if (!this.data.index.length) return;
      this.active = Math.max(0, Math.min(this.data.index.length - 1, at));
      this.reveal(this.active);
      this.paint(true);
      const facts = this.facts(this.active);
      pd.release();
      pd.point(this.name, facts);
      this.live.textContent = facts.parts.map((part) => part[0] + " " + part[1]).join(", ");
    }

    reveal(at) {
      const top = pd.rowOfChip(this.rows, at) * ROW_PX;
      const height = this.scroller.clientHeight;
      if (top < this.scroller.scrollTop) this.scroller.scrollTop = Math.max(0, top - 2 * ROW_PX);
      else if (top + ROW_PX > this.scroller.scrollTop + height) this.scroller.scrollTop = top - height + 4 * ROW_PX;
    }

    text() {
      this.joined = this.joined || pd.joinText(this.data.table, this.data.index);
      return this.joined;
    }

    find(query) {
      if (!this.data) return;
      const flat = pd.searchChips(this.data.table, this.data.index, this.text(), query);
      this.hits = [];
      this.hitSet = new Set();
      for (let i = 0; i < flat.length; i += 2) {
        this.hits.push(flat[i]);
        for (let at = flat[i]; at <= flat[i + 1]; at++) this.hitSet.add(at);
      }
      this.hitAt = -1;
      this.found.textContent = query ? pd.plural(this.hits.length, "hit") : "";
      if (this.hits.length) this.reveal(this.hits[0]);
      this.paint(true);
    }

    step(by) {
      if (!this.hits.length) return;
      this.hitAt = this.hitAt < 0 && by < 0 ? this.hits.length - 1 : (this.hitAt + by + this.hits.length) % this.hits.length;
      this.found.textContent = this.hitAt + 1 + " of " + this.hits.length;
      this.go(this.hits[this.hitAt]);
    }

    // Shows a stretch of the text: by tokens, by characters (code points), or by quote.
    jump(evidence) {
      if (!this.data) return;
      const [first, last] = this.chipsOf(evidence);
      this.shown = [first, last];
      if (!this.rows) this.refresh();
      this.scroller.scrollTop = pd.rowOfChip(this.rows, first) * ROW_PX - this.scroller.clientHeight / 3;
      this.go(first);
      if (evidence.quiet) return;
      this.scroller.focus({ preventScroll: true });
      pd.pin(this.name, this.facts(this.active)); // the pointer lies on the panel now, and would speak at once
    }

    chipsOf(evidence) {
      if (evidence.token_span) {
        const [start, stop] = evidence.token_span;
        return [pd.chipOfToken(this.data.merged, start), pd.chipOfToken(this.data.merged, Math.max(start, stop - 1))];
      }
      const { text } = this.text();
      if (evidence.char_span) {
        const start = pd.unitsOfPoints(text, evidence.char_span[0]);
        const stop = pd.unitsOfPoints(text, evidence.char_span[1]);
        return [pd.chipAtUnit(this.joined, start), pd.chipAtUnit(this.joined, Math.max(start, stop - 1))];
      }
      const at = evidence.quote ? text.indexOf(evidence.quote) : -1;
      return at < 0 ? [0, 0] : [pd.chipAtUnit(this.joined, at), pd.chipAtUnit(this.joined, at + evidence.quote.length - 1)];
    }

    // Another view points at a template line or a field: light what came from it.
    light(source, facts) {
      if (source === this.name || this.where !== "prompt" || !this.data) return;
      const had = this.lit;
      this.lit = null;
      if (facts.template_line) this.lit = (at) => pd.runValue(this.data.line_runs, at) === facts.template_line;
      else if (facts.prompt_field) this.lit = (at) => this.data.fields[pd.runValue(this.data.field_runs, at)] === facts.prompt_field;
      if (had || this.lit) this.paint(true);
    }

    // Copies the text itself, without marks, also of rows that are not on screen.
    onCopy(event) {
      const selection = document.getSelection();
      if (!this.data || !selection || selection.isCollapsed) return;
      const ends = [selection.anchorNode, selection.focusNode].map((node) => (node.parentElement || node).closest("[data-at]"));
      if (!ends[0] || !ends[1]) return;
      const [low, high] = ends.map((end) => Number(end.dataset.at)).sort((a, b) => a - b);
      const { text, starts } = this.text();
      event.clipboardData.setData("text/plain", text.slice(starts[low], starts[high + 1]));
      event.preventDefault();
    }
  }

  pd.builders = pd.builders || {};
  pd.builders.token_view = (root, name) => new TokenView(root, name);
})(globalThis);
