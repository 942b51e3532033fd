// @ts-check
// Findings: each root cause first, its effects folded below it. A card says what, where (jump), why, what to do, known reports.
import { builders } from "../lib/builders.js";
import { offeredBox, offeredOf } from "./offered_fix.js";
import { beforeRun, button, copyText, make, prose } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { jump } from "./linking.js";
import { plural, visibleText } from "../lib/payload.js";

// Code and name of a rule; on the page they link to the rule's documentation, which an exported report does not have.
/**
 * @param {string} code
 * @param {string} name
 * @param {string} className
 */
export const ruleName = (code, name, className) => {
  const text = code + " " + name;
  if (!host.rulesAt || !/^PD\d{3}$/.test(code)) return make("span", className, text);
  const link = make("a", className + " pd-rule-link", text);
  link.href = host.rulesAt + code;
  link.target = "_blank";
  link.rel = "noopener";
  link.title = "What this rule finds, and why it matters";
  return link;
};

builders.findings = (root) => {
  root.classList.add("pd-findings");
  return {
    show(decoded) {
      if (host.markFindings) host.markFindings(decoded?.header.findings ?? []);
      if (!decoded) return root.replaceChildren(beforeRun("What is wrong, root cause first, each with its evidence and its fix."));
      const { empty } = /** @type {EmptyPayload} */ (decoded.header);
      if (empty) return root.replaceChildren(make("p", "pd-empty", empty));
      const { findings, groups, summary, unchecked, key } = /** @type {FindingsPayload} */ (decoded.header);
      offeredOf(key);
      const list = make("ol", "pd-finding-list");
      list.append(...groups.map((group) => groupCard(findings, group)));
      root.replaceChildren(make("p", "pd-counts", summary), list);
      if (unchecked.length) root.append(aside(unchecked));
    },
    jump: ({ finding }) => finding && mark(root, finding),
  };
};

/**
 * Brings the card of a finding into sight and says which it is.
 * @param {HTMLElement} root
 * @param {string} name Its place, or its code: then the card of its root, where the fix is.
 */
function mark(root, name) {
  // The code of an opened run is any text.
  const ofPlace = root.querySelector('[data-place="' + CSS.escape(name) + '"]');
  const found = /** @type {HTMLElement | null} */ (ofPlace || root.querySelector('[data-codes~="' + CSS.escape(name) + '"]'));
  if (!found) return;
  root.querySelectorAll(".pd-finding.pd-shown").forEach((other) => other.classList.remove("pd-shown"));
  const fold = /** @type {HTMLDetailsElement | null} */ (found.closest("details.pd-effects"));
  if (fold) fold.open = true;
  found.classList.add("pd-shown");
  found.tabIndex = -1;
  found.scrollIntoView({ block: "start" });
  found.focus({ preventScroll: true });
}

/**
 * A root with its fix; what follows from it is folded below.
 * @param {FindingCard[]} findings
 * @param {number[]} group
 */
function groupCard(findings, group) {
  const [first, ...rest] = group;
  const item = card(findings[first], first + 1, "li");
  item.dataset.codes = group.map((i) => findings[i].code).join(" ");
  const worst = ["error", "warning"].find((severity) => group.some((i) => findings[i].severity === severity));
  if (worst) item.classList.replace("pd-" + findings[first].severity, "pd-" + worst);
  // One change fixes them all: it may have been offered for an effect, and is shown at the root.
  const holder = group.map((i) => findings[i]).find(({ offered }) => offered);
  const box = holder && holder.offered && offeredBox(holder.code, holder.offered);
  if (rest.length) item.querySelector(".pd-finding-head")?.after(chain(group.map((i) => findings[i])));
  const { offered_at } = findings[first];
  const below = box || (offered_at && !group.some((i) => findings[i].code === offered_at) && make("p", "pd-muted pd-offered-at", "The same change fixes this: see " + offered_at + "."));
  if (below) (item.querySelector(".pd-fix") || item.lastElementChild)?.after(below);
  if (rest.length) item.append(effects(findings, rest));
  return item;
}

