"""The panels placed and wired: the only place that knows two of them. No logic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import gradio as gr
from gradio.events import Dependency

from prompt_debugger.core.base.types import Api
from prompt_debugger.ui.web.calls import Calls
from prompt_debugger.ui.web.experiments import Bench
from prompt_debugger.ui.web.fixes.apis import AllApis
from prompt_debugger.ui.web.fixes.bug_report import BugReports
from prompt_debugger.ui.web.fixes.loop import ToolLoop
from prompt_debugger.ui.web.fixes.offered import OfferedFixes
from prompt_debugger.ui.web.fixes.runs import PageRuns
from prompt_debugger.ui.web.fixes.try_fixes import Experiments
from prompt_debugger.ui.web.handlers import Handlers
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.live import LiveRender
from prompt_debugger.ui.web.model_check import ModelChecks
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.comparison import build_comparison, wire_apis, wire_comparison
from prompt_debugger.ui.web.panels.draft import wire_draft
from prompt_debugger.ui.web.panels.experiments import build_experiments, wire_experiments
from prompt_debugger.ui.web.panels.fixes import build_fixes, wire_fixes
from prompt_debugger.ui.web.panels.history import wire_history, wire_kept_question
from prompt_debugger.ui.web.panels.lab_install import build_install_row, wire_lab
from prompt_debugger.ui.web.panels.live import wire_live
from prompt_debugger.ui.web.panels.live_watch import build_live_watch, wire_live_watch
from prompt_debugger.ui.web.panels.loop import wire_loop
from prompt_debugger.ui.web.panels.model_check import build_check, wire_check
from prompt_debugger.ui.web.panels.orders import build_orders, wire_edits, wire_offered
from prompt_debugger.ui.web.panels.parse_tools import wire_parse_tools
from prompt_debugger.ui.web.panels.request import build_request_panel
from prompt_debugger.ui.web.panels.results import build_header, build_results
from prompt_debugger.ui.web.panels.run_words import show_on_run, where_run_goes, wire_run_words
from prompt_debugger.ui.web.panels.server_look import wire_look
from prompt_debugger.ui.web.panels.servers import wire_servers
from prompt_debugger.ui.web.panels.share import wire_share
from prompt_debugger.ui.web.panels.template import build_template, wire_template
from prompt_debugger.ui.web.panels.verification import build_verification, wire_verification
from prompt_debugger.ui.web.parse_tools import ParseTools
from prompt_debugger.ui.web.pasted import AUTO_DETECT, Reading
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.sharing import Comparing, Sharing
from prompt_debugger.ui.web.targets import RunOn, TargetFields, add_server, run_label, target_label
from prompt_debugger.ui.web.template_lab import TemplateLab
from prompt_debugger.ui.web.verification import Verifications


def place_panels(settings: PageSettings, labs: PageLabs) -> None:
    """Place everything into the open `gr.Blocks`, then wire it."""
    handlers = Handlers(settings, labs)
    examples = tuple(handlers.examples.values())
    first = handlers.load_case(examples[0].name)
    sharing = Sharing(settings, lambda: labs.is_coming)
    views, history = build_header(first.payloads, handlers.describe_lab()[0], sharing.first_payload())
    install_row = build_install_row(labs)
    with gr.Row(elem_id="pd-main"):
        with gr.Column(elem_id="pd-left", scale=0, min_width=260):
            aimed = (settings, labs, settings.target.base_url or "", RunOn.AUTO)
            labels = run_label(*aimed), target_label(*aimed)
            panel = build_request_panel(settings, examples, first.payloads["notices"], *labels)
        with gr.Column(elem_id="pd-right", scale=1, min_width=280):
            results = build_results(first.payloads, settings)
            views.update(results.views)
            bench = Bench(settings, labs, handlers.gate.drawing)
            experiments = build_experiments(settings)
            template = build_template(settings)
            fixes = build_fixes()
            comparison = build_comparison(settings)
            model_check = build_check(settings)
            verification = build_verification(settings)
            live_watch = build_live_watch(settings)
    orders = build_orders()
    gr.HTML('<div id="pd-inspector" role="status" aria-label="Inspector"></div>', elem_id="pd-foot", padding=False)
    views["notices"] = panel.notices
    page = Page(handlers, panel, views, gr.State(first.trace), gr.State(None), gr.State(()))
    parse_tools = ParseTools(settings, labs, handlers.engine, handlers.gate.drawing)
    wire_parse_tools(page, results.parse_tools, parse_tools)
    wire_live(page, results.live, LiveRender(bench, settings))
    wire_experiments(page, experiments, bench, template.editor)
    wire_template(page, template, TemplateLab(bench))
    wire_check(page, model_check, ModelChecks(settings, redraw_rate=handlers.gate.drawing), template.editor)
    verifications = Verifications(settings, labs, handlers.gate.drawing)
    wire_verification(page, verification, verifications)
    wire_live_watch(page, live_watch, verifications)
    runs = PageRuns(handlers)
    offered = OfferedFixes(runs, bench)
    wire_fixes(page, fixes, orders, Experiments(runs, bench), BugReports(runs), template)
    wire_loop(page, fixes.loop, orders, ToolLoop(runs))
    wire_offered(page, orders, offered)
    wire_edits(page, orders, offered, template)
    opened = wire_share(page, sharing)
    Calls(settings).place()
    wire_look(page, panel.look)
    wire_draft(page)
    wire_servers(page, panel.servers)
    loaded = _wire_cases(page)
    wire_run_words(page, loaded, opened)
    ended = _wire_run(page)
    wire_comparison(comparison.runs, Comparing(sharing))
    wire_apis(page, comparison.apis, AllApis(runs))
    reopened = wire_history(page, history, sharing, ended=ended)
    wire_kept_question(history, orders, sharing, parse_tools)
    _let_newest_win(page, loaded, opened, reopened)
    wire_lab(page, install_row, is_waited_for=labs.is_coming and settings.target.base_url is None)


def _let_newest_win(page: Page, loaded: Dependency, opened: Dependency, reopened: Dependency) -> None:
    """Let the answer of an opening that comes late change nothing, where a run was opened or started since.

    A run itself is silenced by what is opened.
    """
    opened.success(None, cancels=[loaded, reopened], **quiet())
    reopened.success(None, cancels=[loaded, opened], **quiet())
    loaded.success(None, cancels=[opened, reopened], **quiet())
    page.request.run.click(None, cancels=[loaded, opened, reopened], **quiet())


def _wire_cases(page: Page) -> Dependency:
    """Wire the worked cases and what is said of the text; returns the event that loads a case."""
    panel = page.request

    async def load_case(visitor: gr.Request, name: str | None) -> Changes:
        if name is None:  # nothing was chosen: what is shown stays, and so does what is running
            return {panel.run: gr.skip()}
        # What a run would still say belongs to another request; its own end gives the buttons back.
        has_run = await page.handlers.stops.silence(visitor.session_hash or "")
        case = await asyncio.to_thread(page.handlers.load_case, name)
        fields: Changes = {
            panel.editor: case.text,
            panel.tool_parser: case.tool_parser,
            panel.reasoning_parser: case.reasoning_parser,
            panel.read_as: AUTO_DETECT,
            page.trace: case.trace,
            panel.run: gr.skip() if has_run else gr.Button(interactive=True),
        }
        return {**fields, **page.changes(case.payloads)}

    outputs = [
        panel.editor,
        panel.tool_parser,
        panel.reasoning_parser,
        panel.read_as,
        panel.run,
        page.trace,
        *page.views.values(),
    ]
    # A list box tells of an input whenever the focus leaves it, too: the script presses the button where one was made.
    choose_case = "(name) => PromptDebugger.chooseCase(name)"
    panel.case.input(None, panel.case, None, js=choose_case, api_name="choose_case", **quiet())
    # Run waits for the case: pressed before it has come, it would run the request that is about to go.
    panel.load.click(None, None, panel.run, js="() => ({ __type__: 'update', interactive: false })", **quiet())
    # Another one, chosen before the first has come, is loaded after it.
    once_more = {"api_name": "load_case", "trigger_mode": "always_last", **quiet()}
    chosen = "() => PromptDebugger.chosenCase()"
    loaded = panel.load.click(load_case, panel.case, outputs, js=chosen, **once_more)
    panel.give_up.click(None, cancels=[loaded], **quiet())  # by the script: what was typed or pasted since stays
    loaded.failure(
        lambda: gr.Button(interactive=True), None, panel.run, api_name="case_refused", queue=False, **quiet()
    )

    def check_request(
        text: str, name: str, row: float | None, endpoint: str, run_on: str, pasted: str, api: str
    ) -> Changes:
        is_free = endpoint.strip() in ("", pasted)
        aim = "the lab" if RunOn(run_on) is RunOn.LAB else "" if is_free else endpoint.strip()
        checked = page.handlers.check_request(text, Reading(name, int(row or 1)), aim)
        goes_to = where_run_goes(page, endpoint, run_on, api)
        changes: Changes = {**goes_to, panel.notices: checked.payload, panel.reads_here: checked.reads_here}
        if checked.server is None or page.handlers.settings.public:
            return changes
        if checked.key:  # for this server alone
            changes[panel.key] = checked.key
        if not is_free or checked.server == endpoint:
            return changes
        # The server of a pasted call becomes the target where everyone sees it; what was under Target is not its.
        if endpoint and not checked.key:
            changes[panel.key] = ""
        return {
            **changes,
            panel.endpoint: checked.server,
            panel.model: "",
            panel.tokenizer: "",
            panel.aimed: checked.server,
            **where_run_goes(page, checked.server, run_on, api),  # at once, not when the field has told of its change
        }

    inputs = [panel.editor, panel.read_as, panel.row, panel.endpoint, panel.run_on, panel.aimed, panel.api]
    filled = [panel.endpoint, panel.model, panel.tokenizer, panel.key, panel.aimed]
    said: list[gr.blocks.Block] = [panel.goes_to, panel.target_row, panel.reads_here, panel.notices, *filled]
    live = {"trigger_mode": "always_last", **quiet()}
    # The script presses it after a key: at once, or where a text is long, once someone pauses.
    checks: list[Dependency] = [
        panel.check.click(check_request, inputs, said, api_name="check_request", **live),
        panel.read_as.input(check_request, inputs, said, api_name="check_reading", **live),
        panel.row.input(check_request, inputs, said, api_name="check_row", **live),
    ]
    show_on_run(page, *checks)
    recoloured = "() => PromptDebugger.editorLanguage()"
    panel.recolour.click(None, None, panel.editor, js=recoloured, api_name="recolour", **quiet())
    # An address that is typed while a pasted call is read stays: the key next to it was meant for that one.
    panel.endpoint.input(None, cancels=[*checks], **quiet())
    return loaded


def _wire_run(page: Page) -> Dependency:
    """Wire Run and Stop; returns the event at whose end the trace is there."""
    panel = page.request

    stops = page.handlers.stops

    async def begin(visitor: gr.Request) -> tuple[Any, Any, None, None]:
        stops.expect(visitor.session_hash or "")
        return gr.Button(interactive=False), gr.Button(interactive=True), None, None

    def end() -> tuple[Any, Any]:
        return gr.Button(interactive=True), gr.Button(interactive=False)

    async def refuse(visitor: gr.Request) -> tuple[Any, Any, str]:
        stops.forget(visitor.session_hash or "")
        return *end(), page.handlers.not_started()

    async def stop(visitor: gr.Request) -> Any:  # noqa: ANN401  # a button that changes
        stops.stop(visitor.session_hash or "")
        return gr.Button(interactive=False)

    async def run(visitor: gr.Request, text: str, *more: Any) -> AsyncGenerator[Changes, None]:  # noqa: ANN401  # fields, and the state
        session = visitor.session_hash or ""
        *fields, key, name, row, run_on, api, servers = more
        reading = Reading(name, int(row or 1))
        asked_by = Api(api) if api in [*Api] else None
        to = (TargetFields(*fields), session, str(key or ""))
        updating = page.handlers.run(text, *to, reading, RunOn(run_on), asked_by)
        async with aclosing(updating) as updates:
            async for update in updates:
                kept: Changes = {}
                if update.trace is not None:
                    kept = {page.trace: update.trace}
                if update.asks is not None:
                    kept[page.asks] = update.asks
                if update.trace is not None and update.is_own:
                    kept[page.servers] = add_server(servers, update.trace)
                yield {**kept, **page.changes(update.payloads)}

    buttons = [panel.run, panel.stop]
    inputs = [panel.editor, *panel.sending_fields, panel.read_as, panel.row, panel.run_on, panel.api, page.servers]
    outputs = [page.trace, page.asks, page.servers, *page.views.values()]
    started = panel.run.click(begin, None, [*buttons, page.trace, page.asks], api_name="begin", queue=False, **quiet())
    as_pressed = "(...values) => PromptDebugger.fillRunText(...values)"
    running: Dependency = started.then(
        run, inputs, outputs, js=as_pressed, api_name="run", concurrency_limit=None, **quiet()
    )
    running.then(end, None, buttons, api_name="end", queue=False, **quiet())
    strip = page.views["verdict"]
    refused = running.failure(refuse, None, [*buttons, strip], api_name="end_refused", queue=False, **quiet())
    failed = "(shown) => PromptDebugger.failedStrip(shown)"
    refused.then(None, strip, strip, js=failed, api_name="tell_refused", **quiet())
    # The script presses these where the connection to the page broke, and once it is there again.
    tell = "() => PromptDebugger.lostStrip()"
    panel.tell_lost.click(None, None, strip, js=tell, api_name="tell_lost", **quiet())
    over = panel.over.click(end, None, buttons, api_name="run_over", queue=False, **quiet())
    over.then(None, None, strip, js=tell, api_name="tell_over", **quiet())
    panel.stop.click(stop, None, panel.stop, api_name="stop", queue=False, **quiet())
    return running
