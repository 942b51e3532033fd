// @ts-check
// What `verify` found: rates with intervals, causes, stages, tools, time, rows by cause; two side by side.
import { begun, bench } from "./bench.js";
import { builders } from "../lib/builders.js";
import { button, copyText, make, prose, region, table } from "../lib/dom.js";
import { ruleName } from "../views/findings_view.js";
import { open } from "../views/linking.js";
import { plural } from "../lib/payload.js";
import { host } from "../lib/host.js";
import { packText } from "../lib/packing.js";
import { differencePlot, plot, plots } from "./verification_plots.js";

/**
 * @typedef {import("./verification_plots.js").Bar} Bar
 * @typedef {import("./verification_plots.js").DifferenceBar} DifferenceBar
 * @typedef {{ index: number, question: string, verdict: string, is_worse?: boolean }} Row
 * @typedef {{ codes: [code: string, name: string, hasPage: boolean][], count: number, stage: string, rows: Row[] }} Cluster
 * @typedef {{ name: string, tiles: [label: string, value: unknown][], evidence: string, rates: Bar[], causes: Bar[], stages: Bar[], tools: Bar[],
 *   times: { bins: [good: number, bad: number][], span: string } | null, clusters: Cluster[], has_runs: boolean }} Side
 * @typedef {{ differences: DifferenceBar[], words: string, changed: Row[], more_changed: number }} Pair The first side less another one.
 * @typedef {{ sides: Side[], pairs: Pair[] }} VerificationHeader
 */

const MAX_DATASET_BYTES = 90_000_000;

builders.verification = (root, name) =>
  bench(root, name, "Drop a dataset to send its rows, or open the results of the command verify: how many calls are lost, why, at which stage and for which tool, with every row one click from its whole run. Add a second one to see what got better and what got worse.", (/** @type {VerificationHeader & { state: string }} */ header) => {
    if (!header.sides) return [];
    return [
      tiles(header.sides),
      ...header.pairs.map((pair, i) => compared(header.sides, pair, i + 1)),
      plots(header.sides),
      ...header.sides.map((side, i) => clusters(side, i, header.sides.length > 1)),
    ];
  });

// What passes by, while it passes: where to point clients, then the same as of a verification.
builders.live_watch = (root, name) =>
  bench(root, name, "Watch the target starts a proxy on this machine before the server under Target. Traffic passes through unchanged, except that requested token ids are removed from what clients receive. Point your client at it: you see how many calls are lost, for which cause and tool, with intervals, and every faulty exchange opens as a run. It stops when this page is closed.", (/** @type {VerificationHeader & { address: string, upstream: string, last: string }} */ header) => [
    header.address && whereTo(header),
    header.last && prose("p", "pd-live-last", header.last),
    ...(header.sides ? [tiles(header.sides), plots(header.sides), ...header.sides.map((side, i) => clusters(side, i, false))] : []),
  ]);

/** @param {{ address: string, upstream: string }} header */
function whereTo({ address, upstream }) {
  const line = make("p", "pd-live-address");
  const copy = button("copy", "pd-small", () => copyText(address, copy), "Copy the address");
  line.append(make("span", "", "Base URL for clients "), make("code", "pd-inline-code", address), " ", copy, make("span", "pd-muted", " passes on to " + upstream));
  return line;
}

/**
 * @param {Element} from
 * @param {number} side
 * @param {number} index
 */
function openRow(from, side, index) {
  const root = /** @type {ViewRoot | null} */ (from.closest(".pd-bench-view"));
  root?.pdAsk("select", { index: 0, value: { side, index } });
  open("findings");
}

// A dataset that is dropped while this panel is open, or chosen, starts to be asked.
builders.dataset = (root) => {
  root.classList.add("pd-dataset");
  const status = make("span", "pd-share-hint");
  status.setAttribute("role", "status");
  const field = make("input", "pd-live");
  field.type = "file";
  field.accept = ".jsonl,.json,.ndjson";
  field.tabIndex = -1;
  field.setAttribute("aria-label", "Dataset to verify");
  const choose = button("Verify a dataset \u2026", "pd-primary", () => field.click(), "JSONL of requests, as K2VV's and MiniMax's; every row is sent to the server under Target");
  field.addEventListener("change", () => {
    take(field.files?.[0]);
    field.value = "";
  });
  root.append(choose, field, make("span", "pd-muted", "or drop it here: its rows go to the server under Target, or to the lab."), status);

  /** @param {File | null | undefined} file */
  async function take(file) {
    if (!file) return;
    const packed = file.size > MAX_DATASET_BYTES ? null : await packText(await file.text());
    status.textContent = packed === null ? "That dataset is too long for the page: use `verify` on the command line." : "From " + file.name.slice(0, 80) + ".";
    if (packed === null) return;
    begun("pd-verification");
    root.pdAsk("submit", { packed });
  }
  host.takeDataset = (file) => {
    if (document.documentElement.dataset.panel !== "verify") return false;
    take(file);
    return true;
  };
  return { show() {} };
};

