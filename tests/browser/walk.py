"""What a look shows and no rule of accessibility asks: text that is cut off, controls that are covered."""

from __future__ import annotations

# One line for each thing that is wrong in the window as it stands.
FAULTS = """() => {
  const found = [];
  const words = (part) => part.textContent.trim().slice(0, 40);
  const name = (part) => part.id || part.getAttribute("aria-label") || words(part) || part.className;
  const isSeen = (part) => part.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const style = (part) => getComputedStyle(part);
  if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the window");

  // A box for readers of screens alone is a pixel wide.
  const isForEyes = (box) => box.width > 2 && box.height > 2;
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const part = node.parentElement;
    if (!node.data.trim() || !isSeen(part) || part.closest("svg, option")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (!isForEyes(box)) continue;
    for (let around = part; around && around !== document.body; around = around.parentElement) {
      const {overflowX, overflowY, textOverflow, position, webkitLineClamp, clipPath} = style(around);
      const outer = around.getBoundingClientRect();
      if (!isForEyes(outer) || clipPath !== "none") break;
      // An ellipsis says that there is more; what is clamped has one, and what scrolls can be scrolled.
      if (textOverflow === "ellipsis" || webkitLineClamp !== "none") break;
      const isAcross = box.left < outer.left - 1 || box.right > outer.right + 1;
      const isAlong = box.top < outer.top - 3 || box.bottom > outer.bottom + 3;
      const isWhollyOut = box.left >= outer.right || box.top >= outer.bottom;
      const isCut = (overflowX === "hidden" && isAcross) || (overflowY === "hidden" && isAlong);
      if (isCut && isWhollyOut) break;
      if (isCut) found.push("cut off: " + words(node) + " by " + name(around));
      if (isCut || /auto|scroll/.test(overflowX + overflowY) || position === "fixed") break;
    }
  }

  const bar = document.querySelector("#pd-buttons"); // of a narrow window it stands over what scrolls
  const isBarFixed = bar && style(bar).position === "fixed";
  const isOnTop = (part, x, y) => {
    const top = document.elementFromPoint(x, y);
    return !top || part.contains(top) || top.contains(part) || top.closest("label")?.contains(part);
  };
  for (const part of document.querySelectorAll("main :is(button, input, textarea, select, summary, a[href])")) {
    if (!isSeen(part) || part.closest(".pd-unseen")) continue;
    const box = part.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const isUnderBar = isBarFixed && !bar.contains(part) && box.bottom > bar.getBoundingClientRect().top;
    if (!isForEyes(box) || x < 0 || y < 0 || x > innerWidth || y > innerHeight || isUnderBar) continue;
    let isScrolledOff = false;
    for (let around = part.parentElement; around; around = around.parentElement) {
      const outer = around.getBoundingClientRect();
      const isOff = x < outer.left || x > outer.right || y < outer.top || y > outer.bottom;
      if (style(around).overflow !== "visible" && isOff) isScrolledOff = true;
    }
    if (isScrolledOff || isOnTop(part, x, y)) continue;
    found.push("covered: " + name(part) + " by " + name(document.elementFromPoint(x, y)));
  }
  return [...new Set(found)];
}"""

# Filled buttons in sight: one of them is what to press next.
FILLED = """() => {
  const colour = document.createElement("i");
  colour.style.color = "var(--pd-accent)";
  document.querySelector(".pd").append(colour);
  const accent = getComputedStyle(colour).color;
  colour.remove();
  const isFilled = (one) => getComputedStyle(one).backgroundColor === accent;
  const buttons = [...document.querySelectorAll("button")].filter(isFilled);
  return buttons.filter(one => one.checkVisibility({visibilityProperty: true})).map(one => one.textContent.trim());
}"""
