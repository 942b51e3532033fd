"""The tools below the ledger: other parsers, streaming test, releases, first token the grammar forbids."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any, NamedTuple, TypeVar

import gradio as gr

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.parse.engines import WHEELS, releases_here
from prompt_debugger.core.tools.grammar import LEVELS
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.forms import Form, begin_form, build_form, end_form, wire_form
from prompt_debugger.ui.web.parse_tools import ALL_ENGINES, MatrixChange, ParseTools
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.stops import Stops, until_asked
from prompt_debugger.ui.web.targets import REASONING_PARSERS, TOOL_PARSERS
from prompt_debugger.ui.web.views import build_view

_AT_START = "() => PromptDebugger.askAgain()"
TOOL_LIMIT = 2  # questions at once; all of them share the helpers
RELEASES = "0.11.0, 0.17.0, 0.26.0, 0.32.0"
_TABS: list[JSON] = [
    ["matrix", "Other parsers", "Which parsers would have read this?"],
    ["splits", "Streaming test", "Does the parser return the same message however the stream is split?"],
    ["releases", "Releases", "Since which release of each engine is this output read, and where did a call disappear?"],
    ["constrained", "First token the grammar forbids", "Would constrained decoding have allowed this output?"],
]
_LEVELS = [
    ("as the request asks", "request"),
    ("as the request asks, with --tool-strict-level function", "request+envelope"),
    ("as the request asks, with --tool-strict-level parameter", "request+strict"),
    *((name, name) for name in LEVELS),
]

T = TypeVar("T")


class ParseToolsPanel(NamedTuple):
    """Components of the tools; each form has its button, its Stop and its view."""

    matrix: Form
    lost_call: gr.Button
    splits: Form
    releases: Form
    constrained: Form


def build_parse_tools(settings: PageSettings, matrix: str | None = None) -> ParseToolsPanel:
    """Place the tools: one at a time is shown, all stay mounted."""
    tabs = pack_payload({"label": "Further questions about this output", "prefix": "pd-parse-", "tabs": _TABS})
    with gr.Column(elem_id="pd-parse-tools"):
        build_view("tabs", "parse_tabs", tabs)
        with _place("matrix"):
            asked = build_form("parser_matrix", "Test every parser", _engines_field(), is_filled_in=True, value=matrix)
            lost_call = gr.Button("Ask about a lost call", elem_id="pd-lost-call", elem_classes=["pd-unseen"])
        with _place("splits"):
            splits = build_form("splits", "Try every split", _parser_field(), _seed_field())
        with _place("releases"):
            releases = build_form(
                "releases",
                "Test the releases",
                _parsers_field(),
                _versions_field(),
                is_on=not settings.public,
            )
        with _place("constrained"):
            constrained = build_form("constrained", "Find the first illegal token", _level_field())
    return ParseToolsPanel(asked, lost_call, splits, releases, constrained)


def wire_parse_tools(page: Page, panel: ParseToolsPanel, tools: ParseTools) -> None:
    """Wire the tools; a run that lost a call fills the view of the matrix itself."""
    inputs = [page.trace, page.request.tokenizer]

    ends_with_run = partial(_ends_with_run, page.handlers.stops)

    def changes_of(change: MatrixChange) -> Changes:
        named = {"verdict": change.verdict, "findings": change.findings, "stages": change.stages}
        kept: Changes = {} if change.trace is None else {page.trace: change.trace}
        kept |= {page.views[name]: payload for name, payload in named.items() if payload is not None}
        return {panel.matrix.view: gr.skip() if change.matrix is None else change.matrix, **kept}

    outputs = [page.trace, page.views["verdict"], page.views["findings"], page.views["stages"]]
    inputs_of_matrix = [*inputs, page.servers]
    form: dict[str, Any] = {"limit": TOOL_LIMIT, "at_start": _AT_START}
    wire_form(panel.matrix, "ask_parsers", ends_with_run(tools.matrix, changes_of), inputs_of_matrix, outputs, **form)
    _wire_lost_call(page, panel, ends_with_run(tools.lost_call, changes_of), [panel.matrix.view, *outputs])
    wire_form(panel.splits, "try_splits", ends_with_run(tools.splits, _skipping), inputs, **form)
    wire_form(panel.releases, "ask_releases", ends_with_run(tools.releases, _skipping), inputs, **form)
    wire_form(panel.constrained, "judge_constrained", ends_with_run(tools.constrained, _skipping), inputs, **form)
    views = [panel.splits.view, panel.releases.view, panel.constrained.view]
    # Results belong to one output: another run or another case clears them.
    for event, name in ((page.request.run.click, "run"), (page.request.case.input, "case")):
        event(lambda: ("", "", ""), None, views, api_name=f"clear_parse_tools_{name}", queue=False, **quiet())


def _wire_lost_call(
    page: Page, panel: ParseToolsPanel, ask: Callable[..., AsyncGenerator[Any, None]], outputs: list[Any]
) -> None:
    """Let the view of the matrix ask about a call that a run just lost; the panel's Stop ends that, too."""
    form, buttons = panel.matrix, [panel.matrix.start, panel.matrix.stop]
    inputs = [page.trace, page.request.tokenizer, page.asks]
    begun = panel.lost_call.click(begin_form, None, buttons, api_name="lost_call_begin", queue=False, **quiet())
    running = begun.then(ask, inputs, outputs, api_name="ask_lost_call", concurrency_limit=None, **quiet())
    running.then(end_form, None, buttons, api_name="lost_call_end", queue=False, **quiet())
    # What the parsers made of it belongs to the run that a reload brings back.
    running.success(None, None, None, js="() => PromptDebugger.runExtended()", **quiet())
    form.stop.click(None, cancels=[running], **quiet())


