"""A tool call was cut by the token limit.

What it finds:
    A tool call in the raw output that breaks off where the output ends. An error if the
    server returned it as a call or gave a finish_reason other than `length`; a warning
    where the server, or its log, said plainly that it was cut.

Why it matters:
    The caller gets half a command and a finish_reason that says it is complete:
    `{"path": "a.py", "content": "def` is executed, or replayed in the history
    as broken JSON. The output stopped too early, so the stage is `complete`;
    the server's wrong label follows from it and is reported with it.

Bad:
    16 tokens allowed, raw `…get_weather:0<|tool_call_argument_begin|>{"city": "Par`,
    finish_reason `tool_calls`.

Good:
    A limit that leaves room for the call; finish_reason `length` where it did not.

Source:
    tracker: vllm-project/vllm#53269, vllm-project/vllm#58228.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import IN_LOG
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, Certainty, Completeness, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.endings import is_limit_word
from prompt_debugger.core.diagnose.output_limit import MORE_OUTPUT, output_limit
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    comparison,
    in_message,
    in_raw,
    in_request,
    max_tokens_of,
    message_indices,
    why_cut,
)


def find(trace: Trace) -> Iterator[Report]:
    """Report every call that breaks off at the end of a cut output."""
    if trace.parse is None or all(call.status is not CallStatus.TRUNCATED for call in trace.parse.parsed.calls):
        return
    is_logged = trace.raw is not None and trace.raw.completeness is not Completeness.WHOLE
    if is_logged and not _ends_by_its_log(trace):
        return
    reason, numbers = why_cut(trace), message_indices(trace)
    for raw_index, call in enumerate(trace.parse.parsed.calls):
        if call.status is CallStatus.TRUNCATED and (reason is not None or _says_complete(trace)):
            yield _report(trace, numbers.get(raw_index), call, reason)


def _ends_by_its_log(trace: Trace) -> bool:
    """Return whether a log itself says that a limit ended the output that it shows, which may lack control tokens."""
    raw = trace.raw
    is_alone = trace.chat is None and trace.chat_stream is None
    return raw is not None and is_alone and raw.completeness_reason == IN_LOG and is_limit_word(raw.finish_reason)


def _says_complete(trace: Trace) -> bool:
    """Return whether the server calls this very output complete; another run's word does not count."""
    is_same = trace.chat is not None and comparison(trace) is not None
    return is_same and trace.chat is not None and trace.chat.finish_reason in ("tool_calls", "stop")


def _report(trace: Trace, index: int | None, call: ToolCallAttempt, reason: str | None) -> Report:
    chat = trace.chat
    hidden = _says_complete(trace)
    written = call.arguments or "no arguments yet"
    limit = output_limit(trace)
    ending = "and returned as complete" if index is not None and hidden else "before it was complete"
    evidence = [in_raw(trace, call.char_span)]
    if index is not None:
        evidence.append(in_message(f"tool_calls[{index}]", call.arguments))
    if limit.is_requested:
        evidence.append(in_request("max_tokens", str(max_tokens_of(trace))))
    server_word = "" if chat is None else f" The server says finish_reason `{chat.finish_reason}`."
    return Report(
        title=f"The tool call was cut by {limit.name} {ending}."
        if reason is not None
        else "The output ends inside a tool call, and the server reports it as complete.",
        detail=f"`{call.name or 'a call'}` breaks off at character {call.char_span.stop} with {written[-60:]!r}."
        f"{server_word}" + (f" Cut because {reason}." if reason is not None else " Nothing shows which limit cut it."),
        evidence=tuple(evidence),
        fix=f"Do not execute this call and do not replay it in the history. {limit.step.text} "
        "Decide by the last token and the limit, not by finish_reason.",
        certainty=comparison(trace) or Certainty.OBSERVED,
        severity=Severity.WARNING if _ends_by_its_log(trace) or not (hidden or chat is None) else None,
    )


RULE: Rule = TraceRule(
    code="PD301",
    name="truncated-call",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    reads_stripped=True,
    threads=("vllm-project/vllm#53269", "vllm-project/vllm#58228"),
    explains=("PD445",),
    fixes=(MORE_OUTPUT,),
)
