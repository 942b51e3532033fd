"""The arguments of a returned call are not the text of a JSON object.

What it finds:
    In the message, whatever is known of the raw output: arguments that are an
    object or a list instead of a text. Where the raw output is not known: text
    that is no JSON object; with finish_reason `length` that is a warning, as the
    caller was told of the cut. Empty arguments and JSON inside a string have
    rules of their own.

Why it matters:
    Clients decode `arguments` with a JSON parser: an object breaks typed
    clients, a half text raises far from the cause.

Bad:
    `"arguments": {"city": "Paris"}`, or a text that ends at `{"city": "Par`

Good:
    `"arguments": '{"city": "Paris"}'`, a text

Source:
    publisher: `function.arguments` of chat completions is a string of JSON; tracker: ollama/ollama#17914.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.fields import CallField, decode_json, returned_calls, why_no_object
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.sight import Sight, comparison, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Look at the arguments of every call of the answer."""
    for call in returned_calls(trace):
        if isinstance(call.arguments, dict | list):
            yield _no_text(call)
        elif isinstance(call.arguments, str) and comparison(trace) is None and _is_broken(call.arguments):
            yield _no_json(trace, call, call.arguments)


def _no_text(call: CallField) -> Report:
    kind = "an object" if isinstance(call.arguments, dict) else "a list"
    return Report(
        title=f"The arguments of the call to `{call.name}` are {kind}, not a text.",
        detail=f"`{call.field}.function.arguments` must be a string that holds JSON.",
        evidence=(in_message(f"{call.field}.function.arguments", json.dumps(call.arguments, ensure_ascii=False)),),
        fix="Encode them before a typed client reads the answer, or have the server send a string.",
    )


def _no_json(trace: Trace, call: CallField, arguments: str) -> Report:
    is_told = trace.chat is not None and trace.chat.finish_reason == "length"
    reason = (
        "finish_reason is `length`: they were cut."
        if is_told
        else f"finish_reason says nothing of it: {why_no_object(arguments)}."
    )
    return Report(
        title=f"The arguments of the call to `{call.name}` are no JSON object.",
        detail=f"They are {arguments[:120]!r}; {reason} What the model wrote is not known.",
        evidence=(in_message(f"{call.field}.function.arguments", arguments),),
        fix=(*(() if is_told else strict_tools(trace)), Step("Raise the token limit; do not execute this call.")),
        severity=Severity.WARNING if is_told else None,
    )


def _is_broken(arguments: str) -> bool:
    value = decode_json(arguments)
    return bool(arguments.strip()) and not isinstance(value, dict | str)


RULE: Rule = TraceRule(
    code="PD506",
    name="returned-arguments",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=Sight.ANSWER,
    threads=("ollama/ollama#17914",),
)
