"""The parser returned the beginning of a call's arguments and dropped the rest.

What it finds:
    A finished call whose returned arguments are a proper beginning of what the
    model wrote. A cut at a multiple of 1,024 characters points at a buffer.

Why it matters:
    Long file contents end in the middle; the JSON does not parse, or a lenient
    client repairs it and writes half a file.

Bad:
    10,000 characters of arguments written, 8,192 returned

Good:
    As many returned as written.

Source:
    tracker: vllm-project/vllm#34968, vllm-project/vllm#37384, vllm-project/vllm#41182.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.calls.changed_values import altered_arguments
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_raw

_BUFFER = 1024
_MIN_CHARS = 2  # an opening bracket alone says nothing


def find(trace: Trace) -> Iterator[Report]:
    """Report every call whose arguments stop early."""
    for call in altered_arguments(trace):
        returned, written = as_text(call.returned.arguments) or "", call.written.arguments
        if not (_MIN_CHARS <= len(returned) < len(written) and written.startswith(returned)):
            continue
        size = len(returned)
        limit = " This is a multiple of 1,024, so a parser buffer was probably full." if size % _BUFFER == 0 else ""
        start = (call.written.arguments_span or call.written.char_span).start + size
        yield Report(
            title=f"The arguments of the call to `{call.written.name}` were cut after {size:,} of "
            f"{len(written):,} characters.",
            detail=(
                f"The message ends with {returned[-40:]!r}; the model continued with "
                f"{written[size : size + 40]!r}.{limit}"
            ),
            evidence=(
                in_raw(trace, Span(start, start + len(written) - size)),
                in_message(f"{call.returned.field}.function.arguments", returned[-80:]),
            ),
            fix="Take the arguments from the raw output; upgrade the server, or ask without streaming.",
            certainty=call.certainty,
        )


RULE: Rule = TraceRule(
    code="PD424",
    name="arguments-cut-short",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#34968", "vllm-project/vllm#37384", "vllm-project/vllm#41182"),
    explains=("PD402",),
)