/** @param {FindingCard[]} steps */
function chain(steps) {
  const line = make("p", "pd-chain");
  steps.forEach(({ code, name, title }, i) => {
    if (i) line.append(" \u2192 ");
    const one = make("span", "pd-chain-step", code + " " + name);
    one.title = visibleText(title, false);
    line.append(one);
  });
  return line;
}

/**
 * @param {FindingCard[]} findings
 * @param {number[]} numbers
 */
function effects(findings, numbers) {
  const fold = make("details", "pd-effects");
  const titles = numbers.map((i) => findings[i].title.replace(/\.$/, "")).join(" \u00b7 ");
  fold.append(prose("summary", "", plural(numbers.length, "effect") + ": " + titles), ...numbers.map((i) => card(findings[i], i + 1, "section")));
  return fold;
}

/**
 * @param {FindingCard} finding
 * @param {number} number
 * @param {"li" | "section"} tag
 */
function card(finding, number, tag) {
  const item = make(tag, "pd-finding pd-" + finding.severity);
  const head = make("div", "pd-finding-head");
  head.append(
    make("span", "pd-severity", finding.mark + " " + finding.severity),
    prose("h2", "pd-finding-title", finding.title),
    ruleName(finding.code, finding.name, "pd-code-name"),
  );
  const place = "finding." + finding.code + "." + number;
  item.dataset.place = place;
  if (host.linkTo) head.append(linkButton(place));
  item.append(head, meta(finding));
  if (finding.detail) item.append(prose("p", "pd-finding-detail", finding.detail));
  if (finding.evidence.length) item.append(evidence(finding.evidence));
  if (finding.fix) item.append(fix(finding.fix));
  if (finding.proof) item.append(proofBox(finding.proof));
  if (finding.links.length) item.append(links(finding.links));
  return item;
}

/** @param {string} place */
function linkButton(place) {
  const made = button("Link", "pd-quiet", (event) => host.linkTo?.(place, event.currentTarget), "A link that opens at this finding");
  made.setAttribute("aria-label", "Link to this finding");
  return made;
}

/** @param {FindingCard} finding */
function meta(finding) {
  const line = make("p", "pd-meta");
  finding.meta.forEach((text) => line.append(make("span", "", text)));
  return line;
}

/** @param {Evidence[]} items */
function evidence(items) {
  const list = make("ul", "pd-evidence");
  items.forEach((one) => {
    const row = make("li");
    row.append(button("\u2192 " + one.label, "pd-jump", () => jump(one), "Show it"));
    if (one.quote) row.append(make("code", "pd-quote", visibleText(one.quote, true)));
    list.append(row);
  });
  return list;
}

/** @param {string} text */
function fix(text) {
  const box = make("div", "pd-fix");
  box.append(make("span", "pd-fix-label", "Advice"), prose("span", "pd-fix-text", text));
  box.append(button("copy", "pd-small", (event) => copyText(text, event.currentTarget)));
  return box;
}

// How trying the fix went.
/** @param {{ worked: boolean, text: string }} proof */
function proofBox({ worked, text }) {
  const box = make("div", "pd-fix pd-proof");
  box.append(make("span", "pd-fix-label", worked ? "Tried: it works" : "Tried"), prose("span", "pd-fix-text", text));
  return box;
}

// Only web addresses become links; anything else is shown as text.
/** @param {string[]} addresses */
function links(addresses) {
  const list = make("p", "pd-links", "Known reports: ");
  addresses.forEach((address, i) => {
    if (i) list.append(" \u00b7 ");
    if (!/^https?:\/\//i.test(address)) return list.append(visibleText(address, false));
    const link = make("a", "", address.replace(/^https?:\/\/(www\.)?(github\.com\/)?/i, ""));
    link.href = address;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    list.append(link);
  });
  return list;
}

/** @param {string[]} items */
function aside(items) {
  const box = make("div", "pd-unchecked");
  const list = make("ul");
  list.append(...items.map((text) => prose("li", "", text)));
  box.append(make("h2", "", "Not checked"), list);
  return box;
}
