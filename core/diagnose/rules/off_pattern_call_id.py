"""The model wrote a Kimi K2 call header that is not `functions.NAME:N`.

What it finds:
    In Kimi K2's format, a finished call whose header, between `<|tool_call_begin|>` and
    `<|tool_call_argument_begin|>`, does not match the pattern. An error if the call was
    dropped by a parser of this family, otherwise a warning. The finding says what the
    deviation does.

Why it matters:
    Parsers take the tool's name from this header. `search:2` made vLLM up to
    0.11 fail; a header without an index is dropped by current ones, silently.

Bad:
    `<|tool_call_begin|>search<|tool_call_argument_begin|>`

Good:
    `<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>`

Source:
    publisher: Kimi K2 report on the vLLM blog, 2025-10-28. tracker:
    vllm-project/vllm#27565, vllm-project/vllm#32146, sgl-project/sglang#21377,
    ggml-org/llama.cpp#17376.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import history_calls, returned_calls
from prompt_debugger.core.diagnose.own_names import is_made_for
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import body_calls, comparison, dropped_calls, in_raw
from prompt_debugger.core.formats import FORMATS


def find(trace: Trace) -> Iterator[Report]:
    """Report every off-pattern header."""
    family = None if trace.parse is None else FORMATS.get(trace.parse.parsed.format)
    if family is None or (id_problem := family.facts.id_problem) is None:
        return
    parser = trace.tool_parser
    is_read = parser is None or is_made_for(trace.server, family.name)
    dropped = {index for index, _ in dropped_calls(trace)} if is_read else set()
    taught = any(id_problem(call.id) for call in history_calls(trace.request) if call.id)
    for index, call in body_calls(trace):
        header = call.id if call.id is not None else (call.name or "")
        problem = id_problem(header)
        span = call.id_span or call.name_span or call.char_span
        if problem is None or "<" in header or (trace.chat is None and not _follows_marker(trace, span)):
            continue  # its beginning was perhaps not copied, or it ran into what follows it
        gone = index in dropped and comparison(trace) is not None
        yield Report(
            title=f"The call header `{header}` is not `functions.NAME:N`.",
            detail=f"In `{header}`, {problem}."
            + (" This call was not returned." if gone else "")
            + (" The history of the request contains such ids." if taught else ""),
            evidence=(in_raw(trace, span),),
            fix=_fix(is_taught=taught, is_returned=not gone and bool(returned_calls(trace))),
            certainty=comparison(trace) or Certainty.OBSERVED,
            severity=None if gone else Severity.WARNING,
        )


def _fix(*, is_taught: bool, is_returned: bool) -> str:
    """Return what helps: where the call came back, the parser that runs is none of those that drop it."""
    rewrite = "Rewrite the ids of the history as `functions.NAME:N`. " if is_taught else ""
    if is_returned:
        return f"{rewrite}Nothing was lost here: the server's parser reads this header, and others drop the call."
    return f"{rewrite}Use a parser that extracts the name from any header, or read the call from the raw output."


def _follows_marker(trace: Trace, span: Span) -> bool:
    return trace.raw is not None and trace.raw.text[: span.start].rstrip().endswith(">")


RULE: Rule = TraceRule(
    code="PD404",
    name="off-pattern-call-id",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    threads=(
        "vllm-project/vllm#27565",
        "vllm-project/vllm#32146",
        "sgl-project/sglang#21377",
        "ggml-org/llama.cpp#17376",
        "vllm-project/vllm-project.github.io#110",
    ),
    explains=("PD401", "PD445"),
)
