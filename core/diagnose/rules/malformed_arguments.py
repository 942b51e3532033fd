"""The model wrote tool call arguments that are not a JSON object.

What it finds:
    A finished tool call outside reasoning whose arguments, as written, do not decode to a
    JSON object. Empty arguments, calls that were cut, and arguments that are JSON in a
    string have separate rules. A call that was not returned and whose JSON is broken around
    whole arguments, such as by a brace that is missing, is reported too.

Why it matters:
    One parser passes the broken text on, another drops this call, a third turns all calls
    of the message into content. The model wrote it, so no parser setting fixes it.

Bad:
    `{"city": "Paris"` … `<|tool_call_end|>`

Good:
    `{"city": "Paris"}`

Source:
    tracker: vllm-project/vllm#41739, ollama/ollama#17914.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, break_of
from prompt_debugger.core.diagnose.calls.shortened_arguments import is_shortened
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import body_calls, dropped_calls, in_raw
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.known_errors import json_break

_STRICTER = (Step("Send `temperature: 0`.", {"temperature": 0}),)
_SIMPLER = Step("Shorten the context, or give the tool a simpler schema.")
_FIRST: Mapping[Break, str] = {
    Break.PYTHON: (
        "Show the model JSON: it learns Python notation from a history or system prompt that prints arguments "
        "as Python."
    ),
    Break.JOINED: "Make a separate call of each object: the model put several calls into one.",
    Break.MARKUP: "Read the call from the raw output: what follows the marker is not part of the arguments.",
    Break.WRAPPED: "Extract the object from the text around it.",
    Break.CONTROL: "Decode with `json.loads(arguments, strict=False)`.",
    Break.TRAILING: "Leave out what follows the object.",
    Break.ESCAPED: "Decode twice.",
}


def find(trace: Trace) -> Iterator[Report]:
    """Report finished calls with undecodable arguments."""
    if trace.parse is None or trace.parse.parsed.format not in TABLES.json_formats:
        return
    if trace.chat is not None:
        yield from _find_broken_around(trace, trace.parse.raw)
    for _, call in body_calls(trace):
        fault = None if call.arguments_json is not None else break_of(call.arguments)
        if fault is None or is_shortened(call.arguments):
            continue
        first = _FIRST.get(fault.kind)
        yield Report(
            title=f"The model wrote arguments for `{call.name}` that are not a JSON object.",
            detail=f"{call.arguments[:120]!r}: {fault.words}.",
            evidence=(in_raw(trace, call.arguments_span or call.char_span),),
            fix=(*((Step(first),) if first else ()), *strict_tools(trace), *_STRICTER, _SIMPLER),
        )


def _find_broken_around(trace: Trace, raw: str) -> Iterator[Report]:
    """Report calls that were not returned, and whose JSON is broken around arguments that are whole."""
    for _, call in dropped_calls(trace):
        if call.status is not CallStatus.MALFORMED or call.arguments_json is None or is_shortened(call.arguments):
            continue
        written = raw[slice(*call.char_span)]
        start, stop = written.find("{"), written.rfind("}") + 1
        fault = json_break(written[start:stop]) if 0 <= start < stop else None
        if fault is None:
            continue
        yield Report(
            title=f"The model wrote a call to `{call.name}` in JSON that is malformed.",
            detail=f"{written[start:stop][-120:]!r}: {fault.why}. The arguments by themselves are whole, but a parser "
            "that decodes the call as one object finds none.",
            evidence=(in_raw(trace, call.char_span),),
            fix=(*strict_tools(trace), *_STRICTER, _SIMPLER),
        )


RULE: Rule = TraceRule(
    code="PD308",
    name="malformed-arguments",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    threads=("vllm-project/vllm#41739", "ollama/ollama#17914"),
)
