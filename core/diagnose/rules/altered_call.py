"""A tool call came back with a different name or arguments than the model wrote.

What it finds:
    A call of the message whose name differs from the written one, or whose arguments decode
    to another value. Different spacing does not count, nor does an id assigned by the
    server. Calls that were cut have a separate rule.

Why it matters:
    Silent corruption: text loses its indentation, a string becomes a number, a file is cut
    where it happens to contain a delimiter.

Bad:
    Written `{"count": "10"}`, returned `{"count": 10}`

Good:
    Equal values, strings equal in every character.

Source:
    tracker: vllm-project/vllm#48753, antirez/ds4#569, raullenchai/Rapid-MLX#1515.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import JSON, CallOutcome, JSONObject, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import break_of
from prompt_debugger.core.diagnose.fields import CallField
from prompt_debugger.core.diagnose.markers import find_markers
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, comparison, in_message, in_raw, matched_calls, quote

_MAX_VALUES = 2  # that are quoted


def find(trace: Trace) -> Iterator[Report]:
    """Report every matched call that differs."""
    certainty = comparison(trace)
    if certainty is None or trace.parse is None or trace.chat is None:
        return
    for match, written, got in matched_calls(trace):
        changed = [field for field in match.altered if field != "id"]
        if match.outcome is CallOutcome.ALTERED:
            details = [_describe(field, written, got) for field in changed]
            yield Report(
                title=f"The server changed the {' and the '.join(changed)} of the call to `{written.name}`.",
                detail=" ".join(details),
                evidence=(
                    in_raw(trace, written.arguments_span or written.char_span),
                    in_message(f"{got.field}.function.{changed[-1]}", str(_value(got, changed[-1]))),
                ),
                fix="Take the arguments from the raw output; report the difference to the parser's authors.",
                certainty=certainty,
            )


def _value(call: CallField, field: str) -> object:
    return call.name if field == "name" else call.arguments


def _describe(field: str, written: ToolCallAttempt, got: CallField) -> str:
    if field == "name":
        return f"Written name {written.name!r}, returned {got.name!r}."
    returned = str(got.arguments)
    by_value = _by_value(written, got)
    if by_value:
        return by_value
    if broken := _broken_beside(written, returned):
        return broken
    at = first_divergence(written.arguments, returned) or 0
    low = max(0, at - 30)
    return (
        f"Arguments differ from character {at}: written …{quote(written.arguments[low : at + 40])!r}, "
        f"returned …{quote(returned[low : at + 40])!r}."
    )


def _broken_beside(written: ToolCallAttempt, returned: str) -> str:
    """Return what is wrong with returned text that is no JSON, where the model's notation is none either."""
    fault = break_of(returned)
    if fault is None or not isinstance(written.arguments_json, dict) or decode_json(written.arguments) is not None:
        return ""
    values = json.dumps(written.arguments_json, ensure_ascii=False)
    return (
        f"What the model wrote is {quote(values, 160)!r} as JSON. What was returned ends with "
        f"{returned[-40:]!r} and is not JSON: {fault.words}."
    )


def _by_value(written: ToolCallAttempt, got: CallField) -> str:
    """Return which values differ, where the notation is not JSON, so that no character compares with another."""
    values, returned = written.arguments_json, decode_json(as_text(got.arguments) or "")
    if not isinstance(values, dict) or not isinstance(returned, dict) or decode_json(written.arguments) is not None:
        return ""
    differing = [name for name in values if name not in returned or returned[name] != values[name]]
    parts = [_one_value(name, values[name], returned) for name in differing[:_MAX_VALUES]]
    parts += [f"`{name}` was not written" for name in [name for name in returned if name not in values][:1]]
    more = len(differing) - _MAX_VALUES
    return f"Of its arguments, {'; '.join(parts)}{f'; {more} more differ' if more > 0 else ''}." if parts else ""


def _one_value(name: str, value: JSON, returned: JSONObject) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    marker = next(find_markers(text), None)
    within = "" if marker is None else f", which contains `{text[slice(*marker)]}`: the parser may have stopped there"
    if name not in returned:
        return f"`{name}` is missing, written {quote(text, 80)!r}{within}"
    given = json.dumps(returned[name], ensure_ascii=False)
    return f"`{name}` is {quote(given, 80)}, written {quote(text, 80)!r}{within}"


RULE: Rule = TraceRule(
    code="PD402",
    name="altered-call",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#48753", "antirez/ds4#569", "raullenchai/Rapid-MLX#1515"),
    explains=("PD415", "PD416"),
)
