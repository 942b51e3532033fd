// @ts-check
// Findings, worst first: what, where (jump), why, what to do (copy), known reports.
import { builders } from "../lib/builders.js";
import { offeredBox, offeredOf } from "./offered_fix.js";
import { button, copyText, make, prose } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { jump } from "./linking.js";
import { visibleText } from "../lib/payload.js";

// Code and name of a rule; on the page they lead to what is written about it, a report has no such pages.
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
      if (host.markFindings) host.markFindings(decoded ? decoded.header.findings : []);
      if (!decoded) return root.replaceChildren(make("p", "pd-empty", "What is wrong, worst first, each with its evidence and its fix."));
      const { findings, summary, unchecked, key } = /** @type {FindingsPayload} */ (decoded.header);
      offeredOf(key);
      const list = make("ol", "pd-finding-list");
      list.append(...findings.map((finding, i) => card(finding, i + 1)));
      root.replaceChildren(make("p", "pd-counts", summary), list);
      if (unchecked.length) root.append(aside(unchecked));
    },
    jump: ({ finding }) => finding && mark(root, finding),
  };
};

/**
 * Brings the card of a finding into sight and says which it is.
 * @param {HTMLElement} root
 * @param {string} name
 */
function mark(root, name) {
  const card = /** @type {HTMLElement | null} */ (root.querySelector('[data-place="' + name + '"]'));
  if (!card) return;
  root.querySelectorAll(".pd-finding.pd-shown").forEach((other) => other.classList.remove("pd-shown"));
  card.classList.add("pd-shown");
  card.tabIndex = -1;
  card.scrollIntoView({ block: "start" });
  card.focus({ preventScroll: true });
}

/**
 * @param {FindingCard} finding
 * @param {number} number
 */
function card(finding, number) {
  const item = make("li", "pd-finding pd-" + finding.severity);
  const head = make("div", "pd-finding-head");
  head.append(
    make("span", "pd-severity", finding.mark + " " + finding.severity),
    prose("h2", "pd-finding-title", finding.title),
    ruleName(finding.code, finding.name, "pd-code-name"),
  );
  const place = "finding." + finding.code + "." + number;
  item.dataset.place = place;
  if (host.linkTo) head.append(button("Link to this finding", "pd-small", (event) => host.linkTo?.(place, event.currentTarget), "A link that opens at this finding"));
  item.append(head, meta(finding));
  if (finding.detail) item.append(prose("p", "pd-finding-detail", finding.detail));
  if (finding.evidence.length) item.append(evidence(finding.evidence));
  if (finding.fix) item.append(fix(finding.fix));
  if (finding.offered) item.append(offeredBox(finding.code, finding.offered));
  if (finding.offered_at) item.append(make("p", "pd-muted pd-offered-at", "The same change fixes this: see " + finding.offered_at + "."));
  if (finding.links.length) item.append(links(finding.links));
  return item;
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
