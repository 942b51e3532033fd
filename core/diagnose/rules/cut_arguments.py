r"""The arguments of a returned call stop before they are complete.

What it finds:
    If no raw output can be compared: arguments of the answer that are the beginning of a
    JSON object, and what cut them, if known: a token limit, the context, a stop text, a
    stream that ends without a finish_reason. With finish_reason `length` it is a warning,
    because the caller was informed.

Why it matters:
    Half a call labelled as complete fails in the client's decoder, or a
    lenient client repairs it and writes half a file.

Bad:
    `"arguments": "{\"city\": \"Par"` with finish_reason `tool_calls`

Good:
    `"arguments": "{\"city\": \"Paris\"}"`

Source:
    tracker: vllm-project/vllm#53269, ollama/ollama#17914.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, broken_calls
from prompt_debugger.core.diagnose.endings import is_limit_word
from prompt_debugger.core.diagnose.fields import CallField, body_of
from prompt_debugger.core.diagnose.loops import MIN_REPEATS_OF_CUT_ARGUMENTS, looping_length
from prompt_debugger.core.diagnose.output_limit import output_limit
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    asked_server,
    comparison,
    completion_tokens,
    in_message,
    in_request,
    max_tokens_of,
    why_cut,
)

_TO_END_OF_CONTEXT = frozenset({"vllm", "sglang", "lmdeploy", "llama.cpp"})  # unless a request limits its output
_SHORT = 400  # characters, or tokens
_KEEP_OFF = "Do not execute this call, and do not send it back in the history."


class _Cause(NamedTuple):
    """What cut the arguments: how the title ends, what shows it, what helps."""

    ending: str
    shown: str
    fix: str
    certainty: Certainty = Certainty.OBSERVED
    stage: Stage | None = None
    evidence: tuple[FindingEvidence, ...] = ()


_PIECES_ALONE = (
    "Only the pieces were printed, and not how the stream ended: either the rest was not printed, or it never came."
)
_SHOW_END = (
    "Print `chunk.choices[0].finish_reason`, too. If the stream ended properly, ask without streaming and compare: if "
    "the arguments are complete then, the server's streaming parser loses their end."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report returned arguments that break off."""
    if trace.chat is None or comparison(trace) is not None or _is_cut_copy(trace):
        return
    for call, text, fault in broken_calls(trace, Break.CUT):
        cause = _cause_of(trace, text)
        yield _report(trace, call, text, fault.words, cause)


def _is_cut_copy(trace: Trace) -> bool:
    """Return whether a pasted stream ends early: copying may have cut the arguments, not the server."""
    error = "" if trace.chat is None else trace.chat.error or ""
    is_cut = "which the end of the stream cut off" in error or error.startswith("the stream ended without a finish")
    return is_cut and not asked_server(trace)


def _report(trace: Trace, call: CallField, text: str, words: str, cause: _Cause) -> Report:
    field = f"{call.field}.function.arguments"
    is_said = trace.chat is not None and is_limit_word(trace.chat.finish_reason)
    return Report(
        title=f"The arguments of the call to `{call.name}` {cause.ending}.",
        detail=f"`{field}` ends with {text[-60:]!r}: {words}. {cause.shown}",
        evidence=(in_message(field, text), *cause.evidence),
        fix=f"{_KEEP_OFF} {cause.fix}".strip(),
        certainty=cause.certainty,
        stage=cause.stage,
        severity=Severity.WARNING if is_said or cause.shown == _PIECES_ALONE else None,
    )


