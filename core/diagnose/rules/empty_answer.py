"""The answer is empty, or the provider discarded the model's call.

What it finds:
    A finish_reason such as `MALFORMED_FUNCTION_CALL` without a call in the message; and,
    where no raw output is known, an ordinary end of a message that contains nothing at all:
    no text, no call, no reasoning, no refusal. An error where the stream that was asked for is
    empty and the same request without streaming has a text or a call, if tokens were counted or
    the temperature is 0.

Why it matters:
    The caller waits for a call or an answer and gets an empty string with a finish_reason
    that says all went well; agents retry forever.

Bad:
    `"content": null, "finish_reason": "MALFORMED_FUNCTION_CALL"`

Good:
    `"content": "15 °C.", "finish_reason": "stop"`

Source:
    publisher: `finishReason` of Gemini.
    derived: an answer has a content.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import OTHER_ITEM
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Certainty, ChatResult, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.endings import is_malformed_call, is_normal_end, is_unexpected_call, words_of_end
from prompt_debugger.core.diagnose.fields import body_of, calls_of_message, content_of, returned_calls
from prompt_debugger.core.diagnose.hosted import hosted_by
from prompt_debugger.core.diagnose.promised import promised_json
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.rules.thinking_budget_eaten import reasoning_tokens_of
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.words import counted, listed

_STREAMS_NOTHING = frozenset({"phi4_mini_json"})  # vLLM up to 0.32: `extract_tool_calls_streaming` returns None
_LEFT_OUT = "does not exist in chat completions; it was left out."  # of a part, such as a tool of the vendor's own
_WRITE_NOTHING = ("Anthropic", "Google")  # whose models end a turn without a word, with tokens counted for it
_MIN_TOKENS = 8  # more than the markers of a turn and an empty reasoning block
_READS_WHOLE = "there this parser reads calls."
_TO_COMPARE = (
    "a call in that answer is one that the parser loses in streams, and a newer release may not. If that is empty, "
    "too, the model ended its turn at once."
)
_NOT_READ = (
    "This value means that the model tried to call a tool, but what it wrote could not be read or was not allowed as "
    "a call."
)
_SIMPLER = (
    "Run again; if it happens again, give the tools simpler schemas and names, or offer fewer of them. With Gemini 3, "
    "check that calls of the history keep their `thought_signature`, which gateways may drop."
)
_NOT_ENABLED = "This value means that the model called a tool that the request did not enable."
_ENABLE = (
    "Offer the tool that the model wants to call (Gemini's own, such as search and code execution, too). If it is to "
    "call none, take what asks for one out of the prompt, and calls of earlier turns out of the history."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report what the provider says of the call, else a message without anything."""
    chat = trace.chat
    if chat is None or chat.error:
        return
    word = next(filter(is_malformed_call, words_of_end(chat)), None)
    if word is not None and not returned_calls(trace):
        is_unexpected = is_unexpected_call(word)
        yield Report(
            title=f"The server returned no call and reports `{word}`.",
            detail=(_NOT_ENABLED if is_unexpected else _NOT_READ) + " The message does not contain it.",
            evidence=(in_message("finish_reason" if word == chat.finish_reason else "native_finish_reason", word),),
            fix=_ENABLE if is_unexpected else _SIMPLER,
        )
    elif trace.raw is None and is_normal_end(chat.finish_reason) and _is_blank(chat.message) and not _has_more(trace):
        report = _report_lost(trace, chat) or _report_streamed(trace, chat)
        if report is None:
            report = _report_empty(chat, hosted_by(trace), is_whole=body_of(trace).get("stream") is False)
            if report.certainty is Certainty.OBSERVED and promised_json(trace) is not None:  # which is reported alone
                return
        yield report


def _report_lost(trace: Trace, chat: ChatResult) -> Report | None:
    """Report a stream of nothing beside a whole answer to the same request that has a text or a call."""
    whole = trace.chat_whole
    written = None if chat.usage is None else chat.usage.completion_tokens
    if whole is None or whole.error or not chat.deltas or _is_blank(whole.message):
        return None
    if (written is None and body_of(trace).get("temperature") != 0) or (written is not None and written < _MIN_TOKENS):
        return None  # of two runs one may end at once
    names = [call.name for call in calls_of_message(whole.message) if call.name]
    shown = f"a call to {listed(names)}" if names else "a text"
    return Report(
        title=f"The stream is empty, and without streaming the same request is answered with {shown}.",
        detail=f"{_contains(chat.message)}; finish_reason is `{chat.finish_reason}`. "
        + ("" if written is None else f"The server counted {counted(written, 'token')} of output. ")
        + "What makes the stream, in the server or in a gateway, lost what the model wrote.",
        evidence=(in_message("content", content_of(chat.message)), in_message("finish_reason", chat.finish_reason)),
        fix="Send requests without streaming (`stream: false`). Update the server and any gateway in front of it, and "
        "report the stream with the saved run to the authors of the one that loses it.",
        certainty=Certainty.INFERRED,
        severity=Severity.ERROR,
        stage=Stage.PARSE,
    )


