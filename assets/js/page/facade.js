// @ts-check
// What Python calls by name: the `js=` of Gradio's events and the scripts of its HTML components see nothing but globals.
// The one place that makes any: `globalThis.PromptDebugger`. A test compares this list with what Python calls.
import { settle } from "../tools/bench.js";
import { chooseCase, chosenCase } from "../editor/chosen_case.js";
import { keepTarget, restoreDraft } from "../editor/draft.js";
import { runEnded, runExtended, runRefused } from "./history.js";
import { attach, controller } from "../views/linking.js";
import { renderLive } from "./live.js";
import { failedStrip, lostStrip } from "./lost_connection.js";
import { loopOrder } from "../tools/loop_view.js";
import { comparisonRefused } from "../tools/comparison_view.js";
import { chosenTrials } from "../tools/fixes_view.js";
import { order, orderRefused, answerAt, fillOrder } from "./orders.js";
import { fillRunText } from "./outdated.js";
import { typed } from "./typed.js";
import { unpackText } from "../lib/packing.js";
import { askAgain } from "../tools/parser_views.js";
import { applyServer, chooseRun } from "./servers.js";
import { applyLink } from "./share.js";
import { makeFragment } from "./shared_link.js";
import { editorLanguage } from "../editor/plain_editor.js";
import { requestEdited } from "../editor/template_editor.js";

globalThis.PromptDebugger = {
  applyLink, applyServer, askAgain, attach, chooseCase, chooseRun, chosenCase, chosenTrials, comparisonRefused, controller, editorLanguage, failedStrip,
  keepTarget, loopOrder, lostStrip, makeFragment, order, orderRefused, renderLive, requestEdited, restoreDraft, runEnded, runExtended, runRefused, settle,
  answerAt, typed, unpackText, fillOrder, fillRunText,
};
