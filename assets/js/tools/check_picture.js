// @ts-check
// The matrix of a check as a picture for a bug report or a model card. Drawn on a canvas, so nothing can taint it.
import { visibleText } from "../lib/payload.js";
import { saveCanvas } from "../views/picture.js";

/**
 * @typedef {import("./check_view.js").CheckHeader} CheckHeader
 * @typedef {import("./check_view.js").CheckRow} CheckRow
 * @typedef {import("./check_view.js").CheckAnswer} CheckAnswer
 */

const SCALE = 2, MARGIN = 24, ROW = 24, CELL = 40, NAME = 250, MAX_ROWS = 40;
/** @type {Record<string, string>} */
const GROUNDS = { pass: "arguments", limit: "warning-soft", fail: "error-soft" };
/** @type {Record<string, string>} */
const INKS = { pass: "ok", limit: "warning", fail: "error", untried: "muted" };
/** @type {Record<string, string>} */
const SIGNS = { pass: "\u2713", limit: "~", fail: "\u2715", untried: "\u00b7" };
/** @type {Record<string, string>} */
const TONES = { same: "pass", larger: "limit", differs: "fail", untried: "untried" };

/**
 * @param {HTMLCanvasElement} canvas
 * @param {CheckHeader} header
 * @param {CheckRow[]} rows
 * @param {CheckAnswer[]} answers
 */
function draw(canvas, header, rows, answers) {
  const style = getComputedStyle(document.body);
  /** @type {(name: string) => string} */
  const color = (name) => style.getPropertyValue("--pd-" + name).trim();
  const heads = 30 + Math.max(...answers.map((answer) => answer.name.length), 6) * 7;
  const width = Math.max(900, MARGIN * 2 + NAME + answers.length * CELL);
  const top = MARGIN + 78 + heads;
  canvas.width = width * SCALE;
  canvas.height = (top + rows.length * ROW + MARGIN + 20) * SCALE;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(SCALE, SCALE);
  /** @type {(text: string, x: number, y: number, ink: string, size?: number, weight?: number, family?: string) => void} */
  const write = (text, x, y, ink, size = 13, weight = 400, family = "font") => {
    context.font = weight + " " + size + "px " + color(family);
    context.fillStyle = color(ink);
    context.fillText(visibleText(text, false).replaceAll("`", ""), x, y);
  };
  context.fillStyle = color("surface");
  context.fillRect(0, 0, width, canvas.height / SCALE);
  write(header.sentence, MARGIN, MARGIN + 14, "text", 16, 700);
  write(header.source, MARGIN, MARGIN + 36, "muted", 12);
  const tried = header.commands.find((one) => one.is_tried);
  if (tried) write(tried.command, MARGIN, MARGIN + 58, "text", 12, 400, "mono");
  answers.forEach((answer, i) => {
    context.save();
    context.translate(MARGIN + NAME + i * CELL + CELL / 2 + 4, top - 8);
    context.rotate(-Math.PI / 2);
    write(answer.name, 0, 0, "text", 11.5, 400, "mono");
    context.restore();
  });
  /** @type {(tone: string, x: number, y: number) => void} */
  const half = (tone, x, y) => {
    if (GROUNDS[tone]) {
      context.fillStyle = color(GROUNDS[tone]);
      context.fillRect(x, y, CELL / 2 - 2, ROW - 4);
    }
    write(SIGNS[tone], x + CELL / 4 - 5, y + 15, INKS[tone], 13, 700);
  };
  rows.forEach((row, i) => {
    const y = top + i * ROW;
    if (row.chosen) {
      context.fillStyle = color("accent-soft");
      context.fillRect(MARGIN - 6, y, width - 2 * MARGIN + 12, ROW);
    }
    write(row.short, MARGIN, y + 16, "text", 12, row.chosen ? 700 : 400, "mono");
    answers.forEach((answer, j) => {
      const cell = row.cells[answer.name];
      if (!cell) return;
      const x = MARGIN + NAME + j * CELL + 2;
      half(cell.whole ? "pass" : "fail", x, y + 2);
      half(TONES[cell.streamed], x + CELL / 2 - 1, y + 2);
    });
  });
  write("Left: the whole output. Right: the same output streamed.  \u2713 correct  ~ not in larger deltas  \u2715 wrong  \u00b7 not tested", MARGIN, top + rows.length * ROW + 20, "muted", 11.5);
}

/**
 * @param {CheckHeader} header
 * @param {CheckRow[]} rows
 * @param {CheckAnswer[]} answers
 */
async function saveCheckPicture(header, rows, answers) {
  const canvas = document.createElement("canvas");
  draw(canvas, header, rows.slice(0, MAX_ROWS), answers);
  await saveCanvas(canvas, "check.png");
}

export { saveCheckPicture };
