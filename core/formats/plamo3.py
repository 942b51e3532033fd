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

from core.formats._family import Mark, TextFormat
from core.parse.header_calls import Header, HeaderCalls, plain_header
from core.parse.reading import Conventions
from core.parse.reasoning import ReasoningTags
from core.protocols import ModelFormat
from core.types import Span


def _token(name: str) -> str:
    return f"<|plamo:{name}:plamo|>"


_NAME_OPEN, _NAME_CLOSE = _token("begin_tool_name"), _token("end_tool_name")
_ARGUMENTS_OPEN = _token("begin_tool_arguments")
_AS_JSON = "<|plamo:constrain|>json<|plamo:msg|>"
_WRAPPERS = tuple(
    _token(name)
    for name in ("begin_tool_requests", "end_tool_requests", "begin_tool_request", "end_tool_request", "tag")
)


def _read_header(text: str, span: Span, names: frozenset[str]) -> Header | None:
    """Read `NAME` in front of its closing token."""
    stop = text.find(_NAME_CLOSE, span.start, span.stop)
    return plain_header(text, Span(span.start, span.stop if stop == -1 else stop), names)


FORMAT: ModelFormat = TextFormat(
    name="plamo3",
    marks=(Mark("<|plamo:"),),
    conventions=Conventions(
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
)
