"""The request has no tools, and someone expects tool calls.

What it finds:
    A whole body of a request, pasted without an answer, that has neither `tools` nor
    `functions`, no call and no result in its history, among words that speak of tool calls.

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

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.written_calls import CALL_EXPECTED
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.one_of_several import is_note_of_several
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import asked_server, in_request

_OF_CALLS = ("tools", "functions", "tool_choice", "function_call")


def find(trace: Trace) -> Iterator[Report]:
    """Look at a request that stands alone."""
    body = body_of(trace)
    is_alone = trace.chat is None and trace.raw is None and trace.refusal is None and not asked_server(trace)
    if not is_alone or CALL_EXPECTED not in trace.notes or not {"model", "messages"} <= body.keys():
        return
    if any(is_note_of_several(note, "request") for note in trace.notes):  # the words may be about another
        return
    messages = [as_object(message) for message in as_list(body.get("messages"))]
    has_calls = any(message.get("role") == "tool" or message.get("tool_calls") for message in messages)
    if has_calls or any(body.get(name) for name in _OF_CALLS):
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


RULE: Rule = TraceRule(
    code="PD139",
    name="no-tools-in-request",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("cline/cline#7424",),
)
