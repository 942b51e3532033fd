r"""The JSON of a call's arguments is inside a code fence or among other words.

What it finds:
    Arguments of the answer that contain one JSON object with something around it:
    a code fence, or words before or after it.

Why it matters:
    A client decodes the field unchanged and fails at the first character that is not JSON,
    although the object is there and complete.

Bad:
    `"arguments": "Here you are: {\"city\": \"Paris\"}"`

Good:
    `"arguments": "{\"city\": \"Paris\"}"`

Source:
    tracker: vllm-project/vllm#41739.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.broken_arguments import Break, broken_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Report returned arguments with something around the object."""
    for call, text, fault in broken_calls(trace, Break.WRAPPED):
        field = f"{call.field}.function.arguments"
        yield Report(
            title=f"The arguments of the call to `{call.name}` contain more than their JSON object.",
            detail=f"`{field}` is {text[:160]!r}: {fault.words}.",
            evidence=(in_message(field, text[slice(*fault.span)], fault.span),),
            fix=(
                Step("Extract the object from the text around it; the values are complete."),
                *strict_tools(trace),
            ),
        )


RULE: Rule = TraceRule(
    code="PD453",
    name="wrapped-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#41739",),
    explains=("PD402", "PD502"),
)
