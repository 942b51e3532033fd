import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

// As much of an element as rows need.
class Box {
  constructor() {
    this.children = [];
    this.style = {};
    this.hidden = false;
    this.clientHeight = 60;
    this.scrollTop = 0;
  }
  setAttribute() {}
  addEventListener() {}
  get firstChild() {
    return this.children[0] || null;
  }
  append(...elements) {
    for (const element of elements) this.insertBefore(element, null);
  }
  insertBefore(element, next) {
    element.parent = this;
    this.children.splice(next ? this.children.indexOf(next) : this.children.length, 0, element);
  }
  remove() {
    this.parent.children.splice(this.parent.children.indexOf(this), 1);
  }
}

const pd = await load(["row_window.js"], { make: () => new Box() });

function windowOf(lines) {
  const scroller = new Box();
  const rows = new pd.RowWindow(scroller, 20, (r) => Object.assign(new Box(), { text: lines[r] }));
  const show = (more) => {
    lines.splice(0, lines.length, ...more);
    rows.resize(lines.length);
    rows.paint(true);
  };
  return { scroller, rows, show, shown: () => rows.box.children.map((row) => row.text) };
}

test("rows of what is shown no more go away while nothing is on screen", () => {
  const { scroller, rows, show, shown } = windowOf([]);
  show(["a", "b", "c"]);
  assert.deepEqual(shown(), ["a", "b", "c"]);

  scroller.clientHeight = 0;
  show(["x"]);
  assert.deepEqual(shown(), []);

  scroller.clientHeight = 60;
  rows.paint(false);
  assert.deepEqual(shown(), ["x"]);
});

test("rows that are still right stay while nothing is on screen", () => {
  const { scroller, rows, show, shown } = windowOf([]);
  show(["a", "b"]);

  scroller.clientHeight = 0;
  rows.paint(false);
  assert.deepEqual(shown(), ["a", "b"]);
});
