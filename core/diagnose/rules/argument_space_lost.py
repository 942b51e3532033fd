r"""The parser stripped whitespace from an argument.

What it finds:
    A returned string that lacks whitespace which the written one has at its
    start or its end, beyond the line breaks that the format uses as framing.

Why it matters:
    The indentation of the first line of code is gone, or a file's last line break:
    exact-match edit tools fail, and written files do not run.

Bad:
    `<parameter=text>\n    if x:\n</parameter>`, returned `"if x:"`

Good:
    `"    if x:"`

Source:
    tracker: vllm-project/vllm#48753, vllm-project/vllm#49567, raullenchai/Rapid-MLX#3401.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.changed_values import altered_arguments
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_raw, quote
from prompt_debugger.core.diagnose.words import counted


def find(trace: Trace) -> Iterator[Report]:
    """Report, per call, the strings that lost whitespace."""
    for call in altered_arguments(trace):
        stripped = [
            (path, written, returned)
            for path, written, returned in call.changes()
            if isinstance(written, str) and isinstance(returned, str) and _is_stripped(written, returned)
        ]
        if not stripped:
            continue
        path, written, returned = stripped[0]
        lost = len(written) - len(returned)
        others = f" So did {len(stripped) - 1} more." if len(stripped) > 1 else ""
        yield Report(
            title=f"`{path}` of the call to `{call.written.name}` lost {counted(lost, 'character')} of whitespace.",
            detail=f"Written {quote(written)!r}, returned {quote(returned)!r}.{others}",
            evidence=(
                in_raw(trace, call.written.arguments_span or call.written.char_span),
                in_message(f"{call.returned.field}.function.arguments", str(call.returned.arguments)),
            ),
            fix="Take the value from the raw output; use a release whose parser keeps whitespace.",
            certainty=call.certainty,
        )


def _is_stripped(written: str, returned: str) -> bool:
    return len(returned) < len(written) and written.strip() == returned.strip() and returned in written


RULE: Rule = TraceRule(
    code="PD423",
    name="argument-space-lost",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.COMPARISON,
    threads=("vllm-project/vllm#48753", "vllm-project/vllm#49567", "raullenchai/Rapid-MLX#3401"),
    explains=("PD402",),
)
