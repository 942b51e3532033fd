"""The raw output of the chat's own run from its log-probabilities: the text of every token, one after the other.

Servers that report no ids may still list the tokens they sampled. Some list those of the visible content alone; then
there are fewer than the server counted, and they are not the raw output. Some give a control token an empty string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from prompt_debugger.core.base.types import Basis, ChatResult, Completeness, Completion, TokenLogprob

_BAR = re.compile("[▂-█]")  # together with these, `▁` is a bar of a small chart
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_END_REASONS = frozenset({"stop", "tool_calls", "function_call"})


def ids_of_logprobs(chat: ChatResult) -> tuple[int, ...] | None:
    """Return the ids of the chat's run, if every token that the server counted is listed with its id."""
    tokens = _all_tokens(chat)
    if tokens is None:
        return None
    ids = tuple(token.token_id for token in tokens if token.token_id is not None)
    return ids if len(ids) == len(tokens) else None


def completion_of_logprobs(chat: ChatResult, finish_reason: str | None, constraint: str | None) -> Completion | None:
    """Return the raw output of the chat's own run; `None` unless the tokens that are listed are those counted."""
    tokens = _all_tokens(chat)
    if tokens is None:
        return None
    if not any(pieces_of(tokens)):
        return None  # ids alone, and nothing here to decode them
    completeness, reason = _judge(tokens)
    return Completion(
        text=text_of_tokens(tokens),
        token_ids=None,
        finish_reason=finish_reason,
        stop_reason=chat.stop_reason,
        evidence=Basis.SAME_RUN,
        usage=chat.usage,
        logprobs=tokens,
        constraint=constraint,
        body=chat.body,
        elapsed_s=chat.elapsed_s,
        completeness=completeness,
        completeness_reason=reason,
    )


def pieces_of(tokens: Sequence[TokenLogprob]) -> tuple[bytes, ...]:
    """Return the bytes of each token: as the server gave them, else those of its text.

    Some servers give the entry of the vocabulary in place of a text; there a space is spelled `Ġ` or `▁`.
    """
    texts = [token.text for token in tokens if token.piece is None]
    read = _entry_reader(texts)
    return tuple(read(token.text) if token.piece is None else token.piece for token in tokens)


def text_of_tokens(tokens: Sequence[TokenLogprob]) -> str:
    """Return the text of tokens, one after the other."""
    return b"".join(pieces_of(tokens)).decode("utf-8", "replace")


def _entry_reader(texts: Sequence[str]) -> Callable[[str], bytes]:
    """Return how texts are read: as they are, unless a mark for spaces is among them and no space is."""
    if any(" " in text or "\n" in text for text in texts):
        return _plain
    if any("Ġ" in text for text in texts):
        return _byte_level_bytes
    is_marked = any("▁" in text for text in texts) and not any(_BAR.search(text) for text in texts)
    return _sentence_piece_bytes if is_marked else _plain


def _plain(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _sentence_piece_bytes(text: str) -> bytes:
    return bytes([int(found[1], 16)]) if (found := _BYTE.fullmatch(text)) else _plain(text.replace("▁", " "))


def _byte_level_bytes(text: str) -> bytes:
    numbers = [_BYTE_OF.get(char) for char in text]
    return bytes(number for number in numbers if number is not None) if None not in numbers else _plain(text)


def _byte_alphabet() -> dict[str, int]:
    """Return the byte that each character of a byte-level vocabulary stands for; those without ink follow after 255."""
    inked = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [number for number in range(0x100) if number not in inked]
    return {chr(number): number for number in inked} | {chr(0x100 + place): one for place, one in enumerate(others)}


def _all_tokens(chat: ChatResult) -> tuple[TokenLogprob, ...] | None:
    """Return the tokens that are listed if they are all: as many as the server counted, or the end token fewer."""
    tokens = chat.logprobs
    counted = None if chat.usage is None else chat.usage.completion_tokens
    if not tokens or counted is None:
        return None
    missing = counted - len(tokens)
    may_lack_end = chat.finish_reason in _END_REASONS
    return tokens if missing == 0 or (missing == 1 and may_lack_end) else None


def _judge(tokens: tuple[TokenLogprob, ...]) -> tuple[Completeness, str]:
    empty = [index for index, piece in enumerate(pieces_of(tokens)) if not piece]
    if any(index < len(tokens) - 1 for index in empty):
        finding = f"The log-probabilities list {len(tokens)} tokens, {len(empty)} of them without text"
        return Completeness.STRIPPED, f"{finding}: the server does not show its control tokens."
    reason = f"The log-probabilities give the text of each of the {len(tokens)} tokens that the server counted."
    return Completeness.WHOLE, reason


_BYTE_OF = _byte_alphabet()
