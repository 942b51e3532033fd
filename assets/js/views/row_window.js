// @ts-check
// Rows of one height, however many: only those on screen exist in the DOM. Knows nothing of what a row shows.
import { make } from "../lib/dom.js";

const SPARE_ROWS = 4;

class RowWindow {
  // `drawRow(r)` returns the element of row `r`; `onPaint` is told when the rows on screen have changed.
  /**
   * @param {HTMLElement} scroller
   * @param {number} rowPx
   * @param {(r: number) => HTMLElement} drawRow
   * @param {() => void} [onPaint]
   */
  constructor(scroller, rowPx, drawRow, onPaint) {
    this.scroller = scroller;
    this.rowPx = rowPx;
    this.drawRow = drawRow;
    this.onPaint = onPaint;
    this.count = 0;
    this.first = -1; // of the rows on screen
    this.last = -1;
    /** @type {Map<number, HTMLElement>} */
    this.drawn = new Map();
    this.sizer = make("div", "pd-rows-sizer");
    this.box = make("div", "pd-rows");
    this.sizer.setAttribute("role", "presentation");
    this.box.setAttribute("role", "presentation");
    this.sizer.append(this.box);
    scroller.append(this.sizer);
    let isAsked = false;
    scroller.addEventListener("scroll", () => {
      if (isAsked) return;
      isAsked = true;
      requestAnimationFrame(() => {
        isAsked = false;
        this.paint(false);
      });
    }, { passive: true });
  }

  /** @param {number} count */
  resize(count) {
    this.count = count;
    this.sizer.style.height = count * this.rowPx + "px";
  }

  // Takes the rows away, or brings them back: what scrolls on screen is laid out otherwise on paper.
  /** @param {boolean} isHidden */
  hide(isHidden) {
    this.sizer.hidden = isHidden;
    if (isHidden) this.exchange(new Map(), []);
    else this.paint(true);
  }

  // Draws what is on screen; `isStale` also draws again what already exists, or takes it away where nothing is on screen.
  /** @param {boolean} isStale */
  paint(isStale) {
    const height = this.scroller.clientHeight;
    if (isStale && !height) {
      this.exchange(new Map(), []);
      this.first = this.last = -1;
    }
    if (!height || this.sizer.hidden) return;
    const top = this.scroller.scrollTop;
    const first = Math.max(0, Math.min(this.count, Math.floor(top / this.rowPx)) - SPARE_ROWS);
    const last = Math.min(this.count, Math.ceil((top + height) / this.rowPx) + SPARE_ROWS);
    if (!isStale && first === this.first && last === this.last) return;
    /** @type {Map<number, HTMLElement>} */
    const rows = new Map();
    const elements = [];
    for (let r = first; r < last; r++) {
      const element = (!isStale && this.drawn.get(r)) || this.drawRow(r);
      rows.set(r, element);
      elements.push(element);
    }
    this.exchange(rows, elements);
    this.first = first;
    this.last = last;
    this.box.style.transform = "translateY(" + first * this.rowPx + "px)";
    if (this.onPaint) this.onPaint();
  }

  // Rows that stay are not touched: a selection in them lives on while scrolling.
  /**
   * @param {Map<number, HTMLElement>} rows
   * @param {HTMLElement[]} elements
   */
  exchange(rows, elements) {
    for (const [r, element] of this.drawn) if (rows.get(r) !== element) element.remove();
    let at = this.box.firstChild;
    for (const element of elements) {
      if (at === element) at = element.nextSibling;
      else this.box.insertBefore(element, at);
    }
    this.drawn = rows;
  }

  // Scrolls as little as it takes to see row `r`.
  /** @param {number} r */
  reveal(r) {
    const top = r * this.rowPx, height = this.scroller.clientHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = Math.max(0, top - 2 * this.rowPx);
    else if (top + this.rowPx > this.scroller.scrollTop + height) this.scroller.scrollTop = top - height + 4 * this.rowPx;
  }

  /** @param {number} r */
  scrollTo(r) {
    this.scroller.scrollTop = r * this.rowPx - this.scroller.clientHeight / 3;
  }

  /** @param {number} r */
  isInSight(r) {
    const top = r * this.rowPx - this.scroller.scrollTop;
    return top >= 0 && top + this.rowPx <= this.scroller.clientHeight;
  }

  // Rows of one screen, less one to keep one's place.
  get pageRows() {
    return Math.max(1, Math.floor(this.scroller.clientHeight / this.rowPx) - 1);
  }
}

export { RowWindow };
