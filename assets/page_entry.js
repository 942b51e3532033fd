// @ts-check
// The page: the views that it shares with a report, its own, and what ties them to Gradio.
// A new view is one line here, or in `views.js` if a report has it, too.
import "./views.js";
import "./check_cell.js";
import "./check_view.js";
import "./comparison_view.js";
import "./constrained_view.js";
import "./draft.js";
import "./editor_tools.js";
import "./experiments_view.js";
import "./history.js";
import "./live.js";
import "./loop_view.js";
import "./mend_view.js";
import "./network.js";
import "./orders.js";
import "./page.js";
import "./parser_views.js";
import "./chosen_case.js";
import "./room.js";
import "./servers.js";
import "./share.js";
import "./template_editor.js";
import "./verification_view.js";
import "./facade.js";
