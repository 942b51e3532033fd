// @ts-check
// The plots of a verification: bars with whiskers, differences, answers in their order.
// They are SVG in the page's own colours; each can be saved as a PNG. Each bar has its number next to it.
import { button, make } from "../lib/dom.js";
import { visibleText } from "../lib/payload.js";
import { saveCanvas } from "../views/picture.js";

/**
 * @typedef {{ label: string, value: number | null, low: number, high: number, note: string }} Bar
 * @typedef {{ label: string, value: number | null, low: number | null, high: number | null, note: string, better: number }} DifferenceBar
 * @typedef {{ bins: [good: number, bad: number][], span: string }} Times
 * @typedef {{ name: string, rates: Bar[], causes: Bar[], stages: Bar[], tools: Bar[], times: Times | null }} Plotted
 * @typedef {Record<string, string | number>} Attributes
 */

const SPACE = "http://www.w3.org/2000/svg";
const LABEL = 250, BAR = 300, NOTE = 235, ROW = 25, WIDTH = LABEL + BAR + NOTE;
const COLORS = ["accent", "line-strong", "warning"];

/**
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {unknown} [text]
 */
function svg(tag, attributes, text) {
  const element = document.createElementNS(SPACE, tag);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, String(value)));
  if (text !== undefined) element.textContent = visibleText(String(text), false);
  return element;
}

/** @param {string} name */
const color = (name) => "var(--pd-" + name + ")";
/**
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {string} ink
 * @param {number} [size]
 * @param {string} [anchor]
 */
const write = (x, y, text, ink, size, anchor) => svg("text", { x, y, fill: color(ink), "font-size": size || 12.5, "text-anchor": anchor || "start" }, text);
/**
 * @param {string} text
 * @param {number} most
 */
const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);

/** @param {number} value */
function percent(value) {
  return (value * 100).toFixed(1) + "%";
}

// Where the labels are: next to the bar, or on a phone above it.
function geometry() {
  if (window.innerWidth < 700) return { from: 0, bar: 330, width: 330, row: 44, y: 20, noteX: 330, noteY: 14, anchor: "end" };
  return { from: LABEL, bar: BAR, width: WIDTH, row: ROW, y: 5, noteX: LABEL + BAR + 8, noteY: 17, anchor: "start" };
}

/**
 * @param {ReturnType<typeof geometry>} place
 * @param {number} count
 * @param {string} words
 */
function canvasOf(place, count, words) {
  const picture = svg("svg", { viewBox: "0 0 " + place.width + " " + count * place.row, role: "img", class: "pd-plot", style: "min-width: " + Math.min(place.width, 640) + "px" });
  picture.append(svg("title", {}, words));
  return picture;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} y
 */
function whisker(low, high, y) {
  /** @type {(x: number) => string} */
  const at = (x) => x.toFixed(1);
  return svg("path", { d: `M${at(low)} ${y + 7.5}H${at(high)}M${at(low)} ${y + 3}v9M${at(high)} ${y + 3}v9`, stroke: color("text"), "stroke-width": 1.5, fill: "none" });
}

// Bars with whiskers: of each label one bar per side.
/**
 * @param {string} title
 * @param {Bar[][]} sides
 */
function barPlot(title, sides) {
  const place = geometry();
  const labels = [...new Set(sides.flatMap((bars) => bars.map((bar) => bar.label)))];
  const rows = labels.flatMap((label) => sides.map((bars, i) => ({ label, i, bar: bars.find((one) => one.label === label) })));
  const picture = canvasOf(place, rows.length, title + ": " + labels.length + " bars, with their numbers");
  rows.forEach(({ label, i, bar }, at) => {
    const top = at * place.row, y = top + place.y;
    /** @type {(text: string) => void} */
    const note = (text) => picture.append(write(place.noteX, top + place.noteY, text, "muted", 11.5, place.anchor));
    if (i === 0) picture.append(write(0, top + place.noteY, short(label, place.from ? 40 : 18), "text"));
    picture.append(svg("rect", { x: place.from, y, width: place.bar, height: 15, rx: 2, fill: color("line"), opacity: 0.45 }));
    if (!bar || bar.value === null) return note(bar ? "unknown" : "none");
    picture.append(svg("rect", { x: place.from, y, width: Math.max(0, place.bar * bar.value).toFixed(1), height: 15, rx: 2, fill: color(COLORS[i]) }));
    picture.append(whisker(place.from + place.bar * bar.low, place.from + place.bar * bar.high, y));
    note(percent(bar.value) + " (" + percent(bar.low) + " to " + percent(bar.high) + ") " + bar.note);
  });
  return picture;
}

