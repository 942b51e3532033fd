"""The arguments of a tool call in the history are not a JSON object.

What it finds:
    A tool call of an earlier assistant message whose arguments are absent, an empty
    text, JSON in a string, or a text that is not JSON: cut, printed as Python,
    several objects, and so on.

Why it matters:
    Servers decode the arguments before the template sees them. vLLM answers 400
    or puts `{}` in their place, gateways fail while they convert the call; and
    the model is shown a broken call to imitate.

Bad:
    `{"name": "goto", "arguments": ""}`

Good:
    `{"name": "goto", "arguments": "{}"}`

Source:
    tracker: BerriAI/litellm#11550, vllm-project/vllm#54964.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import break_of
from prompt_debugger.core.diagnose.calls.shortened_arguments import is_shortened
from prompt_debugger.core.diagnose.fields import CallField, history_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_MAX_SHOWN = 6


def find(trace: Trace) -> Iterator[Report]:
    """Report the broken calls in one report."""
    broken = [(call, words) for call in history_calls(trace.request) if (words := _problem_of(call)) is not None]
    if not broken:
        return
    call, words = broken[0]
    more = f" {len(broken) - 1} more calls have the same problem." if len(broken) > 1 else ""
    field = f"{call.field}.function.arguments"
    yield Report(
        title=f"The arguments of the earlier call to `{call.name}` are not a JSON object.",
        detail=f"{_shown(field, call.arguments)}{words}. Servers decode arguments of the "
        f"history before the template prints them.{more}",
        evidence=tuple(_place(one) for one, _ in broken[:_MAX_SHOWN]),
        fix="Send `{}` as text for a call without arguments."
        if not str(call.arguments or "").strip()
        else "Send the arguments as the text of one JSON object, or leave the call and its result out of the history.",
    )


def _problem_of(call: CallField) -> str | None:
    if call.arguments is None:
        return "it is not there, though the protocol requires it" if call.has_function and call.name else None
    return _problem(call.arguments)


def _place(call: CallField) -> FindingEvidence:
    """Return where to look: at the call's function, if it lacks the arguments."""
    if call.arguments is None:
        return in_request(f"{call.field}.function", call.name or "")
    return in_request(f"{call.field}.function.arguments", str(call.arguments))


def _shown(field: str, arguments: JSON) -> str:
    return f"`{field}`: " if arguments is None else f"`{field}` is {str(arguments)[:120]!r}: "


def _problem(arguments: JSON) -> str | None:
    if not isinstance(arguments, str) or is_shortened(arguments):
        return None
    if not arguments.strip():
        return "it is empty"
    fault = break_of(arguments)
    if fault is not None:
        return fault.words
    return "it is JSON inside a string" if isinstance(decode_json(arguments), str) else None


RULE: Rule = TraceRule(
    code="PD123",
    name="broken-history-arguments",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("BerriAI/litellm#11550", "vllm-project/vllm#54964"),
    asks_request_alone=True,
)
