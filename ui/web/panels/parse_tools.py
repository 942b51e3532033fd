"""Below the ledger: other parsers, split fuzz, releases, first illegal token; each with its button, Stop and view."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import JSON, Trace
from prompt_debugger.core.tools.grammar import LEVELS
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.web.page import Changes, Page, quiet
from prompt_debugger.ui.web.panels.forms import Form, build_form, wire_form
from prompt_debugger.ui.web.parse_tools import ALL_ENGINES, ParseTools
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import REASONING_PARSERS, TOOL_PARSERS
from prompt_debugger.ui.web.views import build_view

_AT_START = "() => PromptDebugger.askAgain()"
TOOL_LIMIT = 2  # questions at once; all of them share the helpers
RELEASES = "0.11.0, 0.17.0, 0.26.0, 0.32.0"
_TABS: list[JSON] = [
    ["matrix", "Other parsers", "Which parsers would have read this?"],
    ["splits", "Streaming test", "Does the parser return the same message however the stream is split?"],
    ["releases", "Releases", "In which vLLM release did a call disappear?"],
    ["constrained", "First token the grammar forbids", "Would constrained decoding have allowed this output?"],
]
_LEVELS = [
    ("as the request asks", "request"),
    ("as the request asks, server with --tool-strict-level function", "request+envelope"),
    ("as the request asks, server with --tool-strict-level parameter", "request+strict"),
    *((name, name) for name in LEVELS),
]


class ParseToolsPanel(NamedTuple):
    """Components of the tools."""

    matrix: Form
    splits: Form
    releases: Form
    constrained: Form


def build_parse_tools(settings: PageSettings, matrix: str | None = None) -> ParseToolsPanel:
    """Place the tools: one at a time is shown, all stay mounted.

    Args:
        settings: What the page is served with.
        matrix: First payload of the view of other parsers.
    """
    tabs = pack_payload({"label": "Further questions about this output", "prefix": "pd-parse-", "tabs": _TABS})
    with gr.Column(elem_id="pd-parse-tools"):
        build_view("tabs", "parse_tabs", tabs)
        with _place("matrix"):
            asked = build_form("parser_matrix", "Test every parser", _engines_field(), is_filled_in=True, value=matrix)
        with _place("splits"):
            splits = build_form("splits", "Try every split", _parser_field("splits"), _seed_field())
        with _place("releases"):
            releases = build_form(
                "releases",
                "Test the releases",
                _parser_field("releases"),
                _versions_field(),
                is_on=not settings.public,
            )
        with _place("constrained"):
            constrained = build_form("constrained", "Find the first illegal token", _level_field())
    return ParseToolsPanel(asked, splits, releases, constrained)


def wire_parse_tools(page: Page, panel: ParseToolsPanel, tools: ParseTools) -> None:
    """Wire the tools; the view of the matrix is one of the run's own, which fills it when a call was lost."""
    inputs = [page.trace, page.request.tokenizer]

    async def matrix(
        trace: Trace | None, tokenizer: str, servers: tuple[str, ...], engines: str
    ) -> AsyncGenerator[Changes, None]:
        async with aclosing(tools.matrix(trace, tokenizer, servers, engines)) as changes:
            async for change in changes:
                kept: Changes = {} if change.trace is None else {page.trace: change.trace}
                if change.findings is not None and change.stages is not None:
                    kept |= {page.views["findings"]: change.findings, page.views["stages"]: change.stages}
                yield {panel.matrix.view: gr.skip() if change.matrix is None else change.matrix, **kept}

    outputs = [page.trace, page.views["findings"], page.views["stages"]]
    wire_form(
        panel.matrix, "ask_parsers", matrix, [*inputs, page.servers], outputs, limit=TOOL_LIMIT, at_start=_AT_START
    )
    wire_form(panel.splits, "try_splits", _skipping(tools.splits), inputs, limit=TOOL_LIMIT, at_start=_AT_START)
    wire_form(panel.releases, "ask_releases", _skipping(tools.releases), inputs, limit=TOOL_LIMIT, at_start=_AT_START)
    wire_form(
        panel.constrained,
        "judge_constrained",
        _skipping(tools.constrained),
        inputs,
        limit=TOOL_LIMIT,
        at_start=_AT_START,
    )
    views = [panel.splits.view, panel.releases.view, panel.constrained.view]
    # What was found belongs to one output: another run, another case, and it goes.
    for event, name in ((page.request.run.click, "run"), (page.request.case.input, "case")):
        event(lambda: ("", "", ""), None, views, api_name=f"clear_parse_tools_{name}", queue=False, **quiet())


def _skipping(ask: Callable[..., AsyncGenerator[str | None, None]]) -> Callable[..., AsyncGenerator[Any, None]]:
    async def run(*values: Any) -> AsyncGenerator[Any, None]:  # noqa: ANN401  # the fields' values, in their order
        async with aclosing(ask(*values)) as payloads:
            async for payload in payloads:
                yield gr.skip() if payload is None else payload

    return run


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


def _parser_field(name: str) -> gr.Dropdown:
    pairs = [parser for parser in TOOL_PARSERS if parser != "none"]
    pairs += [f"kimi_k2+{parser}" for parser in REASONING_PARSERS if parser != "none"]
    return gr.Dropdown(
        [("the server's own", ""), *((pair, pair) for pair in pairs)],
        value="",
        label="Tool parser, or tool+reasoning parser",
        elem_id=f"pd-{name}-parser",
        allow_custom_value=True,
        render=False,
        min_width=180,
    )


def _seed_field() -> gr.Number:
    return gr.Number(0, label="Seed", precision=0, minimum=0, elem_id="pd-splits-seed", render=False, min_width=80)


def _versions_field() -> gr.Textbox:
    return gr.Textbox(RELEASES, label="vLLM releases", elem_id="pd-releases-versions", render=False, min_width=220)


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