def _ends_with_run(
    stops: Stops, ask: Callable[..., AsyncGenerator[T, None]], changes_of: Callable[[T], Any]
) -> Callable[..., AsyncGenerator[Any, None]]:
    """Return a handler that asks about the run on display, and ends silently as soon as another run begins."""

    async def run(visitor: gr.Request, *values: Any) -> AsyncGenerator[Any, None]:  # noqa: ANN401  # the fields' values, in their order
        with stops.follow_question(visitor.session_hash or "") as sign:
            async with aclosing(until_asked(ask(*values), sign)) as steps:
                async for step in steps:
                    yield changes_of(step)

    return run


def _skipping(payload: str | None) -> Any:  # noqa: ANN401  # gradio's word for no change
    return gr.skip() if payload is None else payload


def _place(name: str) -> gr.Column:
    return gr.Column(elem_id=f"pd-parse-{name}", elem_classes=["pd-bench"])


def _engines_field() -> gr.Dropdown:
    return gr.Dropdown(
        ["vLLM", ALL_ENGINES],
        value="vLLM",
        label="Parsers of",
        info="other engines too, after `parse --fetch`",
        elem_id="pd-matrix-engines",
        render=False,
    )


def _parser_field() -> gr.Dropdown:
    pairs = [parser for parser in TOOL_PARSERS if parser != "none"]
    pairs += [f"kimi_k2+{parser}" for parser in REASONING_PARSERS if parser != "none"]
    return gr.Dropdown(
        [("the server's own", ""), *((pair, pair) for pair in pairs)],
        value="",
        label="Tool parser, or tool+reasoning parser",
        elem_id="pd-splits-parser",
        allow_custom_value=True,
        render=False,
        min_width=180,
    )


def _parsers_field() -> gr.Textbox:
    return gr.Textbox(
        "",
        label="Parsers, if not those of the server or the model's family",
        placeholder="kimi_k2, sglang:kimi_k2",
        elem_id="pd-releases-parser",
        render=False,
        min_width=220,
    )


def _seed_field() -> gr.Number:
    return gr.Number(0, label="Seed", precision=0, minimum=0, elem_id="pd-splits-seed", render=False, min_width=80)


def _versions_field() -> gr.Textbox:
    return gr.Textbox(
        ", ".join([RELEASES, *_fetched()]),
        label="Releases of vLLM, or ENGINE==VERSION",
        elem_id="pd-releases-versions",
        render=False,
        min_width=320,
    )


def _fetched() -> list[str]:
    """Return the oldest and the newest release of each other engine that `parse --fetch` brought."""
    found = {kind: releases_here(kind) for kind in WHEELS}
    return [f"{kind}=={one}" for kind, every in found.items() for one in dict.fromkeys((*every[:1], *every[-1:]))]


def _level_field() -> gr.Dropdown:
    return gr.Dropdown(
        _LEVELS,
        value="request",
        label="Enforcement level (or forced:TOOL)",
        elem_id="pd-constrained-level",
        allow_custom_value=True,
        render=False,
        min_width=280,
    )
