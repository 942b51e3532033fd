"""Whether what has the focus says so: a ring around it or around its box, and nothing cuts it off."""

from __future__ import annotations

from typing import Any

# Of the element that has the focus: "" where its ring is whole, else what is wrong.
RING = """() => {
  const focused = document.activeElement;
  const pixels = (value) => parseFloat(value) || 0;
  const words = focused.getAttribute("aria-label") || focused.textContent.trim().slice(0, 40);
  const name = focused.id || words || focused.outerHTML.slice(0, 120);
  let ring = focused;
  for (let up = 0; up < 5 && ring && getComputedStyle(ring).outlineStyle === "none"; up++) ring = ring.parentElement;
  const style = ring && getComputedStyle(ring);
  if (!style || style.outlineStyle === "none" || pixels(style.outlineWidth) < 1) return name + ": no ring";
  const grown = Math.max(0, pixels(style.outlineWidth) + pixels(style.outlineOffset));
  const box = ring.getBoundingClientRect();
  const [left, top, right, bottom] = [box.left - grown, box.top - grown, box.right + grown, box.bottom + grown];
  const isInside = left > -0.6 && top > -0.6 && right < innerWidth + 0.6 && bottom < innerHeight + 0.6;
  if (right - left < 1 || !isInside) return name + ": outside the window";
  const bar = document.querySelector("#pd-buttons");
  const isOver = bar && !bar.contains(ring) && getComputedStyle(bar).position === "fixed";
  if (isOver && bottom > bar.getBoundingClientRect().top + 0.6) return name + ": behind the bar";
  for (let around = ring.parentElement; around && around !== document.documentElement; around = around.parentElement) {
    const { display, position, overflowX, overflowY } = getComputedStyle(around);
    const { left: x, top: y } = around.getBoundingClientRect();
    const [inner, upper] = [x + around.clientLeft, y + around.clientTop];
    const isCutAcross = overflowX !== "visible" && (left < inner - 0.6 || right > inner + around.clientWidth + 0.6);
    const isCutAlong = overflowY !== "visible" && (top < upper - 0.6 || bottom > upper + around.clientHeight + 0.6);
    const by = around.id || around.className;
    if (display !== "contents" && (isCutAcross || isCutAlong)) return name + ": cut off by " + by;
    if (position === "fixed") break;
  }
  return "";
}"""

# The same of all that can have it, one after the other: a key was pressed before, so the browser shows the ring.
ALL_RINGS = f"""() => {{
  const ring = {RING};
  const found = [];
  const usable = "button, input, textarea, select, summary, a[href], [tabindex='0'], [contenteditable='true']";
  for (const part of document.querySelectorAll(usable)) {{
    const isSeen = part.checkVisibility({{visibilityProperty: true}}) && !part.closest(".pd-unseen");
    if (part.disabled || part.tabIndex < 0 || !isSeen) continue;
    part.focus();
    part.scrollIntoView({{block: "nearest", inline: "nearest"}});
    if (document.activeElement === part) found.push(ring());
  }}
  return found;
}}"""


def ring_fault(page: Any) -> str:
    """Return what is wrong with the ring of what has the focus; an editor draws its own a moment after it has it."""
    page.wait_for_function("() => !document.activeElement.closest('.cm-editor:not(.cm-focused)')")
    return str(page.evaluate(RING))
