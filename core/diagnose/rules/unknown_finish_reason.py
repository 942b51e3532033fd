"""finish_reason is empty, or a value that the protocol does not define.

What it finds:
    A finish_reason that is an empty string, or `error`, `abort` or another value that
    neither OpenAI's protocol nor a known server gives a finished answer; or one of its own
    values spelled with hyphens. Values for content filters and for discarded calls have
    separate rules.

Why it matters:
    Clients branch on this value. With an unknown one they treat a failed answer
    as finished, or wait for more.

Bad:
    `"finish_reason": ""`

Good:
    `"finish_reason": "stop"`

Source:
    publisher: `finish_reason` of chat completions; vLLM 0.32, `FinishReason`; Gemini's API, `FinishReason`; the
    Vercel AI SDK's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import ChatResult, Severity, Stage, Trace
from prompt_debugger.core.diagnose.endings import is_filter_word, is_limit_word, is_malformed_call, words_of_end
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message

_EMPTY = re.compile(r"\"finish_reason\"\s{0,4}:\s{0,4}\"\"")
_TYPE = re.compile(r"\w\[\w|\A(?:str|string|String)\Z")
_MAX_BODY = 2_000_000  # characters of a stream
_KNOWN = frozenset(
    [
        "stop",
        "tool_calls",
        "tool_call",
        "function_call",
        "content_filter",
        "eos",
        "eos_token",
        "end_turn",
        "stop_sequence",
        "tool_use",
        "tooluse",  # MCP
        "endturn",
        "stopsequence",
        "maxtokens",
        "pause_turn",
        "refusal",
        "completed",
        "incomplete",
        "complete",
        "finished",
        "unload",
    ]
)
_DEFINED = frozenset({"tool_calls", "content_filter", "function_call"})
_FAILED = {
    "error": "the engine failed while answering",
    "abort": "the server abandoned the request: the client closed the connection, or the server was stopped",
    "aborted": "the server abandoned the request: the client closed the connection, or the server was stopped",
    "cancelled": "the request was cancelled",
    "repetition": "the server detected that the output repeats itself, and ended it",
    "network_error": "the connection to the engine broke",
    "insufficient_system_resource": "the server ran out of resources",
    "too_many_tool_calls": "Gemini's API ended the answer because the model called tools too many times in a row",
    "missing_thought_signature": "Gemini's API found a call in the history without its `thought_signature`",
    "load": "Ollama only loaded the model, because the request had no messages",
}
_FIXES = {
    "load": "Print the messages that the program sends: an agent that gets them under another argument name, or a "
    "state without them, sends an empty list.",
    "too_many_tool_calls": "Ask again with fewer tools, or say in the prompt when the model has to stop calling them.",
    "missing_thought_signature": "Send calls of the history back with the `thought_signature` that they came with; "
    "gateways may drop it.",
}
_LOOK_AT_LOG = "Check the server's log at that time; the answer may be incomplete."
_UNKNOWN = (
    "Do not trust that the answer is complete until its text shows it. Ask the operator of the server or proxy what "
    "the value means."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report the word of the answer, else that of the stream."""
    chat = trace.chat
    if chat is None:
        return
    words = [chat.finish_reason, *(delta.finish_reason for delta in chat.deltas)]
    word = next((word for word in words if word is not None), None)
    if word and (early := _empty_words(trace.chat_stream)):
        yield _report_early(early)
    if word is None or is_filter_word(word) or any(map(is_malformed_call, words_of_end(chat))) or _is_known(word):
        return
    if len(word.split()) > 1 or _TYPE.search(word) is not None:
        return  # text that ran into it where it was copied, or the type of a declaration
    if "-" in word and (meant := word.lower().replace("-", "_")) in _DEFINED:
        yield _report_spelling(word, meant)
        return
    meaning = _FAILED.get(word.lower())
    yield Report(
        title="finish_reason is an empty string."
        if not word
        else f"finish_reason is `{word[:60]}`"
        + (f": {meaning}." if meaning else ", which chat completions do not define."),
        detail="Chat completions define `stop`, `length`, `tool_calls` and `content_filter`"
        + ("; an empty string does not show how the answer ended." if not word else "."),
        evidence=(in_message("finish_reason", word),),
        fix=_FIXES.get(word.lower(), _LOOK_AT_LOG if meaning else _UNKNOWN),
        severity=Severity.ERROR if word.lower() == "error" else Severity.NOTE if word == "load" else None,
    )


def _empty_words(stream: ChatResult | None) -> int:
    """Return how many events of a stream give an empty string as finish_reason, as they came over the wire."""
    return 0 if stream is None else sum(1 for _ in _EMPTY.finditer(stream.body[:_MAX_BODY]))


def _report_early(count: int) -> Report:
    many = "1 event of the stream has" if count == 1 else f"{count} events of the stream have"
    return Report(
        title=f"{many} an empty string as finish_reason before the stream ends.",
        detail="The protocol has `null` there until the last event: clients that stop at the first finish_reason "
        "that is not null end the answer at that event, and lose what follows, such as the arguments of a call.",
        evidence=(in_message("finish_reason", ""),),
        fix="In the client, take an empty finish_reason for null; report it to the authors of the server or gateway.",
        severity=Severity.NOTE,
    )


def _report_spelling(word: str, meant: str) -> Report:
    return Report(
        title=f"finish_reason is `{word}`, another spelling of `{meant}`.",
        detail=f"Chat completions define `{meant}`. Clients that compare the value with it do not recognize this one.",
        evidence=(in_message("finish_reason", word),),
        fix=f"A server has to send `{meant}`. The Vercel AI SDK shows words like this itself: if it printed the "
        "answer, the word is not the server's.",
    )


def _is_known(word: str) -> bool:
    """Return whether a word is the protocol's, or one that others are known to send for it."""
    return is_limit_word(word) or "".join(word.lower().split()) in _KNOWN


RULE: Rule = TraceRule(
    code="PD323",
    name="unknown-finish-reason",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.ANSWER,
    explains=("PD412",),
)
