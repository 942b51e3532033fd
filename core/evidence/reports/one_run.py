"""Whether two separate parts of one text may be of one run: what they say must have something in common.

A page of a manual shows outputs, answers and prompts of many runs; there, being in one text says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_list, strings_in
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.evidence import Evidence, Part, trace_of

UNRELATED = "Parts of the text have nothing in common, so they are not taken for one run; the first of them was read."
_WORD = re.compile(r"[^\W_]{3,}")
_MAX_WORDS = 400
_MIN_OF_CONTENT = 6  # words of a content by which it is known as another's
_PAIRS = ((Part.RAW, Part.MESSAGE), (Part.REQUEST, Part.PROMPT))
_LEFT_OUT = frozenset({"role", "type", "id", "tool_call_id", "index"})  # their values are not words of a message


def of_one_run(pieces: Sequence[Evidence]) -> list[Evidence]:
    """Return the pieces without those with a part that cannot be of the same run as one before it."""
    kept = list(pieces)
    for one, other in _PAIRS:
        first = next((piece for piece in kept if {*piece.holds} & {one, other}), None)
        if first is None or {one, other} <= {*first.holds}:
            continue
        wanted = other if one in first.holds else one
        second = next((piece for piece in kept if wanted in piece.holds), None)
        if second is not None and not (_share_words if one is Part.RAW else _prints)(first, second):
            kept = [piece for piece in kept if wanted not in piece.holds]
    return kept


def of_exchange(pieces: Sequence[Evidence]) -> list[Evidence]:
    """Return the pieces without an answer beside an exchange, whose own answer is another one."""
    exchange = next((one for one in pieces if one.request is not None and (one.chat or one.stream) is not None), None)
    if exchange is None:
        return [*pieces]
    return [
        one
        for one in pieces
        if one is exchange
        or {*one.holds} - {Part.MESSAGE, Part.STREAM}
        or not {*one.holds}
        or _share_words(exchange, one)
    ]


def _prints(first: Evidence, second: Evidence) -> bool:
    """Return whether a prompt prints a text of a request's messages; without such texts it may be of any."""
    asked = [piece.request for piece in (first, second) if piece.request is not None]
    prompts = [piece.prompt or piece.prompt_tail for piece in (first, second) if piece.request is None]
    texts = [
        text.strip()
        for one in asked
        for text in strings_in(as_list(one.body.get("messages")), _LEFT_OUT)
        if text.strip()
    ]
    return not texts or any(text in prompt for text in texts for prompt in prompts)


def _share_words(first: Evidence, second: Evidence) -> bool:
    """Return whether two parts share a word; one without words may belong to anything."""
    words = {word.lower() for word in _WORD.findall(_text_of(first))[:_MAX_WORDS]}
    others = _text_of(second).lower()
    if not words or not _WORD.search(others):
        return True
    if _has_other_content(first, second) or _has_other_content(second, first):
        return False
    return any(word in others or (not word.isascii() and word[:2] in others) for word in words)


def _has_other_content(answer: Evidence, output: Evidence) -> bool:
    """Return whether an answer has a content whose words are mostly not in an output: it was not made of that one."""
    content = None if answer.chat is None else answer.chat.message.get("content")
    if not isinstance(content, str) or output.raw is None or output.chat is not None:
        return False
    words = {word.lower() for word in _WORD.findall(content)[:_MAX_WORDS] if word.isascii()}
    raw = output.raw.lower()
    return len(words) >= _MIN_OF_CONTENT and sum(word in raw for word in words) * 3 < len(words)


def _text_of(piece: Evidence) -> str:
    trace = trace_of(piece)
    shown: list[JSON] = [result.message for result in (trace.chat, trace.chat_stream) if result is not None]
    texts = [*strings_in(shown, _LEFT_OUT), *strings_in(as_list(trace.request.body.get("messages")), _LEFT_OUT)]
    return " ".join([*texts, piece.raw or "", piece.prompt or ""])
