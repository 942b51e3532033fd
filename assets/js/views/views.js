// @ts-check
// The views that page and report share: each import adds its kinds to `builders`.
import "./completion_view.js";
import "./difference_view.js";
import "./findings_view.js";
import "./ledger_view.js";
import "./template_view.js";
import "./token_view.js";
import "./verdict_view.js";