// Differences around nothing: to the right there is more here than there.
/** @param {DifferenceBar[]} bars */
function differencePlot(bars) {
  const place = geometry();
  const most = Math.max(0.05, ...bars.map((bar) => Math.max(Math.abs(bar.low ?? 0), Math.abs(bar.high ?? 0), Math.abs(bar.value ?? 0))));
  const middle = place.from + place.bar / 2;
  /** @type {(value: number) => number} */
  const x = (value) => middle + (value / most) * (place.bar / 2);
  const picture = canvasOf(place, bars.length, "Differences in the share of rows, with their numbers");
  bars.forEach((bar, at) => {
    const top = at * place.row, y = top + place.y;
    const { low, high } = bar;
    const isSure = low !== null && high !== null && (low > 0 || high < 0);
    const good = isSure ? Math.sign(bar.value ?? 0) * bar.better : 0;
    picture.append(write(0, top + place.noteY, short(bar.label, place.from ? 40 : 18), "text"));
    picture.append(write(place.noteX, top + place.noteY, (good > 0 ? "better \u00b7 " : good < 0 ? "worse \u00b7 " : "") + bar.note, "muted", 11.5, place.anchor));
    picture.append(svg("path", { d: `M${middle} ${y - 3}v21`, stroke: color("line-strong"), fill: "none" }));
    if (bar.value === null) return;
    const ink = good > 0 ? "ok" : good < 0 ? "error" : "line-strong";
    picture.append(svg("rect", { x: Math.min(middle, x(bar.value)).toFixed(1), y, width: Math.abs(x(bar.value) - middle).toFixed(1), height: 15, fill: color(ink) }));
    if (low !== null && high !== null) picture.append(whisker(x(low), x(high), y));
  });
  return picture;
}

// Answers in their order, those at fault below.
/** @param {Times} times */
function timePlot(times) {
  const WIDTH = geometry().width;
  const most = Math.max(...times.bins.map(([good, bad]) => good + bad));
  const width = WIDTH / times.bins.length;
  const picture = svg("svg", { viewBox: "0 0 " + WIDTH + " 84", role: "img", class: "pd-plot", style: "min-width: " + Math.min(WIDTH, 640) + "px" });
  picture.append(svg("title", {}, "Answers in their order; the lower part of each bar has faults"));
  times.bins.forEach(([good, bad], i) => {
    const tall = (80 * (good + bad)) / most, low = (80 * bad) / most;
    /** @type {(y: number, height: number, ink: string) => SVGElement} */
    const bar = (y, height, ink) => svg("rect", { x: (i * width).toFixed(1), y: y.toFixed(1), width: Math.max(1, width - 1).toFixed(1), height: height.toFixed(1), fill: color(ink) });
    picture.append(bar(84 - tall, tall - low, "accent"), bar(84 - low, low, "error"));
  });
  return picture;
}

/** @param {Plotted[]} sides */
function plots(sides) {
  const box = make("div", "pd-verify-plots");
  const which = sides.length > 1 ? " \u00b7 blue " + sides[0].name + ", grey " + sides[1].name : "";
  /** @type {(title: string, key: "rates" | "causes" | "stages" | "tools") => void} */
  const add = (title, key) => {
    if (sides.some((side) => side[key].length)) box.append(plot(title + which, barPlot(title, sides.map((side) => side[key]))));
  };
  add("Rates, with 95 % intervals", "rates");
  add("Causes, as a share of the rows read", "causes");
  add("Stages at fault", "stages");
  add("Calls lost, by tool", "tools");
  sides.forEach((side) => {
    if (!side.times) return;
    const title = "Answers in their order; the lower part has faults" + (sides.length > 1 ? " \u00b7 " + side.name : "");
    const figure = plot(title, timePlot(side.times));
    figure.append(make("p", "pd-muted", side.times.span));
    box.append(figure);
  });
  return box;
}

/**
 * @param {string} title
 * @param {SVGElement} picture
 */
function plot(title, picture) {
  const figure = make("section", "pd-verify-plot");
  const head = make("header", "pd-verify-head");
  head.append(make("h2", "pd-check-title", title), button("PNG", "pd-small", () => savePlot(title, picture), "Save this plot as a picture"));
  const scroll = make("div", "pd-scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", title);
  scroll.append(picture);
  figure.append(head, scroll);
  return figure;
}

/**
 * @param {string} title
 * @param {SVGElement} picture
 */
async function savePlot(title, picture) {
  const style = getComputedStyle(document.body);
  const [, , width, height] = String(picture.getAttribute("viewBox")).split(" ").map(Number);
  const copy = /** @type {SVGElement} */ (picture.cloneNode(true));
  copy.setAttribute("xmlns", SPACE);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("font-family", "sans-serif");
  const text = new XMLSerializer().serializeToString(copy).replace(/var\((--pd-[a-z-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = 2, margin = 16;
  canvas.width = (width + 2 * margin) * scale;
  canvas.height = (height + 2 * margin + 26) * scale;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(scale, scale);
  context.fillStyle = style.getPropertyValue("--pd-surface").trim();
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--pd-text").trim();
  context.font = "700 14px sans-serif";
  context.fillText(title, margin, margin + 13);
  context.drawImage(image, margin, margin + 26, width, height);
  await saveCanvas(canvas, "verify.png");
}

export { differencePlot, plot, plots };
