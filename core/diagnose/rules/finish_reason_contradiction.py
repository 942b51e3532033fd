"""finish_reason contradicts the message.

What it finds:
    `tool_calls` without a call; calls with `stop` (except for a tool that the request
    names, where the protocol requires `stop`); no finish_reason, or an empty one, on a
    complete answer (except in a stream that only we requested); a stream that ends with
    neither one nor anything else; two different ones in one stream; and an output that
    stopped at the token limit with a finish_reason other than `length` (if no call was cut:
    that has its own rule).

Why it matters:
    Agent loops branch on this value. With `stop` next to a call, the call is never
    executed; with `tool_calls` and an empty list the loop fails or spins.

Bad:
    `{"finish_reason": "stop", "message": {"tool_calls": [{…}]}}`

Good:
    `{"finish_reason": "tool_calls", "message": {"tool_calls": [{…}]}}`

Source:
    tracker: sgl-project/sglang#7934, vllm-project/vllm#53255, vllm-project/vllm#25054.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import UNFINISHED, is_partial
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import CallStatus, Certainty, ChatResult, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, calls_of_message, content_of, form_of_odd_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import (
    TracePart,
    asked_server,
    comparison,
    in_message,
    is_asked_stream,
    max_tokens_of,
    why_cut,
)
from prompt_debugger.core.diagnose.words import counted

_WHERE_NAMED = " Where the request names its tool in `tool_choice`, the protocol requires `stop`, and nothing is wrong."

_ASK_WHOLE = (
    "Send the same request without `stream`: a server that fails after its stream has begun cannot say why, and then "
    "it can. If that is answered, check the logs of the server and of any proxy in front of it."
)
_NOTHING_SAYS_WHOLE = (
    "Do not take the answer for complete because it ended: without finish_reason, one that was cut at `max_tokens` "
    "looks the same. Look at its last words and its token counts, branch on `message.tool_calls`, and report it to the "
    "authors of the server or gateway."
)
_AT_ONCE = (
    "Check the end of the prompt: it should open the assistant's turn, once; after a finished turn the "
    "model ends at once. Do not branch on finish_reason here: nothing was called."
)
_BRANCH = "Branch on `message.tool_calls` and on the last token, not on finish_reason."
_LOST = (
    "The server says that there was a call and returns none: see what the model wrote (send the prompt to "
    "`/v1/completions`, as a run here does), and, of a stream, send the request "
    "without `stream` and compare. Until then branch on `message.tool_calls`, not on finish_reason."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report the contradiction of the whole answer, or of the stream alone."""
    if two := list(_two_reasons(trace)):
        yield from two
        return
    for result in (trace.chat, trace.chat_stream):
        if result is None or result.error:
            continue
        name = "stream" if result is trace.chat_stream or result.deltas else "answer"
        if result.finish_reason is None and result is trace.chat_stream and not is_asked_stream(trace):
            continue  # a server may end it when our next request comes
        problem, reason = _problem(trace, result), result.finish_reason
        if reason is None and problem is not None:
            yield _report_absent(trace, result, name)
            return
        if problem is not None:
            yield Report(
                title=f"finish_reason `{reason}` of the {name} contradicts the message: {problem}.",
                detail=f"finish_reason is `{reason}`, and the message contains "
                f"{counted(len(calls_of_message(result.message)), 'tool call')}.{_ended_at_once(result)}"
                + (_WHERE_NAMED if reason == "stop" and not trace.request.body else ""),
                evidence=(in_message("finish_reason", reason), in_message("tool_calls")),
                fix=_AT_ONCE if _ended_at_once(result) else _LOST if reason == "tool_calls" else _BRANCH,
                # TGI, Gemini and others say `stop` after whole calls: no part is lost by it.
                severity=Severity.NOTE if reason == "stop" else None,
            )
            return
    yield from _hidden_limit(trace)