// --- figures ------------------------------------------------------------------------------------

/** @param {Side[]} sides */
function tiles(sides) {
  const table = make("table", "pd-table pd-verify-tiles");
  const head = make("tr");
  head.append(make("th", "", ""), ...sides[0].tiles.map(([label]) => make("th", "", label)));
  head.querySelectorAll("th").forEach((cell) => (cell.scope = "col"));
  head.firstElementChild?.append(make("span", "pd-live", "verification"));
  const top = make("thead"), body = make("tbody");
  top.append(head);
  sides.forEach((side, i) => {
    const row = make("tr"), title = make("th", "pd-parser-name");
    title.scope = "row";
    title.append(make("span", "pd-verify-key pd-verify-side-" + i), side.name);
    row.append(title, ...side.tiles.map(([, value]) => make("td", "pd-figure-cell", value === null ? "\u2013" : value)));
    body.append(row);
  });
  table.append(make("caption", "pd-live", "Counts"), top, body);
  const box = make("div", "pd-scroll");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Counts");
  box.append(table);
  sides.forEach((side) => box.append(make("p", "pd-muted pd-verify-evidence", "Evidence" + (sides.length > 1 ? " of " + side.name : "") + ": " + (side.evidence || "none"))));
  return box;
}

// --- two side by side --------------------------------------------------------------------------------

/**
 * @param {Side[]} sides
 * @param {Pair} pair
 * @param {number} other
 */
function compared(sides, pair, other) {
  const box = make("section", "pd-verify-plots");
  const title = sides[0].name + " less " + sides[other].name + ": share of rows";
  box.append(plot(title, differencePlot(pair.differences)), make("p", "pd-muted", pair.words));
  /** @type {[isWorse: boolean, words: string, here: number, there: number][]} */
  const changes = [[true, "Faults here, not there", 0, other], [false, "Faults there, not here", other, 0]];
  for (const [isWorse, words, here, there] of changes) {
    const rows = pair.changed.filter((row) => row.is_worse === isWorse);
    if (!rows.length) continue;
    const more = make("details", "pd-more");
    more.dataset.key = "changed-" + here + "-" + there;
    more.append(make("summary", "", words + ": " + plural(rows.length, "row") + (pair.more_changed ? " or more" : "")), rowTable(words, rows, here, [there, sides[there].name]));
    box.append(more);
  }
  return box;
}

/**
 * @param {string} label
 * @param {Row[]} rows
 * @param {number} side
 * @param {[side: number, name: string]} [other]
 */
function rowTable(label, rows, side, other) {
  const made = rows.map((row) => {
    const element = make("tr"), place = make("td", "pd-verify-open");
    place.append(button("row " + row.index, "pd-jump", () => openRow(place, side, row.index), "Open this row in the page"));
    if (other) place.append(button(other[1], "pd-jump", () => openRow(place, other[0], row.index), "The same row of the other"));
    element.append(place, make("td", "pd-words", row.question), prose("td", "pd-words", row.verdict));
    return element;
  });
  return region(label, "pd-scroll", table(label, ["row", "asked", "what happened"], made));
}

// --- rows at fault, by cause -------------------------------------------------------------------------------

/**
 * @param {Side} side
 * @param {number} number
 * @param {boolean} isOne
 */
function clusters(side, number, isOne) {
  const box = make("section", "pd-verify-clusters");
  box.append(make("h2", "pd-check-title", "Rows with faults, by cause" + (isOne ? " \u00b7 " + side.name : "")));
  if (!side.clusters.length) box.append(make("p", "pd-muted", "None."));
  side.clusters.forEach((cluster, i) => {
    const item = make("details", "pd-more pd-verify-cluster");
    item.dataset.key = "cluster-" + number + "-" + i;
    item.open = i < 3;
    const summary = make("summary");
    const rules = make("p", "pd-verify-rules");
    cluster.codes.forEach(([code, name, hasPage], at) => {
      if (at) summary.append(", ");
      summary.append(make("span", "pd-verify-code", code + (name ? " " + name : "")));
      if (hasPage) rules.append(ruleName(code, name, "pd-verify-code"), " ");
    });
    if (!cluster.codes.length) summary.append("no rule explains it");
    summary.append(" \u00b7 " + plural(cluster.count, "row") + (cluster.stage ? " \u00b7 stage " + cluster.stage : ""));
    item.append(summary, rowTable(side.name + ": " + (cluster.codes.map(([code]) => code).join(", ") || "no rule") + (cluster.stage ? ", " + cluster.stage : ""), cluster.rows, number), rules);
    const more = cluster.count - cluster.rows.length;
    if (more > 0) item.append(make("p", "pd-muted", "The " + cluster.rows.length + " smallest requests; " + more + " more in the results."));
    box.append(item);
  });
  if (!side.has_runs) box.append(make("p", "pd-muted", "These results have no journal: a row opens with its request and answer, without its raw output."));
  return box;
}
