// @ts-check
// The page: the views that it shares with a report, its own, and what ties them to Gradio.
// A new view is one line here, or in `views.js` if a report has it, too.
import "../views/views.js";
import "../tools/check_cell.js";
import "../tools/check_view.js";
import "../tools/comparison_view.js";
import "../tools/constrained_view.js";
import "../editor/draft.js";
import "../editor/editor_tools.js";
import "../tools/experiments_view.js";
import "./history.js";
import "./live.js";
import "../tools/loop_view.js";
import "../tools/fixes_view.js";
import "../tools/network.js";
import "./orders.js";
import "./page.js";
import "../tools/parser_views.js";
import "../editor/chosen_case.js";
import "./room.js";
import "./servers.js";
import "../tools/sessions_view.js";
import "./share.js";
import "../editor/template_editor.js";
import "../tools/verification_view.js";
import "../tools/apis_view.js";
import "./facade.js";
