// @ts-check
// Gradio's first loading sign goes once the page is there, but its clock, which no one sees, would draw for ever: sixty
// times a second, on a page at which no one does anything. A frame that is asked for within a frame is of the same loop;
// one that began before the page was there, and has gone on ever since, is that clock: it gets no more frames.

/** @typedef {{ isEarly: boolean, count: number }} Loop */

const MOST = 300; // frames of such a loop once the page is there
const ask = globalThis.requestAnimationFrame;
/** @type {Loop | null} */
let current = null; // whose frame is being drawn
const isThere = () => document.documentElement.dataset.settled === "true";

globalThis.requestAnimationFrame = (draw) => {
  const loop = current || { isEarly: !isThere(), count: 0 };
  if (loop.isEarly && isThere()) loop.count += 1;
  if (loop.count > MOST) return 0;
  return ask.call(globalThis, (time) => {
    const outer = current;
    current = loop;
    try {
      draw(time);
    } finally {
      current = outer;
    }
  });
};
