"""The request has no tools, and someone expects tool calls.

What it finds:
    A whole body of a request, pasted without an answer, that has neither `tools` nor
    `functions`, no call and no result in its history, among words that speak of tool calls. Likewise
    a request without tools, and without a word of tools or JSON, whose answer is nothing but a call
    in JSON.

Why it matters:
    Without `tools` a server has no calls to parse, whatever parser it runs. Clients that
    describe their tools in the system prompt read the calls from the text themselves.

Bad:
    *native tool calling is on*, and a body of `model`, `messages` and `stream`

Good:
    the same body with `tools`

Source:
    tracker: cline/cline#7424.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.written_calls import CALL_EXPECTED, is_request_known
from prompt_debugger.core.diagnose.fields import body_of, content_of, returned_calls, texts_inside
from prompt_debugger.core.diagnose.one_of_several import is_note_of_several
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import asked_server, in_message, in_request

_FORMS = ("tools", "functions", "response_format", "guided_json", "structured_outputs", "format", "grammar")
_ASKED = re.compile(r"tool|function|json|\bcall\b|\bapi\b|\baction", re.IGNORECASE)
_OF_CALLS = ("tools", "functions", "tool_choice", "function_call")


def find(trace: Trace) -> Iterator[Report]:
    """Look at a request that stands alone, or at one whose answer is a call that no one asked for."""
    body = body_of(trace)
    if trace.chat is not None and is_request_known(trace):
        yield from _find_unasked(trace)
        return
    is_alone = trace.chat is None and trace.raw is None and trace.refusal is None and not asked_server(trace)
    if not is_alone or CALL_EXPECTED not in trace.notes or not {"model", "messages"} <= body.keys():
        return
    if any(is_note_of_several(note, "request") for note in trace.notes):  # the words may be about another
        return
    messages = [as_object(message) for message in as_list(body.get("messages"))]
    has_calls = any(message.get("role") == "tool" or message.get("tool_calls") for message in messages)
    if has_calls or any(body.get(name) for name in (*_FORMS, *_OF_CALLS)):  # with a schema, the words are of that
        return
    yield Report(
        title="The request has no `tools`, so the server has no tool calls to return.",
        detail="The text around it speaks of tool calls, and the body has neither `tools` nor `functions`.",
        evidence=(in_request("messages"),),
        fix="Let the client send its tools in `tools`: look for its setting for native tool calls, which "
        "often depends on the chosen provider and model. A client that describes tools in the system "
        "prompt instead reads the calls from the text, and the server's parser is not involved.",
        certainty=Certainty.INFERRED,
    )


def _find_unasked(trace: Trace) -> Iterator[Report]:
    """Report an answer that is nothing but a call in JSON, where no message says anything of tools or JSON."""
    body = body_of(trace)
    content = None if trace.chat is None else content_of(trace.chat.message)
    call = decode_json(content.strip()) if content and not any(body.get(name) for name in _FORMS) else None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str) or returned_calls(trace):
        return
    key = next((key for key in ("parameters", "arguments") if isinstance(call.get(key), dict)), None)
    messages = [as_object(message) for message in as_list(body.get("messages"))]
    said = " ".join(text for message in messages for text in texts_inside(message))
    if key is None or call.keys() != {"name", key} or not messages or _ASKED.search(said) is not None:
        return
    yield Report(
        title=f"The request has no `tools`, and the answer is nothing but a call to `{call['name']}` in JSON.",
        detail="No message speaks of tools, functions or JSON. Either the prompt that the server made of the request "
        "has instructions for tools all the same, as a template writes them that takes an empty list of tools for "
        "some, or the model made the tool up.",
        evidence=(in_request("messages"), in_message("content", content)),
        fix="Look at the prompt (the server's log, or `render` with the model's template): it must say nothing of "
        "tools. If it does, update the server, or give it the model's own template; a parser for calls does not help.",
        certainty=Certainty.INFERRED,
        stage=Stage.RENDER,
    )


RULE: Rule = TraceRule(
    code="PD139",
    name="no-tools-in-request",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("cline/cline#7424",),
)
