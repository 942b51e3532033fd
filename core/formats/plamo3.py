r"""PLaMo 3: requests in special tokens that name themselves.

    <|plamo:begin_think:plamo|>REASONING<|plamo:end_think:plamo|>CONTENT
    <|plamo:begin_tool_requests:plamo|>
    <|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>NAME<|plamo:end_tool_name:plamo|>
    <|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{ARGUMENTS}
    <|plamo:end_tool_arguments:plamo|>
    <|plamo:end_tool_request:plamo|>
    <|plamo:end_tool_requests:plamo|>

Drawn on several lines; written without line breaks.

Source: vLLM 0.32 `parser/plamo3.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.base.structural_tag import (
    GrammarPlan,
    between,
    following,
    list_of_calls,
    schema_of,
    triggered,
)
from prompt_debugger.core.base.types import JSON, JSONObject, Span
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, Grammar
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, HeaderCalls, plain_header
from prompt_debugger.core.parse.reasoning import ReasoningTags


def _token(name: str) -> str:
    return f"<|plamo:{name}:plamo|>"


_NAME_OPEN, _NAME_CLOSE = _token("begin_tool_name"), _token("end_tool_name")
_ARGUMENTS_OPEN = _token("begin_tool_arguments")
_AS_JSON = "<|plamo:constrain|>json<|plamo:msg|>"
_WRAPPERS = tuple(
    _token(name) for name in ("begin_tool_requests", "end_tool_requests", "begin_tool_request", "end_tool_request")
)


def _read_header(text: str, span: Span, names: frozenset[str]) -> Header | None:
    """Read `NAME` in front of its closing token."""
    stop = text.find(_NAME_CLOSE, span.start, span.stop)
    return plain_header(text, Span(span.start, span.stop if stop == -1 else stop), names)


def build_tag(plan: GrammarPlan, suffix: str = "") -> JSONObject:
    """Return its structural tag: requests in special tokens, arguments as JSON."""
    calls: list[JSON] = [
        between(
            f"{_token('begin_tool_request')}{_token('begin_tool_name')}{tool.name}{_token('end_tool_name')}"
            f"{_token('begin_tool_arguments')}<|plamo:constrain|>json<|plamo:msg|>",
            following(schema_of(tool)),
            _token("end_tool_arguments") + _token("end_tool_request"),
        )
        for tool in plan.tools
    ]
    closing = _token("end_tool_requests")
    section = between(
        _token("begin_tool_requests"),
        list_of_calls(calls, only_first=plan.choice == "forced"),
        [closing, closing + "<|plamo:tag|>"],
    )
    return triggered(_token("begin_tool_requests"), [section]) if plan.choice == "auto" else section


FORMAT: ModelFormat = TextFormat(
    name="plamo3",
    marks=(Mark("<|plamo:"),),
    conventions=Conventions(
        ends=frozenset({"<|plamo:tag|>", "<|plamo:eos|>"}),
        reasoning=ReasoningTags((_token("begin_think"),), (_token("end_think"),)),
        markers=frozenset({*_WRAPPERS, _NAME_OPEN, _NAME_CLOSE, _ARGUMENTS_OPEN, _token("end_tool_arguments")}),
    ),
    scan=HeaderCalls(
        opener=_NAME_OPEN,
        separators=(_ARGUMENTS_OPEN + _AS_JSON, _ARGUMENTS_OPEN),
        closers=(_token("end_tool_arguments"),),
        wrappers=_WRAPPERS,
        read_header=_read_header,
        needs_separator=False,
    ).scan,
    facts=FamilyFacts(
        markers_are_plain_words=True,
        tool_parsers=("plamo3",),
        reasoning_parsers=("plamo3",),
        switches=(ENABLE_THINKING,),
        grammars=(Grammar("plamo3", "plamo3", build=build_tag),),
        has_json_arguments=True,
        stripped=r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{0,127}?)json(?=\{)",
    ),
)
