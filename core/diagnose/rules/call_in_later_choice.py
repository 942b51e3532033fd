"""The calls are in a later choice of the answer, which clients do not read.

What it finds:
    An answer of several choices, although the request did not ask for several (`n`), whose
    first choice has no call while a later one has. A gateway that translates another API
    makes such answers: it writes one choice for the text and one for the calls.

Why it matters:
    Clients read `choices[0]`. They show the text, and run nothing.

Bad:
    `"choices": [{"message": {"content": "I look."}}, {"message": {"tool_calls": [...]}}]`

Good:
    `"choices": [{"message": {"content": "I look.", "tool_calls": [...]}}]`

Source:
    tracker: aaif-goose/goose#2177.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object, as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Compare the first choice with those after it."""
    if trace.chat is None or body_of(trace).get("n", 1) != 1 or trace.chat.message.get("tool_calls"):
        return
    choices = as_list(as_object(decode_json(trace.chat.body)).get("choices"))
    called = [as_list(as_object(as_object(choice).get("message")).get("tool_calls")) for choice in choices]
    later = next((index for index, calls in enumerate(called) if calls), 0)
    if not later:
        return
    calls = [as_object(as_object(call).get("function")) for call in called[later]]
    names = list(dict.fromkeys(as_text(function.get("name")) or "?" for function in calls))
    yield Report(
        title=f"The call{'s' if len(calls) > 1 else ''} to {listed(names)} {'are' if len(calls) > 1 else 'is'} in "
        f"`choices[{later}]`, and clients read `choices[0]`.",
        detail=f"The answer has {len(choices)} choices for one question: the text in the first, the calls in another. "
        "In chat completions one message holds both.",
        evidence=(FindingEvidence("server", quote=f"choices[{later}].message.tool_calls"),),
        fix="Report it to the gateway: text and calls of one answer belong in one message. Until then use the "
        "provider's own API, or have the client join the choices.",
    )


RULE: Rule = TraceRule(
    code="PD482",
    name="call-in-later-choice",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("aaif-goose/goose#2177",),
    explains=("PD412",),
)
