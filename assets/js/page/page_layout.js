// @ts-check
// Room on the page: it shows itself once everything is in its place, with headings, handles, and the panes as they were left.
import { make } from "../lib/dom.js";
import { host } from "../lib/host.js";
import { storeLayout, readLayout } from "./stored_layout.js";
import { whenDrawn } from "../lib/settling.js";
import { addSplitters } from "./splitters.js";
import "./phone.js";
import "./verdict_height.js";

// Headings that only a screen reader needs: who looks sees the parts.
const PARTS = {
  "pd-left": "Request", "pd-panel-render": "Render", "pd-panel-complete": "Complete", "pd-panel-parse": "Parse",
  "pd-panel-findings": "Findings", "pd-panel-what-if": "What if", "pd-panel-template": "Template", "pd-panel-fix": "Fix",
  "pd-panel-compare": "Compare", "pd-panel-check": "Check", "pd-panel-verify": "Verify", "pd-panel-live": "Live",
};

function nameParts() {
  Object.entries(PARTS).forEach(([id, name]) => {
    const part = document.getElementById(id);
    if (part) part.prepend(make("h2", "pd-part-name", name));
  });
}

// The first picture: in the fonts that stay, with the panes as they were left.
async function settle() {
  nameParts();
  addSplitters();
  await document.fonts.ready;
  requestAnimationFrame(() => (document.documentElement.dataset.settled = "true"));
}

host.readLayout = readLayout;
host.storeLayout = storeLayout;
whenDrawn(document, settle);
