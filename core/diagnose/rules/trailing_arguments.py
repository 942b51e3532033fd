r"""Something follows the JSON object of a call's arguments, such as an extra bracket.

What it finds:
    Arguments of the answer that begin with one whole JSON object, followed only by closing
    brackets, quotation marks, commas or semicolons.

Why it matters:
    `json.loads` stops with *Extra data*, and some servers answer 500 instead of passing the
    text on. The object is complete: nothing was cut.

Bad:
    `"arguments": "{\"city\": \"Paris\"}]"`

Good:
    `"arguments": "{\"city\": \"Paris\"}"`

Source:
    tracker: ollama/ollama#17638.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, broken_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Report returned arguments with a little too much at their end."""
    for call, text, fault in broken_calls(trace, Break.TRAILING):
        field = f"{call.field}.function.arguments"
        rest = text[slice(*fault.span)]
        yield Report(
            title=f"The arguments of the call to `{call.name}` have extra `{rest.strip()}` at the end.",
            detail=f"In `{field}`, {fault.words}.",
            evidence=(in_message(field, rest, fault.span),),
            fix=(
                Step(f"Read the first {fault.span.start} characters: they are a complete object."),
                *strict_tools(trace),
            ),
        )


RULE: Rule = TraceRule(
    code="PD455",
    name="trailing-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("ollama/ollama#17638",),
    explains=("PD402", "PD445", "PD502"),
)