def _report_streamed(trace: Trace, chat: ChatResult) -> Report | None:
    """Report a stream of nothing, where a tool parser is known to have been in between."""
    parser = trace.tool_parser
    if parser is None or trace.chat_stream is None or trace.chat_stream.finish_reason is None:
        return None
    is_silent = parser in _STREAMS_NOTHING
    return Report(
        title=f"The streamed answer is empty, and finish_reason is `{chat.finish_reason}`.",
        detail=f"The server gives what it streams to the tool parser `{parser}` first."
        + (" That parser has no streaming half: of every call it streams nothing." if is_silent else "")
        + " The message contains no text, no call, no reasoning and no refusal.",
        evidence=(in_message("content", content_of(chat.message)), in_message("finish_reason", chat.finish_reason)),
        fix=f"Send the same request without `stream`: {_READS_WHOLE if is_silent else _TO_COMPARE}",
        certainty=Certainty.OBSERVED if is_silent else Certainty.INFERRED,
        severity=Severity.ERROR if is_silent else None,
        stage=Stage.PARSE if is_silent else None,
    )


def _report_empty(chat: ChatResult, vendor: str | None, *, is_whole: bool) -> Report:
    written = None if chat.usage is None else chat.usage.completion_tokens
    hidden = (reasoning_tokens_of(chat) or 0) + _blank_chars(chat.message)
    if written is not None and written - hidden >= _MIN_TOKENS and vendor not in _WRITE_NOTHING:
        return _report_removed(chat, written, is_whole=is_whole)
    counts = "" if written is None else f" The server counted {counted(written, 'token')} of output."
    is_white = _blank_chars(chat.message) > 0
    return Report(
        title=f"The answer is {'nothing but whitespace' if is_white else 'empty'}, and finish_reason is "
        f"`{chat.finish_reason}`.",
        detail=_contains(chat.message) + "." + counts,
        evidence=(in_message("content", content_of(chat.message)), in_message("finish_reason", chat.finish_reason)),
        fix=(
            "Run again; if it happens again, check the end of the conversation: after a finished answer, or "
            "after tool results that leave nothing to say, a model may end its turn at once."
            + ("" if vendor in _WRITE_NOTHING else " If tokens were counted, a parser or a proxy removed them.")
        ),
    )


def _report_removed(chat: ChatResult, written: int, *, is_whole: bool) -> Report:
    is_of_ollama = not chat.deltas and '"eval_count"' in chat.body and '"done"' in chat.body
    if is_of_ollama and not is_whole:
        return _report_last_event(chat, written)
    return Report(
        title=f"The server counted {counted(written, 'token')} of output, and the answer shows "
        + ("none of them." if _blank_chars(chat.message) == 0 else "nothing but whitespace."),
        detail=f"{_contains(chat.message)}; finish_reason is `{chat.finish_reason}`. The model wrote more than an "
        "end-of-turn token, and a parser removed it. Usually it is a tool call that the parser began to read and gave "
        "up on, or reasoning that the server does not return.",
        evidence=(in_message("content", content_of(chat.message)), in_message("finish_reason", chat.finish_reason)),
        fix="Get the raw output of this request: without a tool parser, as a plain completion of the same prompt, or "
        "from the server's debug log; `parse` shows where the call departs from the notation. Start the server with "
        "the parser of this model's notation, or a release whose parser returns what it cannot read."
        if not is_of_ollama
        else "Send the prompt to `/api/generate` in raw mode, which returns the raw output: `parse` shows where it "
        "departs from the notation. The parser comes with the model: update Ollama and pull the model again; "
        "otherwise report the raw output.",
        certainty=Certainty.INFERRED,
        stage=Stage.PARSE,
    )


def _report_last_event(chat: ChatResult, written: int) -> Report:
    """Report an object of Ollama that is empty: the last event of each of its streams looks the same."""
    return Report(
        title=f"The server counted {counted(written, 'token')} of output, and this object shows none of them.",
        detail="Ollama's streams end with such an object: if this is the last line of one, its text and calls are in "
        "the lines before it, and nothing is wrong. If it is the whole answer to a request with `stream: false`, what "
        "the model wrote was removed.",
        evidence=(in_message("content", content_of(chat.message)), in_message("finish_reason", chat.finish_reason)),
        fix="Paste all lines of the stream. If there is only this one, send the prompt to `/api/generate` in "
        "raw mode, which returns the raw output.",
        certainty=Certainty.INFERRED,
        severity=Severity.NOTE,
    )


def _has_more(trace: Trace) -> bool:
    """Return whether the answer has items that messages of chat completions do not have, such as a search."""
    return any(note.startswith(OTHER_ITEM) or note.endswith(_LEFT_OUT) for note in trace.notes)


def _contains(message: JSONObject) -> str:
    text = "no text but whitespace" if _blank_chars(message) else "no text"
    return f"The message contains {text}, no call, no reasoning and no refusal"


def _blank_chars(message: JSONObject) -> int:
    """Return how many characters the content of a blank message has: each may be a token."""
    return len(content_of(message) or "")


def _is_blank(value: JSON, key: str = "") -> bool:
    """Return whether a message says nothing; its role, and the type of a part, do not count."""
    if key in ("role", "type"):
        return True
    if isinstance(value, dict):
        return all(_is_blank(inner, name) for name, inner in value.items())
    if isinstance(value, list):
        return all(_is_blank(inner) for inner in value)
    return value in (None, False) or (isinstance(value, str) and not value.strip())


RULE: Rule = TraceRule(
    code="PD312",
    name="empty-answer",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.ANSWER,
)
