r"""A control character is unescaped in the arguments of a call.

What it finds:
    Arguments of the answer that are JSON except for a line feed, a tab or another
    control character inside a string.

Why it matters:
    JSON requires `\n` there. Strict decoders refuse the arguments, lenient ones accept
    them: the same answer works in one client and fails in another.

Bad:
    a string with a real line feed in it

Good:
    the same string with `\n` written as two characters

Source:
    publisher: RFC 8259, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, broken_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Report returned arguments that a lenient decoder takes."""
    for call, text, fault in broken_calls(trace, Break.CONTROL):
        field = f"{call.field}.function.arguments"
        yield Report(
            title=f"A control character is unescaped in the arguments of the call to `{call.name}`.",
            detail=f"In `{field}`, {fault.words}: {text[max(0, fault.span.start - 30) : fault.span.stop + 20]!r}.",
            evidence=(in_message(field, text, fault.span),),
            fix=(
                "Decode with `json.loads(arguments, strict=False)`, which accepts them. The server should "
                "escape the model's text again before it returns it."
            ),
        )


RULE: Rule = TraceRule(
    code="PD454",
    name="unescaped-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    stands_in_part=True,
    needs=TracePart.ANSWER,
    explains=("PD402", "PD445", "PD502"),
)
