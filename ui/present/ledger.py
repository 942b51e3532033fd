"""The ledger picture: the raw output by fate, the message next to it, the calls of both in one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from prompt_debugger.core.base.account import count_calls
from prompt_debugger.core.base.types import (
    JSON,
    CallMatch,
    CallOutcome,
    CallStatus,
    ChatResult,
    Fate,
    JSONObject,
    Ledger,
    Parse,
    ParserOutcome,
    Place,
    Trace,
)
from prompt_debugger.core.report import calls_words, characters_words
from prompt_debugger.ui.present.differences import field_differences
from prompt_debugger.ui.present.json_text import json_segments, segments_to_json
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import FATE_WORDS, OUTCOME_WORDS, count_of, joined, shortened

T = TypeVar("T")
_ALWAYS_SHOWN = ("content", "tool_calls")  # fields of a message, also where they are `null`


def ledger_payload(trace: Trace) -> str | None:
    """Return the payload of the ledger view; `None` before the parse stage."""
    parse = trace.parse
    if parse is None:
        return None
    accounts: list[JSON] = [account_of("message", parse, parse.ledger, trace.chat)]
    if parse.stream_ledger is not None:
        accounts.append(account_of("streamed message", parse, parse.stream_ledger, trace.chat_stream))
    return pack_payload(
        {
            "accounts": accounts,
            "calls": _calls(parse, trace.chat),
            "parsers": [_outcome(name, outcome) for name, outcome in parse.parsers.items()],
        }
    )


def fate_counts(ledger: Ledger) -> Counter[Fate]:
    """Return how many characters met each fate."""
    counts: Counter[Fate] = Counter()
    for entry in ledger.entries:
        counts[entry.fate] += entry.char_span.stop - entry.char_span.start
    return counts


def account_of(title: str, parse: Parse, ledger: Ledger, chat: ChatResult | None) -> JSONObject:
    """Return the raw output by fate, and the message next to it."""
    counts = fate_counts(ledger)
    nulls = [] if chat is None else _filled_nulls(parse, chat.message)
    message: list[JSON] = []
    if chat is not None:
        message = segments_to_json(json_segments({n: v for n, v in chat.message.items() if n not in nulls}))
    segments: list[JSON] = []
    for entry in ledger.entries:
        start, stop = entry.char_span
        segments.append(
            {
                "text": parse.raw[start:stop],
                "fate": entry.fate.value,
                "word": FATE_WORDS[entry.fate],
                "target": entry.target,
                "start": start,
                "stop": stop,
            }
        )
    return {
        "title": title,
        "segments": segments,
        "legend": [[fate.value, FATE_WORDS[fate], counts[fate]] for fate in Fate if counts[fate]],
        "figures": joined(
            f"finish_reason {chat.finish_reason}" if chat is not None else "no message",
            characters_words(parse, ledger),
        ),
        "message": message,
        "nulls": [*nulls],
        "note": _note(ledger),
        "missing": _missing(ledger),
        "differences": field_differences(parse, ledger, chat),
    }


def _filled_nulls(parse: Parse, message: JSONObject) -> list[str]:
    """Return the fields that a server fills in with `null` and that have nothing to do with what the model wrote."""
    kept = _ALWAYS_SHOWN if parse.parsed.reasoning is None else (*_ALWAYS_SHOWN, "reasoning", "reasoning_content")
    return [name for name, value in message.items() if value is None and name not in kept]


def _note(ledger: Ledger) -> str:
    """Return why no loss can be reported; "" where it can."""
    if ledger.comparability is None or not ledger.comparability.reason:
        return ""
    return f"{ledger.comparability.reason}. The colours show where each character should go, not where it went."


def _missing(ledger: Ledger) -> str:
    dropped = count_calls(ledger).dropped
    parts = []
    if dropped:
        parts.append(f"Missing here: {count_of(dropped, 'tool call')} that the model wrote.")
    if ledger.invented:
        parts.append("Not in the raw output: " + ", ".join(ledger.invented) + ".")
    return " ".join(parts)


def _calls(parse: Parse, chat: ChatResult | None) -> JSONObject:
    matches = parse.ledger.matches
    return {
        "caption": f"Tool calls: {calls_words(parse.ledger)}",
        "rows": [_call_row(number, match, parse, chat) for number, match in enumerate(matches, 1)],
    }


def _call_row(number: int, match: CallMatch, parse: Parse, chat: ChatResult | None) -> JSONObject:
    attempt = _at(parse.parsed.calls, match.raw_index)
    answer = _at(_returned_calls(chat), match.message_index)
    word = OUTCOME_WORDS[match.outcome]
    if match.outcome is CallOutcome.ALTERED:
        word += ": " + ", ".join(match.altered)
    elif "id" in match.altered:
        word = joined(word, "with a different id")
    if match.outcome is CallOutcome.CUT:
        word = joined(word, "not returned" if match.message_index is None else "returned")
    if attempt is not None and attempt.status is CallStatus.MALFORMED:
        word = joined(word, attempt.status.value)
    if attempt is not None and attempt.place is Place.REASONING and match.outcome is not CallOutcome.DRAFT:
        word = joined(word, "inside reasoning")
    if attempt is not None and attempt.problem:
        word = joined(word, attempt.problem)
    return {
        "number": str(number),
        "written": "—"
        if attempt is None
        else shortened(
            joined(f"{attempt.name or '(no name)'}({attempt.arguments})", attempt.id and f"id {attempt.id}")
        ),
        "returned": "—" if answer is None else shortened(_signature(answer)),
        "state": match.outcome.value,
        "word": word,
        "char_span": None if attempt is None else [*attempt.char_span],
    }


def _at(items: Sequence[T], index: int | None) -> T | None:
    """Return an item, `None` where an opened file names one that it does not hold."""
    return items[index] if index is not None and 0 <= index < len(items) else None


def _returned_calls(chat: ChatResult | None) -> list[JSON]:
    calls = None if chat is None else chat.message.get("tool_calls")
    return calls if isinstance(calls, list) else []


def _signature(call: JSON) -> str:
    if not isinstance(call, dict):
        return repr(call)
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    identity = call.get("id")
    return joined(f"{function.get('name')}({function.get('arguments')})", f"id {identity}" if identity else None)


def _outcome(name: str, outcome: ParserOutcome) -> JSONObject:
    stream = "not tried"
    if outcome.stream_equal is not None:
        stream = "same" if outcome.stream_equal else f"differs: {outcome.first_unequal or ''}"
    return {
        "name": name,
        "calls": ", ".join(_signature(call) for call in outcome.tool_calls) or "none",
        "content": shortened(repr(outcome.content), 120),
        "reasoning": shortened(repr(outcome.reasoning), 120),
        "stream": stream,
        "error": outcome.error or "",
    }
