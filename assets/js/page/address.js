// @ts-check
// The address names what is open: panel, tool in it, pinned place, compared runs. Back goes back, and each tab of the
// browser has its own. What a link carries (`#pd=…`) stays before it.
import { host, onVerdict } from "../lib/host.js";
import { open } from "../views/linking.js";
import { goToPlace, readPlace } from "../views/place.js";

/**
 * @typedef {{ tab: string | null, tool: string | null, at: string | null, runs: number[] }} Address
 */

const NAME = /^[a-z][a-z-]{0,30}$/;
const RUNS = /^(\d{1,9})-(\d{1,9})$/;
const OF_TAB = "pd-tab-of-";

/**
 * The part of an address that a link carries; "" without one.
 * @param {string} hash
 */
export const carriedBy = (hash) => (hash.startsWith("#pd=") ? hash.slice(1).split("&")[0] : "");

/**
 * What an address names; anything else in it is left.
 * @param {string} hash
 * @returns {Address}
 */
export function readAddress(hash) {
  const given = new URLSearchParams(hash.slice(1));
  /** @type {(name: string) => string | null} */
  const name = (key) => (NAME.test(given.get(key) || "") ? given.get(key) : null);
  const runs = RUNS.exec(given.get("runs") || "");
  const at = given.get("at");
  return { tab: name("tab"), tool: name("tool"), at: readPlace(at) ? at : null, runs: runs ? [Number(runs[1]), Number(runs[2])] : [] };
}

/**
 * The address of what is open, with what a link carried.
 * @param {Address} address
 * @param {string} carried
 */
export function writeAddress({ tab, tool, at, runs }, carried) {
  const parts = [carried, tab && "tab=" + tab, tab && tool && "tool=" + tool, at && "at=" + encodeURIComponent(at)];
  if (tab === "compare" && runs.length === 2) parts.push("runs=" + runs.join("-"));
  const said = parts.filter(Boolean).join("&");
  return said ? "#" + said : "";
}

let isByHand = false; // what changes now was pressed
let wanted = readAddress(globalThis.location?.hash || ""); // to be shown as soon as it is drawn, until something is pressed
/** @type {string | null} */
let place = wanted.at; // that is pinned
/** @type {number[]} */
let compared = wanted.runs;

/** @param {string} panel */
function tabsIn(panel) {
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#pd-panel-" + panel + " [role=tab][id^=" + OF_TAB + "]")]);
}

// The name of a tool ends the id of its tab: its panel's own name is before it.
/** @param {HTMLElement} tab */
const toolOf = (tab) => tab.id.slice(tab.id.lastIndexOf(OF_TAB) + OF_TAB.length).replace(/^pd-[a-z]+-(of-)?/, "");

// A panel's first tool needs no name.
/** @param {string} panel */
function openTool(panel) {
  const at = tabsIn(panel).findIndex((tab) => tab.getAttribute("aria-selected") === "true");
  return at > 0 ? toolOf(tabsIn(panel)[at]) : null;
}

// Writes down what is open: a step of its own where a panel or a tool was opened by hand.
function record() {
  const { panel } = document.documentElement.dataset;
  const { hash, pathname, search } = globalThis.location;
  const before = readAddress(hash);
  const isComing = Boolean(wanted.tab || wanted.at);
  if (!panel || (!isByHand && (isComing || !before.tab))) return; // the page opened it itself
  const now = { tab: panel, tool: openTool(panel), at: place, runs: compared };
  const isStep = isByHand && (now.tab !== (before.tab || shownBefore) || now.tool !== before.tool);
  if (!before.tab && !isStep && !place) return; // something else was pressed
  const address = pathname + search + writeAddress(now, carriedBy(hash));
  if (address === pathname + search + hash) return;
  if (!isStep) return globalThis.history.replaceState(globalThis.history.state, "", address);
  if (!before.tab) globalThis.history.replaceState({ ...globalThis.history.state, pdPanel: shownBefore }, "");
  globalThis.history.pushState({}, "", address);
}

/** @type {string | undefined} */
let shownBefore; // the panel that was open before the last press

/** @param {Address} address */
function show({ tab, tool, at }) {
  const panel = tab || globalThis.history.state?.pdPanel;
  if (panel && document.getElementById("pd-panel-" + panel)) {
    host.panelChosen = true; // the end of drawing opens no other
    open(panel);
    if (tool !== openTool(panel)) (tabsIn(panel).find((tab) => toolOf(tab) === tool) || tabsIn(panel)[0])?.click();
  }
  if (at) goToPlace(at);
}

/** The panel that the address asks for; null if that is another's choice. */
export const panelOfAddress = () => wanted.tab;

/** The two runs that the address asks for. */
export const runsOfAddress = () => wanted.runs;

/**
 * Two runs stand side by side.
 * @param {number[]} runs their ids in the history
 */
export function compareInAddress(runs) {
  compared = runs;
  record();
}

host.placePinned = (pinned) => {
  if (!isByHand && wanted.at) return; // what is still to be shown
  place = pinned;
  record();
};

function showWanted() {
  if (wanted.tab || wanted.at) show(wanted);
}

onVerdict(({ state }) => state === "running" || showWanted());
host.tabsDrawn = showWanted;

/** @param {Event} event */
function press({ isTrusted }) {
  if (!isTrusted) return; // pressed by a script of ours
  if (!isByHand) shownBefore = document.documentElement.dataset.panel;
  isByHand = true;
  wanted = { tab: null, tool: null, at: null, runs: [] };
  setTimeout(() => (isByHand = false));
}

export function watchAddress() {
  ["click", "keydown"].forEach((kind) => globalThis.addEventListener(kind, press, true));
  document.addEventListener("click", record);
  new MutationObserver(record).observe(document.documentElement, { attributes: true, attributeFilter: ["data-panel"] });
  globalThis.addEventListener("popstate", () => {
    const address = readAddress(globalThis.location.hash);
    place = address.at;
    if (address.runs.length) compared = address.runs;
    show(address);
  });
  showWanted();
}