def _cause_of(trace: Trace, text: str) -> _Cause:
    chat = trace.chat
    assert chat is not None
    finish = f"`finish_reason` is {'absent' if chat.finish_reason is None else f'`{chat.finish_reason}`'}"
    reason = why_cut(trace)
    if reason is not None:
        limit = output_limit(trace)
        shown = f"They were cut: {reason}" + ("." if "finish_reason" in reason else f"; {finish}.")
        asked = (in_request("max_tokens", str(max_tokens_of(trace))),) if limit.is_requested else ()
        is_loop = looping_length(text, MIN_REPEATS_OF_CUT_ARGUMENTS) > 0  # which another finding explains
        return _Cause(f"were cut by {limit.name}", shown, "" if is_loop else limit.step.text, evidence=asked)
    if isinstance(chat.stop_reason, str):
        shown = f"The server reports the stop string {chat.stop_reason!r}; {finish}."
        return _Cause("were cut by a stop string", shown, f"Remove {chat.stop_reason!r} from `stop`.")
    if isinstance(chat.stop_reason, int) and trace.chat_stream is not None:
        shown = f"No limit was reached: the server reports the stop token {chat.stop_reason}, and {finish}."
        return _lost_in_stream(shown)
    if chat.error is not None:
        return _Cause("break off, as the answer does", f"{chat.error}", "Ask again, and read the answer to its end.")
    stream = trace.chat_stream
    if chat.finish_reason is None and stream is not None and stream.deltas and stream.finish_reason is None:
        if not stream.body and not asked_server(trace):
            return _Cause("break off in the last of its pieces", _PIECES_ALONE, _SHOW_END)
        shown = "The stream ends without a finish_reason: it was closed, or not all of it was saved."
        return _Cause(
            "break off where the stream ends", shown, "Read the stream up to `data: [DONE]`, then look again."
        )
    return _likely(trace, text, finish)


def _lost_in_stream(shown: str) -> _Cause:
    """Return what breaks off arguments in a stream where nothing limited the output."""
    why = f"{shown} The model ended its turn; either the parser did not stream the rest, or the model stopped inside "
    fix = "Ask without streaming, and compare: if the arguments are complete then, the server's streaming parser "
    fix += "loses them. Update the server, or do not stream calls."
    return _Cause("break off, though no limit was reached", f"{why}the call.", fix, Certainty.INFERRED, Stage.PARSE)


def _is_short_stream(trace: Trace, text: str) -> bool:
    """Return whether a stream is far shorter than any limit of a server that writes on to the end of its context."""
    chat, server = trace.chat, trace.server
    is_open = server is not None and server.kind in _TO_END_OF_CONTEXT and bool(trace.request.body.get("messages"))
    is_small = len(text) <= _SHORT and (completion_tokens(trace) or 0) <= _SHORT
    is_ended = chat is not None and chat.finish_reason in ("tool_calls", "stop")
    return trace.chat_stream is not None and is_open and is_small and is_ended and not body_of(trace).get("stop")


def _likely(trace: Trace, text: str, finish: str) -> _Cause:
    """Return the limit that the request sets, where nothing shows which one was reached."""
    cap = max_tokens_of(trace)
    if cap is None and _is_short_stream(trace, text):
        return _lost_in_stream(f"The request sets no limit, only {len(text)} characters came, and {finish}.")
    if cap is not None and completion_tokens(trace) is None and len(text) <= 16 * cap:
        shown = f"The request allows {cap} tokens of output, the answer has no count of them, and {finish}."
        fix = f"{output_limit(trace).step.text} If they still break off there, it was not this limit."
        asked = (in_request("max_tokens", str(cap)),)
        return _Cause(f"are cut, probably by max_tokens ({cap})", shown, fix, Certainty.INFERRED, evidence=asked)
    stops = body_of(trace).get("stop")
    if stops:
        shown = f"{finish}, and the request sets `stop`: a stop string may have been part of a value."
        asked = (in_request("stop", str(stops)),)
        return _Cause("break off", shown, "Ask again without `stop`.", Certainty.INFERRED, evidence=asked)
    counted = completion_tokens(trace)
    count = "" if counted is None else f" The server counted {counted} tokens of output."
    shown = f"{finish}, and nothing shows that a limit was reached.{count}"
    fix = (
        "Compare the number of output tokens with the limit of the request: some servers report `tool_calls` although "
        "the limit ended the output. If no limit was reached, a parser or a proxy lost the rest; the raw output shows "
        "it."
    )
    return _Cause("break off before they are complete", shown, fix)


RULE: Rule = TraceRule(
    code="PD320",
    name="cut-arguments",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    stands_in_part=True,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#53269", "ollama/ollama#17914"),
    explains=("PD445", "PD502", "PD416"),
)