def _report_absent(trace: Trace, result: ChatResult, name: str) -> Report:
    """Report an answer without finish_reason; of a stream without anything, that nothing came before its end."""
    count = counted(len(calls_of_message(result.message)), "tool call")
    is_empty = bool(result.deltas) and not any(value for key, value in result.message.items() if key != "role")
    if is_empty and not is_partial(trace):
        return Report(
            title=f"The {name} ended before it contained a text, a call or a finish_reason.",
            detail=f"{counted(len(result.deltas), 'event')} came with nothing in the message but its role at most, "
            "and the stream ended properly.",
            evidence=(in_message("finish_reason"),),
            fix=_ASK_WHOLE,
            severity=Severity.ERROR if asked_server(trace) else Severity.WARNING,
            stage=Stage.COMPLETE,
        )
    if unfinished := next((note for note in trace.notes if note.endswith(UNFINISHED)), ""):
        return Report(
            title=unfinished,
            detail="The API works on it in the background and returns what there is so far.",
            evidence=(in_message("finish_reason"),),
            fix="Fetch it by its id until its status is `completed` (`GET /v1/responses/ID`), or send the request "
            "without `background`.",
            severity=Severity.WARNING,
            stage=Stage.COMPLETE,
        )
    return Report(
        title=f"The {name} has no finish_reason, but a complete answer has one.",
        detail=f"finish_reason is absent, and the message contains {count}.{_ended_at_once(result)}",
        evidence=(in_message("finish_reason"), in_message("tool_calls")),
        fix=_NOTHING_SAYS_WHOLE,
        severity=Severity.WARNING,
    )


def _two_reasons(trace: Trace) -> Iterator[Report]:
    """Report a stream that ends twice, each time for another reason: clients stop at the first or keep the last."""
    deltas = () if trace.chat_stream is None else trace.chat_stream.deltas
    reasons = list(dict.fromkeys(delta.finish_reason for delta in deltas if delta.finish_reason))
    if len(reasons) > 1:
        named = ", then ".join(f"`{reason}`" for reason in reasons[:4])
        yield Report(
            title=f"The stream gives {len(reasons)} finish reasons: {named}.",
            detail="A client that stops at the first one and a client that keeps the last one disagree on how the "
            "answer ended.",
            evidence=(in_message("finish_reason", reasons[-1]),),
            fix="Read the stream to its end, and branch on `message.tool_calls`, not on finish_reason.",
            severity=Severity.WARNING,
        )


def _problem(trace: Trace, result: ChatResult) -> str | None:
    calls = calls_of_message(result.message)
    names_a_tool = isinstance(body_of(trace).get("tool_choice"), dict)
    if result.finish_reason == "tool_calls" and not calls and form_of_odd_calls(result.message) is None:
        return "it contains no tool call"
    # Of a message without the answer around it, `stop` may be the word of the raw completion, which knows no calls.
    is_of_answer = asked_server(trace) or bool(result.body or result.deltas) or trace.chat_stream is not None
    if result.finish_reason == "stop" and calls and not names_a_tool and is_of_answer:
        return "it contains tool calls"
    if result.finish_reason is None and (result.body or result.token_ids):
        return "a complete answer has one"
    return None


def _ended_at_once(result: ChatResult) -> str:
    """Say so where the first token ended the turn: no parser lost anything."""
    written = None if result.usage is None else result.usage.completion_tokens
    if written is None or written > 1 or calls_of_message(result.message) or content_of(result.message):
        return ""
    at = "" if result.stop_reason is None else f" at the stop token {result.stop_reason}"
    return f" The server counted {counted(written, 'token')} of output: the model ended its turn at once{at}."


def _hidden_limit(trace: Trace) -> Iterator[Report]:
    chat = trace.chat
    if chat is None or chat.finish_reason in ("length", None) or comparison(trace) is not Certainty.OBSERVED:
        return
    calls = () if trace.parse is None else trace.parse.parsed.calls
    if any(call.status is CallStatus.TRUNCATED for call in calls) or _ends_with_call(trace):
        return
    reason = why_cut(trace)
    if reason is not None and max_tokens_of(trace) is not None:
        yield Report(
            title=f"finish_reason `{chat.finish_reason}` hides that the token limit ended the output.",
            detail=f"{reason[0].upper()}{reason[1:]}.",
            evidence=(in_message("finish_reason", chat.finish_reason),),
            fix="Compare the number of output tokens with max_tokens before trusting that the answer is complete.",
            severity=Severity.WARNING,
        )


def _ends_with_call(trace: Trace) -> bool:
    """Return whether the output ends with a whole call: nothing that was to come is missed."""
    if trace.parse is None or not trace.parse.parsed.calls:
        return False
    last = trace.parse.parsed.calls[-1]
    return last.status is CallStatus.COMPLETE and not trace.parse.raw[last.char_span.stop :].strip()


RULE: Rule = TraceRule(
    code="PD412",
    name="finish-reason-contradiction",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.RESULT,
    threads=("sgl-project/sglang#7934", "vllm-project/vllm#53255", "vllm-project/vllm#25054"),
)
