// @ts-check
// A picture of a run for a bug report: verdict, raw output by fate, message, findings. Drawn on a canvas, so nothing can taint it.
import { embedBundle } from "../lib/embedded.js";
import { cellsOf, plural, visibleText } from "../lib/payload.js";
import { layOut, windowOf } from "./picture_rows.js";

/**
 * @typedef {import("./picture_rows.js").Run} Run
 * @typedef {import("./picture_rows.js").Part} Part
 * @typedef {{ ground: string, ink: string, weight: number, isStruck?: boolean, isDotted?: boolean }} Style
 * @typedef {{ title: string, header: HeaderPayload | null, verdict: VerdictPayload | null, ledger: LedgerPayload | null,
 *   findings: FindingsPayload | null, facts: [label: string, value: string][] }} PictureParts
 */

const WIDTH = 1200;
const SCALE = 2;
const MARGIN = 28;
const ROW_PX = 20;
const MAX_FINDINGS = 6;
/** @type {Record<string, string>} */
const TONES = { error: "error", warning: "warning", success: "ok" };
const MAX_CHANGES = 8;
const ALARMS = new Set(["lost", "altered"]);
/** @type {Record<string, string>} */
const GROUNDS = { reasoning: "reasoning", call_name: "name", call_id: "id", call_arguments: "arguments", lost: "lost-ground", altered: "warning-soft" };
/** @type {Record<string, string>} */
const INKS = { markup: "muted", end: "muted", lost: "lost-text" };

