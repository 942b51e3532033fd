"""A bare JSON list of calls, where what is known of the model says that a marker came before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object, as_text, decode_json
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, ParsedMessage, Span, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.fields import body_of, content_of, request_tools
from prompt_debugger.core.formats import FORMATS, pick_format

_LIST = re.compile(r"\[\s*+\{")


class BareList(NamedTuple):
    """Calls in a bare list, and the family whose marker is missing before it.

    Attributes:
        family: The family.
        marker: Its marker.
        why: What shows the family, a clause.
        calls: The calls.
        span: The list, in the raw output or in content.
    """

    family: str
    marker: str
    why: str
    calls: tuple[ToolCallAttempt, ...]
    span: Span


def bare_list(trace: Trace) -> BareList | None:
    """Return the list that a raw output, or else a content, is made of; `None` where it is more, or no family shows."""
    text = trace.parse.raw if trace.parse is not None else content_of(trace.chat.message) if trace.chat else None
    stripped = (text or "").strip()
    if text is None or _LIST.match(stripped) is None or not stripped.endswith("]"):
        return None
    shown = next(_families(trace), None)
    if shown is None:
        return None
    parsed = trace.parse.parsed if trace.parse is not None else _read(trace, text)
    offered = {tool.name for tool in request_tools(trace.request)}
    are_calls = bool(parsed.calls) and all(
        call.status is CallStatus.COMPLETE and call.arguments and (not offered or call.name in offered)
        for call in parsed.calls
    )
    if not are_calls or (parsed.content or "").strip():
        return None
    family, why = shown
    start = text.index("[")
    return BareList(family, FORMATS[family].facts.list_marker, why, parsed.calls, Span(start, start + len(stripped)))


def _read(trace: Trace, text: str) -> ParsedMessage:
    context = ReadContext(tools=trace.request.tools, finish_reason="stop")
    return pick_format(text, context).read(text, context)


def _families(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield the families with a marker before their lists that the parser's or the model's name points to."""
    own = trace.tool_parser
    tried = () if trace.parse is None else tuple(trace.parse.parsers)
    asked = {own, *(name.partition(":")[2].partition("+")[0] for name in tried)} - {None}
    models = model_names(trace)
    for name, one in FORMATS.items():
        if not one.facts.list_marker:
            continue
        parser = next((parser for parser in one.facts.tool_parsers if parser in asked), None)
        model = next((model for model in models for word in one.facts.model_names if word in model.lower()), None)
        if model is not None:
            yield name, f"the model is `{model}`"
        elif parser is not None and len(asked) == 1:
            yield name, f"the parser is `{parser}`"


def model_names(trace: Trace) -> tuple[str, ...]:
    """Return what request, server and answer call the model."""
    names = [as_text(body_of(trace).get("model"))]
    if trace.server is not None:
        named = trace.server.served_models if len(trace.server.served_models) == 1 else ()
        names += [trace.server.model, trace.server.model_root, *named]
    if trace.chat is not None and trace.chat.body:
        names.append(as_text(as_object(decode_json(trace.chat.body)).get("model")))
    if trace.chat is not None:
        names.append(as_text(trace.chat.message.get("model")))  # as messages of Anthropic's API name it themselves
    return tuple(name for name in names if name)
