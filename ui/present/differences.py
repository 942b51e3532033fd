"""What the model wrote compared with what the message says, field by field: what differs, and how much that matters.

Strings are aligned by `difflib`; a stretch that differs in whitespace alone is
soft, any other is hard. Two spellings of one JSON value are distinguished from two values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from prompt_debugger.core.base.account import is_compared
from prompt_debugger.core.base.json_values import as_object, one_spelling
from prompt_debugger.core.base.text import remove_whitespace
from prompt_debugger.core.base.types import JSON, CallMatch, ChatResult, JSONObject, Ledger, Parse, ToolCallAttempt
from prompt_debugger.ui.present.words import count_of, shortened

MAX_ALIGNED_PIECES = 2_000  # of what is left between equal beginnings and ends; alignment costs the square
_MARGIN_CHARS = 400  # that are shown at each end of a long agreement
_MAX_STRETCH_CHARS = 4_000
_PIECES = re.compile(r"\s+|\w+|[^\w\s]", re.UNICODE)


class FieldDifference(NamedTuple):
    """One field that differs: `hard`, `soft` (whitespace alone), `spelling` (two of one value), `missing` or `added`.

    What was written and returned are [stretch, mark], the mark "", `hard` or `soft`.
    """

    target: str
    state: str
    word: str
    written: list[JSON]
    returned: list[JSON]
    char_span: tuple[int, int] | None


def field_differences(parse: Parse, ledger: Ledger, chat: ChatResult | None) -> list[JSON]:
    """Return the fields of a message that differ from what the model wrote, as the ledger view takes them."""
    if chat is None or not is_compared(ledger):
        return []
    found = [*_compare_calls(parse, ledger, chat), *_compare_texts(parse, chat)]
    return [item._asdict() | {"char_span": None if item.char_span is None else [*item.char_span]} for item in found]


def align_texts(written: str, returned: str) -> tuple[list[JSON], list[JSON]]:
    """Return both texts in stretches with a mark: "" where they agree, `soft` for whitespace alone, else `hard`."""
    left, right = _PIECES.findall(written), _PIECES.findall(returned)
    start = _common(left, right)
    stop = _common(left[start:][::-1], right[start:][::-1])
    sides: tuple[list[JSON], list[JSON]] = ([], [])
    for before, after in _aligned(left, right, start, stop):
        mark = "" if before == after else "soft" if remove_whitespace(before) == remove_whitespace(after) else "hard"
        for side, text in zip(sides, (before, after), strict=True):
            if text:
                side.append([text, mark])
    return sides


def _aligned(left: list[str], right: list[str], start: int, stop: int) -> Iterator[tuple[str, str]]:
    """Yield pairs of stretches that belong together; `start` and `stop` pieces at the ends are equal."""
    yield "".join(left[:start]), "".join(right[:start])
    a, b = left[start : len(left) - stop], right[start : len(right) - stop]
    if max(len(a), len(b)) > MAX_ALIGNED_PIECES:
        yield "".join(a), "".join(b)
    else:
        for _, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
            yield "".join(a[a0:a1]), "".join(b[b0:b1])
    yield "".join(left[len(left) - stop :]), "".join(right[len(right) - stop :])


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return how many pieces the two have in common from their beginning."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _compare_calls(parse: Parse, ledger: Ledger, chat: ChatResult) -> Iterator[FieldDifference]:
    calls = chat.message.get("tool_calls")
    returned = calls if isinstance(calls, list) else []
    for match in ledger.matches:
        if match.raw_index is None or match.message_index is None or match.message_index >= len(returned):
            continue
        attempt, call = parse.parsed.calls[match.raw_index], as_object(returned[match.message_index])
        yield from _compare_call(match, attempt, call, f"tool_calls[{match.message_index}]")


def _compare_call(match: CallMatch, attempt: ToolCallAttempt, call: JSONObject, path: str) -> Iterator[FieldDifference]:
    function = as_object(call.get("function"))
    if "name" in match.altered:
        yield _difference(f"{path}.function.name", attempt.name or "", _text(function.get("name")), attempt.name_span)
    if "id" in match.altered:
        yield _difference(f"{path}.id", attempt.id or "", _text(call.get("id")), attempt.id_span)
    written, returned = _arguments(attempt), _text(function.get("arguments"))
    # Without a fault, arguments that were not JSON in the raw text may be written as JSON: nothing differs.
    if "arguments" in match.altered or (written != returned and one_spelling(attempt.arguments) is not None):
        yield _difference(f"{path}.function.arguments", written, returned, attempt.arguments_span, is_json=True)


def _arguments(attempt: ToolCallAttempt) -> str:
    """Return the arguments as JSON text, whatever the format wrote them in; as written if they cannot be read."""
    if one_spelling(attempt.arguments) is None and attempt.arguments_json is not None:
        return json.dumps(attempt.arguments_json, ensure_ascii=False)
    return attempt.arguments


def _compare_texts(parse: Parse, chat: ChatResult) -> Iterator[FieldDifference]:
    message = chat.message
    reasoning = message.get("reasoning") if message.get("reasoning") is not None else message.get("reasoning_content")
    for target, written, value in (
        ("reasoning", parse.parsed.reasoning, reasoning),
        ("content", parse.parsed.content, message.get("content")),
    ):
        returned = _text(value)
        if (written or "") != returned:
            yield _difference(target, written or "", returned, None)


def _difference(
    target: str, written: str, returned: str, span: tuple[int, int] | None, *, is_json: bool = False
) -> FieldDifference:
    state = _state(written, returned, is_json=is_json)
    left, right = align_texts(written, returned)
    return FieldDifference(target, state, _word(state, left, right), _cut(left), _cut(right), span)


def _state(written: str, returned: str, *, is_json: bool) -> str:
    if is_json and one_spelling(written) is not None and one_spelling(written) == one_spelling(returned):
        return "soft" if remove_whitespace(written) == remove_whitespace(returned) else "spelling"
    if remove_whitespace(written) == remove_whitespace(returned):
        return "soft"
    if not returned or not written:
        return "missing" if written else "added"
    return "hard"


def _word(state: str, left: Sequence[JSON], right: Sequence[JSON]) -> str:
    if state == "missing":
        return "missing from the message"
    if state == "added":
        return "in the message, although the format's rules do not put it there"
    if state == "soft":
        return "only whitespace differs"
    if state == "spelling":
        return "the same JSON value, spelled differently"
    count = max(sum(_mark(item) == "hard" for item in side) for side in (left, right))
    return f"differs in {count_of(count, 'place')}"


def _mark(item: JSON) -> JSON:
    return item[1] if isinstance(item, list) else ""


def _cut(side: list[JSON]) -> list[JSON]:
    """Shorten long agreement: it is the differences that are looked at."""
    return [_cut_item(item) for item in side]


def _cut_item(item: JSON) -> JSON:
    if not isinstance(item, list):
        return item
    text, mark = str(item[0]), item[1]
    if mark or len(text) <= 2 * _MARGIN_CHARS:
        return [shortened(text, _MAX_STRETCH_CHARS), mark]
    left_out = len(text) - 2 * _MARGIN_CHARS
    return [f"{text[:_MARGIN_CHARS]} … ({left_out:,} equal characters) … {text[-_MARGIN_CHARS:]}", ""]


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
