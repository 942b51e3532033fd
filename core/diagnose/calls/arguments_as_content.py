"""What is left of a call whose name was lost: its arguments as content, or gpt-oss's word that it ended a call.

content: {"city": "Oslo"}      tools: get_weather(city), get_news(topic)
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.json_values import as_list, as_object, decode_json
from prompt_debugger.core.base.types import JSON, Certainty, Severity, Span, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.calls.unparsed_calls import family_of_model
from prompt_debugger.core.diagnose.fields import (
    ToolField,
    body_of,
    content_of,
    message_texts,
    reasoning_of,
    request_tools,
)
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message
from prompt_debugger.core.diagnose.words import listed

_CALL_TOKEN = 200012  # `<|call|>` of harmony, at which gpt-oss ends a call
_WANTS_JSON = re.compile(r"\bjson\b|\bschema\b", re.IGNORECASE)
_OF_HARMONY = Step(
    "Run a current release of the server with its parser for gpt-oss (vLLM: `--enable-auto-tool-choice "
    "--tool-call-parser openai`): gpt-oss names the tool in the header of its message (`to=functions.NAME`), and what "
    "came as text is what follows that header."
)
_OF_NAME = Step(
    "Look at the raw output, with its control tokens: does it contain the tool's name? If so, start the server with "
    "the parser of this model's family, in a current release; if not, the model left it out: check that the template "
    "teaches its notation (`render`)."
)


def report_arguments(trace: Trace, content: str) -> Report | None:
    """Return what to say of a content that is nothing but arguments of an offered tool; `None` where it may be more."""
    body = body_of(trace)
    if body.get("response_format") or body.get("tool_choice") == "none" or _wants_json(trace):
        return None
    value = decode_json(content) if content.lstrip().startswith("{") else None
    if not isinstance(value, dict) or not value:
        return None
    fitting = [tool for tool in request_tools(trace.request) if _fits(tool, value)]
    if not fitting:
        return None
    names = listed([tool.name for tool in fitting], 3)
    is_harmony = any(family_of_model(model) == "harmony" for model in model_names(trace))
    one = len(fitting) == 1
    return Report(
        title=f"Content is nothing but arguments for {names}{'' if one else ', of which one is meant'}: the name of "
        "the tool is missing.",
        detail=f"Its keys ({listed(list(value), 6)}) are those that {'this tool' if one else 'these tools'} of the "
        "request takes, and the answer has no call: the model called the tool, and its name was lost in transit, or "
        "never written.",
        evidence=(in_message("content", content, Span(0, len(content))),),
        fix=(_OF_HARMONY if is_harmony else _OF_NAME,),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def report_ended(trace: Trace) -> Report | None:
    """Return what to say of an answer without a call whose model ended one; `None` where nothing says so."""
    if trace.chat is None or trace.chat.stop_reason != _CALL_TOKEN:
        return None
    content, reasoning = content_of(trace.chat.message) or "", reasoning_of(trace.chat.message)
    is_content = bool(content.strip()) or reasoning is None
    field, text = ("content", content) if is_content or reasoning is None else reasoning
    return Report(
        title="The model ended its turn with `<|call|>`, and the answer has no call.",
        detail=f"stop_reason is {_CALL_TOKEN}, the token with which gpt-oss ends a tool call. The server read the call "
        f"as something else; what is left of it is in {field}.",
        evidence=(in_message("finish_reason", trace.chat.finish_reason), in_message(field, text)),
        fix=(_OF_HARMONY,),
    )


def _wants_json(trace: Trace) -> bool:
    """Return whether a message asks for JSON, so that a JSON object is an answer."""
    return any(_WANTS_JSON.search(text.text) is not None for text in message_texts(trace.request))


def _fits(tool: ToolField, value: dict[str, JSON]) -> bool:
    schema = as_object(tool.parameters)
    properties = as_object(schema.get("properties"))
    required = {name for name in as_list(schema.get("required")) if isinstance(name, str)}
    return bool(properties) and required <= value.keys() <= properties.keys()
