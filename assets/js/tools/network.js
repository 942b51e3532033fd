// @ts-check
// What went over the wire in a run: one row an exchange, which opens to bodies, headers, and the events with their times.
import { builders } from "../lib/builders.js";
import { button, copyText, make, prose } from "../lib/dom.js";
import { onVerdict } from "../lib/host.js";
import { plural } from "../lib/payload.js";

/**
 * @typedef {[name: string, value: string][]} Headers
 * @typedef {{ method: string, url: string, path: string, purpose: string, status: number | null, error: string, started_s: number,
 *   first_s: number | null, total_s: number | null, size: number, sent_headers: Headers, headers: Headers, body: string, text: string,
 *   events: [at: number | null, data: string][] | null }} Exchange
 */

/** @type {{ run: number, root: HTMLElement } | null} */
let shown = null; // {run, root}
let run = 0; // that the verdict strip tells of

/** @param {number | null} value */
function seconds(value) {
  if (value === null) return "\u2026";
  return value < 1 ? Math.round(value * 1000) + " ms" : value.toFixed(1) + " s";
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1024 ? bytes + " B" : Math.ceil(bytes / 1024).toLocaleString("en") + " KB";
}

/** @param {string} text */
const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

// A command that asks the same again; a key goes in as a variable.
/** @param {Exchange} one */
export const curlOf = (one) => {
  const headers = one.sent_headers
    .filter(([name]) => ["authorization", "content-type"].includes(name.toLowerCase()))
    .map(([name, value]) => (name.toLowerCase() === "authorization" ? '  -H "Authorization: Bearer $OPENAI_API_KEY"' : "  -H " + quoted(name + ": " + value)));
  const body = one.body ? ["  --data-raw " + quoted(one.body)] : [];
  return ["curl -sS -X " + one.method + " " + quoted(one.url), ...headers, ...body].join(" \\\n");
};

/** @param {Headers} rows */
function headerTable(rows) {
  const list = make("dl", "pd-net-headers");
  rows.forEach(([name, value]) => list.append(make("dt", "", name), make("dd", "", value)));
  return list;
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/**
 * @param {string} label
 * @param {string} words
 */
function text(label, words) {
  const box = make("div", "pd-net-part");
  const head = make("p", "pd-net-label", label + " ");
  head.append(button("copy", "pd-small", (event) => copyText(words, event.currentTarget)));
  const pre = make("pre", "pd-text pd-net-text", pretty(words));
  pre.tabIndex = 0;
  box.append(head, pre);
  return box;
}

/** @param {NonNullable<Exchange["events"]>} rows */
function events(rows) {
  const box = make("div", "pd-net-part");
  box.append(make("p", "pd-net-label", plural(rows.length, "event")));
  const list = make("ol", "pd-net-events");
  list.tabIndex = 0;
  rows.forEach(([at, data]) => {
    const item = make("li", "");
    item.append(make("span", "pd-net-at", at === null ? "cut off" : seconds(at)), make("code", "", data));
    list.append(item);
  });
  box.append(list);
  return box;
}

/** @param {Exchange} one */
const endOf = (one) => one.started_s + (one.total_s ?? one.first_s ?? 0);

/**
 * When it was under way, on the line of time of the whole run: waiting for the first byte, then what came.
 * @param {Exchange} one
 * @param {number} end of the last exchange
 */
function waterfall(one, end) {
  const line = make("span", "pd-net-fall");
  line.setAttribute("aria-hidden", "true"); // the figures say it
  const first = one.started_s + (one.first_s ?? one.total_s ?? 0);
  /** @type {[number, number, string][]} */
  const parts = [[one.started_s, first, "pd-net-waits"], [first, endOf(one), "pd-net-comes"]];
  parts.filter(([from, to]) => to > from).forEach(([from, to, name]) => {
    const part = make("span", name);
    part.style.left = (100 * from) / (end || 1) + "%";
    part.style.width = (100 * (to - from)) / (end || 1) + "%";
    line.append(part);
  });
  return line;
}

/**
 * @param {Exchange} one
 * @param {number} end of the last exchange
 */
function row(one, end) {
  const box = make("details", "pd-net-row");
  const head = make("summary", "");
  const isBad = Boolean(one.error) || one.status === null || one.status >= 400;
  const status = make("span", "pd-net-status" + (isBad ? " pd-net-bad" : ""), one.status === null ? "no answer" : String(one.status));
  const figures = "first byte " + seconds(one.first_s) + " \u00b7 total " + seconds(one.total_s) + " \u00b7 " + size(one.size);
  head.append(
    make("span", "pd-net-when", "+" + seconds(one.started_s)), status,
    make("code", "pd-net-path", one.method + " " + one.path), make("span", "pd-net-purpose", one.purpose), make("span", "pd-muted", figures),
    waterfall(one, end),
  );
  box.append(head);
  box.addEventListener("toggle", () => box.childNodes.length > 1 || fill(box, one));
  return box;
}

/**
 * @param {HTMLElement} box
 * @param {Exchange} one
 */
function fill(box, one) {
  if (one.error) box.append(prose("p", "pd-net-error", one.error));
  const bar = make("p", "pd-net-bar");
  bar.append(button("Copy as curl", "pd-small", (event) => copyText(curlOf(one), event.currentTarget), "A key is written as $OPENAI_API_KEY"));
  box.append(bar, make("p", "pd-net-label", "Request"), headerTable(one.sent_headers));
  if (one.body) box.append(text("Body", one.body));
  if (one.status === null) return;
  box.append(make("p", "pd-net-label", "Answer"), headerTable(one.headers));
  if (one.events) box.append(events(one.events));
  else box.append(text("Body", one.text));
}

function place() {
  if (shown) shown.root.classList.toggle("pd-net-other", shown.run !== run || !run);
}

// What is shown belongs to one run, and goes with it.
onVerdict((verdict) => {
  run = verdict.run;
  place();
});

builders.network = (root) => {
  root.classList.add("pd-network");
  return {
    show(decoded) {
      root.replaceChildren();
      shown = decoded ? { run: decoded.header.run, root } : null;
      if (!decoded) return;
      const all = /** @type {Exchange[]} */ (decoded.header.exchanges);
      const box = make("details", "pd-net");
      const head = make("summary", "pd-net-head");
      head.append(make("strong", "", "Network"), make("span", "pd-muted", plural(all.length, "exchange") + " with the server in " + seconds(Math.max(...all.map(endOf))) + ": bodies, headers, times"));
      const list = make("div", "pd-net-list");
      const end = Math.max(...all.map(endOf));
      list.append(...all.map((one) => row(one, end)));
      box.append(head, list);
      box.addEventListener("toggle", () => box.open && box.scrollIntoView({ block: "nearest" }));
      root.append(box);
      place();
    },
  };
};