class Picture {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {CSSStyleDeclaration} style
   */
  constructor(canvas, style) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {(name: string) => string} */
    this.color = (name) => style.getPropertyValue("--pd-" + name).trim();
    this.fonts = { sans: this.color("font"), mono: this.color("mono") };
    this.y = MARGIN;
  }

  /**
   * @param {number} size
   * @param {"sans" | "mono"} family
   * @param {number} [weight]
   */
  font(size, family, weight) {
    this.context.font = (weight || 400) + " " + size + "px " + this.fonts[family];
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {string} ink
   */
  text(text, x, y, ink) {
    this.context.fillStyle = this.color(ink);
    this.context.fillText(text, x, y);
  }

  // Splits a text into lines no wider than `width`, between words where it can.
  /**
   * @param {string} text
   * @param {number} width
   */
  wrap(text, width) {
    const lines = [""];
    for (const word of visibleText(text, false).replaceAll("`", "").split(/(?<=\s)/)) {
      if (this.context.measureText(lines[lines.length - 1] + word.trimEnd()).width <= width) {
        lines[lines.length - 1] += word;
        continue;
      }
      lines.push("");
      for (const character of word) {
        if (this.context.measureText(lines[lines.length - 1] + character).width > width) lines.push("");
        lines[lines.length - 1] += character;
      }
    }
    return lines.map((line) => line.trim()).filter((line) => line);
  }

  /**
   * @param {string} text
   * @param {{ x?: number, width?: number, size?: number, family?: "sans" | "mono", weight?: number, ink?: string, most?: number }} [style]
   */
  paragraph(text, { x = MARGIN, width = WIDTH - 2 * MARGIN, size = 13, family = "sans", weight = 400, ink = "text", most = 4 } = {}) {
    this.font(size, family, weight);
    const step = Math.round(size * 1.5);
    const lines = this.wrap(text, width);
    lines.slice(0, most).forEach((line, i) => {
      this.text(i === most - 1 && lines.length > most ? line + " \u2026" : line, x, this.y + size, ink);
      this.y += step;
    });
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {string} ground
   * @param {string} line
   */
  box(x, y, width, height, ground, line) {
    this.context.fillStyle = this.color(ground);
    this.context.fillRect(x, y, width, height);
    this.context.strokeStyle = this.color(line);
    this.context.lineWidth = 1;
    this.context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  }

  /** @param {VerdictPayload} verdict */
  verdict(verdict) {
    const top = this.y;
    const tone = TONES[verdict.tone] || "line-strong";
    this.font(12, "sans", 700);
    const badge = this.context.measureText(verdict.badge).width + 20;
    const x = MARGIN + 22 + badge + 14;
    this.font(17, "sans", 700);
    const lines = this.wrap(verdict.sentence, WIDTH - MARGIN - 16 - x).slice(0, 5);
    const height = Math.max(54, lines.length * 25 + 26);
    this.box(MARGIN, top, WIDTH - 2 * MARGIN, height, "surface", "line");
    this.context.fillStyle = this.color(tone);
    this.context.fillRect(MARGIN, top, 6, height);
    const isError = verdict.tone === "error";
    const [ground, ink] = isError ? ["lost-ground", "lost-text"] : verdict.tone === "success" ? ["ok", "surface"] : ["surface", "muted"];
    this.box(MARGIN + 20, top + 15, badge, 25, ground, ground === "surface" ? "line-strong" : ground);
    this.font(12, "sans", 700);
    this.text(verdict.badge, MARGIN + 30, top + 32, ink);
    this.font(17, "sans", 700);
    lines.forEach((line, i) => this.text(line, x, top + 33 + i * 25, "text"));
    this.y = top + height + 10;
    const causes = (verdict.cause || []).map(({ text }) => text).join(" \u2192 ");
    if (causes) this.paragraph(causes, { most: 3 });
    if (verdict.proof) {
      const { worked, short, sentence } = verdict.proof;
      this.paragraph(short + " " + sentence, { ink: worked ? "ok" : "error", weight: 700, most: 3 });
    }
    if (verdict.evidence) {
      const quote = verdict.evidence.quote ? "  " + verdict.evidence.quote : "";
      this.paragraph("Evidence: " + verdict.evidence.label + quote, { family: "mono", size: 12, most: 2 });
    }
    this.y += 10;
  }

  // Rows of marked text in a box, what was left out above and below said in a row of its own.
  /**
   * @param {Part} view
   * @param {number} x
   * @param {number} top
   * @param {number} width
   * @param {number} height
   * @param {(run: Run) => Style} style
   */
  rows(view, x, top, width, height, style) {
    this.box(x, top, width, height, "surface", "line");
    this.font(13, "mono");
    const cell = this.context.measureText("x".repeat(50)).width / 50;
    let y = top + 8;
    /** @type {(count: number, word: string) => void} */
    const note = (count, word) => {
      if (!count) return;
      this.font(12, "sans");
      this.text("\u2026 " + plural(count, "row") + " " + word, x + 12, y + 14, "muted");
      y += ROW_PX;
    };
    note(view.above, "above");
    view.rows.forEach((row) => {
      let at = x + 24;
      row.forEach((run) => {
        const cells = [...run.text].reduce((sum, character) => sum + cellsOf(Number(character.codePointAt(0))), 0);
        this.run(run, at, y, cells * cell, style(run));
        if (run.fate && ALARMS.has(run.fate)) this.text(run.fate === "lost" ? "\u2715" : "~", x + 8, y + 14, run.fate === "lost" ? "error" : "warning");
        at += cells * cell;
      });
      y += ROW_PX;
    });
    note(view.below, "below");
  }

  /**
   * @param {Run} run
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {Style} style
   */
  run(run, x, y, width, { ground, ink, weight, isStruck, isDotted }) {
    if (ground) {
      this.context.fillStyle = this.color(ground);
      this.context.fillRect(x, y, width, ROW_PX - 2);
    }
    this.font(13, "mono", weight);
    this.text(run.text, x, y + 14, ink);
    if (!isStruck && !isDotted) return;
    this.context.strokeStyle = this.color(isStruck ? ink : "warning");
    this.context.lineWidth = isStruck ? 1 : 2;
    this.context.setLineDash(isDotted ? [2, 2] : []);
    this.context.beginPath();
    this.context.moveTo(x, y + (isStruck ? 10 : 17));
    this.context.lineTo(x + width, y + (isStruck ? 10 : 17));
    this.context.stroke();
    this.context.setLineDash([]);
  }

  /** @param {LedgerAccount} account */
  ledger(account) {
    const gap = 14;
    const left = Math.round((WIDTH - 2 * MARGIN - gap) * 0.58);
    const right = WIDTH - 2 * MARGIN - gap - left;
    this.font(13, "mono");
    const cell = this.context.measureText("x".repeat(50)).width / 50;
    /** @type {(width: number) => number} */
    const columns = (width) => Math.floor((width - 38) / cell);
    const marked = account.segments.map((one) => ({ ...one, text: visibleText(one.text, ALARMS.has(one.fate)) }));
    const raw = windowOf(layOut(marked, columns(left)), (run) => run.fate !== undefined && ALARMS.has(run.fate));
    const json = account.message.map(([text, role]) => ({ text: visibleText(text, false), role }));
    const message = windowOf(layOut(json, columns(right)), () => false);
    /** @type {(view: Part) => number} */
    const rowsOf = (view) => view.rows.length + (view.above ? 1 : 0) + (view.below ? 1 : 0);
    const height = Math.max(rowsOf(raw), rowsOf(message), 3) * ROW_PX + 16;
    this.caption("Raw output, by outcome", MARGIN, account.legend);
    this.caption("Message the server returned", MARGIN + left + gap, []);
    this.y += 24;
    this.rows(raw, MARGIN, this.y, left, height, (run) => ({
      ground: GROUNDS[run.fate || ""] || "", ink: INKS[run.fate || ""] || "text", weight: run.fate === "call_name" ? 700 : 400,
      isStruck: run.fate === "lost", isDotted: run.fate === "altered",
    }));
    this.rows(message, MARGIN + left + gap, this.y, right, height, (run) => ({ ground: "", ink: run.role === "key" ? "accent" : run.role === "mark" ? "muted" : "text", weight: 400 }));
    this.y += height + 8;
    this.paragraph(account.figures, { ink: "muted", size: 12, most: 1 });
    if (account.note) this.paragraph(account.note, { ink: "muted", most: 3 });
    if (account.missing) this.paragraph(account.missing, { ink: "error", weight: 700, most: 3 });
    this.y += 8;
  }

  /**
   * @param {string} title
   * @param {number} x
   * @param {[string, string, number][]} legend
   */
  caption(title, x, legend) {
    this.font(13, "sans", 700);
    this.text(title, x, this.y + 13, "text");
    let at = x + this.context.measureText(title).width + 16;
    this.font(11, "mono");
    for (const [fate, word, count] of legend) {
      const width = this.context.measureText(word).width + 8;
      if (GROUNDS[fate]) {
        this.context.fillStyle = this.color(GROUNDS[fate]);
        this.context.fillRect(at, this.y + 1, width, 16);
      }
      this.text(word, at + 4, this.y + 13, INKS[fate] || "text");
      this.text(String(count), at + width + 4, this.y + 13, "muted");
      at += width + this.context.measureText(String(count)).width + 16;
    }
  }

  /**
   * Each root before what follows from it; advice that two of them share stands once.
   * @param {FindingsPayload} payload
   */
  findings({ findings: unordered, groups }) {
    const findings = groups ? groups.flat().map((at) => unordered[at]) : unordered;
    let advised = "";
    this.font(13, "sans", 700);
    this.text(findings.length ? "Findings" : "No problems found.", MARGIN, this.y + 13, "text");
    this.y += 24;
    findings.slice(0, MAX_FINDINGS).forEach((one) => {
      const ink = one.severity === "note" ? "muted" : one.severity;
      this.font(12, "sans", 700);
      this.text(one.mark + " " + one.severity, MARGIN, this.y + 13, ink);
      this.font(12, "mono");
      const code = one.code + " " + one.name;
      this.text(code, WIDTH - MARGIN - this.context.measureText(code).width, this.y + 13, "muted");
      const width = WIDTH - 2 * MARGIN - 110 - this.context.measureText(code).width;
      this.paragraph(one.title, { x: MARGIN + 90, width, weight: 700, most: 2 });
      if (one.fix && one.fix !== advised) this.paragraph("Advice: " + one.fix, { x: MARGIN + 90, width: WIDTH - 2 * MARGIN - 90, ink: "muted", most: 2 });
      advised = one.fix;
      this.y += 6;
    });
    const more = findings.length - MAX_FINDINGS;
    if (more > 0) this.paragraph("and " + plural(more, "more finding"), { ink: "muted" });
  }
}

// A canvas as high as what is drawn on it.
/** @param {(picture: Picture) => void} drawOn */
function canvasOf(drawOn) {
  const style = getComputedStyle(document.body);
  /** @type {(canvas: HTMLCanvasElement) => number} */
  const draw = (canvas) => {
    const picture = new Picture(canvas, style);
    picture.context.scale(SCALE, SCALE);
    picture.context.fillStyle = picture.color("ground");
    picture.context.fillRect(0, 0, WIDTH, canvas.height / SCALE);
    picture.paragraph("Prompt Debugger", { size: 15, weight: 700 });
    drawOn(picture);
    return picture.y + MARGIN;
  };
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH * SCALE;
  canvas.height = 8;
  const height = Math.ceil(draw(canvas)); // once to know the height, once for good
  canvas.height = height * SCALE;
  draw(canvas);
  return canvas;
}

// Draws a run; parts are headers of payloads: {header, verdict, ledger, findings, facts: [[label, value], …]}.
/** @param {PictureParts} parts */
function drawPicture(parts) {
  return canvasOf((picture) => {
    if (parts.title) picture.paragraph(parts.title, { size: 19, weight: 700, most: 2 });
    const facts = parts.header ? parts.header.facts.map(([label, value]) => (label ? label + " " : "") + value) : [];
    picture.paragraph(facts.join("  \u00b7  "), { family: "mono", size: 12, ink: "muted", most: 2 });
    picture.y += 8;
    if (parts.verdict) picture.verdict(parts.verdict);
    if (parts.ledger) picture.ledger(parts.ledger.accounts[0]);
    if (parts.findings) picture.findings(parts.findings);
    const foot = (parts.facts || []).filter(([label]) => /sha256|^(run at|address|prompt)$/i.test(label));
    if (foot.length) picture.paragraph(foot.map(([label, value]) => label + " " + value).join("  \u00b7  "), { family: "mono", size: 11, ink: "muted", most: 2 });
  });
}

/**
 * @typedef {{ name: string, verdict: VerdictPayload, account: LedgerAccount | null }} PairSide
 * @typedef {{ path: string, before: string, after: string }} PairChange
 */

// Two runs below each other, what was changed between them.
/** @type {(sides: PairSide[], changes: PairChange[]) => HTMLCanvasElement} */
const drawPair = (sides, changes) =>
  canvasOf((picture) => {
    sides.forEach((side, at) => {
      picture.paragraph((at ? "After  \u00b7  " : "Before  \u00b7  ") + side.name, { size: 13, weight: 700, most: 2 });
      picture.verdict(side.verdict);
      if (side.account) picture.ledger(side.account);
      if (at === 0) changesOn(picture, changes);
    });
  });

/**
 * @param {Picture} picture
 * @param {PairChange[]} changes
 */
function changesOn(picture, changes) {
  picture.paragraph(changes.length ? "What changed in the request" : "The request is the same", { size: 13, weight: 700 });
  changes.slice(0, MAX_CHANGES).forEach(({ path, before, after }) => {
    picture.paragraph(path, { family: "mono", size: 12, ink: "muted", most: 1 });
    if (before) picture.paragraph("\u2212 " + visibleText(before, true), { family: "mono", size: 12, ink: "error", most: 2 });
    if (after) picture.paragraph("+ " + visibleText(after, true), { family: "mono", size: 12, ink: "ok", most: 2 });
  });
  const more = changes.length - MAX_CHANGES;
  if (more > 0) picture.paragraph("and " + plural(more, "more change"), { ink: "muted" });
  picture.y += 14;
}

/**
 * @param {PictureParts} parts
 * @param {string} fileName
 * @param {string} [packed]
 */
const savePicture = (parts, fileName, packed) => saveCanvas(drawPicture(parts), fileName, packed);

/**
 * @param {HTMLCanvasElement} canvas
 * @param {string} fileName
 * @param {string} [packed] the bundle that the picture holds
 * @returns {Promise<number>} bytes of the file
 */
async function saveCanvas(canvas, fileName, packed) {
  /** @type {Blob | null} */
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) return 0;
  const link = document.createElement("a");
  const data = packed ? embedBundle(new Uint8Array(await blob.arrayBuffer()), packed) : blob;
  link.href = URL.createObjectURL(new Blob([data], { type: "image/png" }));
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  return data instanceof Blob ? data.size : data.byteLength;
}

export { drawPair, drawPicture, savePicture, saveCanvas };
