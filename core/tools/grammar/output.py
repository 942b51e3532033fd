"""The output under judgement, as bytes for the grammar, with the way back to characters and tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import Tokens
from prompt_debugger.core.tools.grammar.families import GrammarFamily

MAX_BYTES = 400_000
_SHOWN_CHARS = 24


@dataclass(frozen=True, slots=True)
class JudgedOutput:
    """A raw output to be judged, and what is known of how it came about.

    Attributes:
        raw: Raw output, special tokens spelled out, the end token included where there was one.
        token_ids: Ids of `raw`; `None` to judge the text alone.
        tokenizer: Goes with the ids.
        prompt_tail: End of the prompt; tells whether a reasoning block was open.
        finish_reason: The server's word; `stop` means the model ended the output.
    """

    raw: str
    token_ids: Sequence[int] | None = None
    tokenizer: Tokenizer | None = None
    prompt_tail: str = ""
    finish_reason: str | None = None

    @property
    def has_ids(self) -> bool:
        """Whether ids are judged, and not the text alone."""
        return self.token_ids is not None and self.tokenizer is not None


class TokenPlace(NamedTuple):
    """A token by its place; number, its index from 0, and id are `None` without ids."""

    number: int | None
    id: int | None
    text: str
    start_byte: int


@dataclass(frozen=True, slots=True)
class Output:
    """A raw output, prepared.

    Attributes:
        text: All of it, special tokens spelled out.
        data: What the grammar is fed: bytes from `start_char` up to the end token.
        start_char: Where the grammar sets in.
        is_ended: Whether the model ended it, rather than being cut.
        end_char: Where the end token is, or the text ends.
        tokens: Token table of `text`; empty without ids.
        token_starts: First byte of each token, counted from the start of `text`.
        start_byte: Where `data` begins in `text`, in bytes.
    """

    text: str
    data: bytes
    start_char: int
    is_ended: bool
    end_char: int
    tokens: Tokens
    token_starts: tuple[int, ...]
    start_byte: int

    def char_of(self, byte: int) -> int:
        """Return the character that contains a byte of `data`."""
        return self.start_char + len(self.data[:byte].decode("utf-8", "ignore"))

    def token_of(self, byte: int) -> TokenPlace:
        """Return the token that contains a byte of `data`; without ids, the text from there on."""
        if not self.tokens:
            char = self.char_of(byte)
            return TokenPlace(None, None, self.text[char : char + _SHOWN_CHARS], byte)
        index = max(bisect_right(self.token_starts, self.start_byte + byte) - 1, 0)
        token = self.tokens[index]
        shown = token.text or token.piece.decode("utf-8", "backslashreplace")
        return TokenPlace(index, token.id, shown, self.token_starts[index] - self.start_byte)

    @property
    def end_token(self) -> TokenPlace:
        """The end token, or the end of the text where there is none."""
        for index, token in enumerate(self.tokens):
            if token.char_span.start >= self.end_char:
                return TokenPlace(index, token.id, token.text, len(self.data))
        return TokenPlace(None, None, self.text[self.end_char : self.end_char + _SHOWN_CHARS], len(self.data))


def prepare_output(judged: JudgedOutput, family: GrammarFamily) -> Output | None:
    """Return the output with the part that a grammar would see; `None` if it never sets in.

    vLLM lets the grammar set in where the reasoning parser says that reasoning has ended.

    Raises:
        EngineError: The output is too long.
    """
    raw, tokenizer = judged.raw, judged.tokenizer
    tokens: Tokens = ()
    if judged.token_ids is not None and tokenizer is not None:
        raw, tokens = tokenizer.tokens_of_ids(judged.token_ids)
    start = _find_start(raw, family, judged.prompt_tail)
    if start is None:
        return None
    ends = family.ends
    if tokenizer is not None:
        special = tokenizer.vocabulary.special
        ends += tuple(special[token_id] for token_id in tokenizer.vocabulary.eos_ids if token_id in special)
    found = [place for place in (raw.find(end, start) for end in ends) if place >= 0]
    end_char = min(found, default=len(raw))
    data = _bytes(raw[start:end_char])
    if len(data) > MAX_BYTES:
        raise EngineError(
            f"The output has {len(data):,} bytes; at most {MAX_BYTES:,} can be checked against a grammar."
        )
    starts, position = [], 0
    for token in tokens:
        starts.append(position)
        position += len(token.piece)
    if tokens and position != len(_bytes(raw)):
        tokens, starts = (), []  # bytes that are not text: the table does not tile it
    is_ended = bool(found) or judged.finish_reason in ("stop", "tool_calls")
    return Output(raw, data, start, is_ended, end_char, tokens, tuple(starts), len(_bytes(raw[:start])))


def _find_start(raw: str, family: GrammarFamily, prompt_tail: str) -> int | None:
    opening, closing = family.reasoning_start, family.reasoning_end
    if opening is None or closing is None:
        return 0
    is_open = raw.lstrip().startswith(opening) or prompt_tail.rfind(opening) > prompt_tail.rfind(closing)
    place = raw.find(closing)
    if place >= 0 and (is_open or opening not in raw[:place]):
        return place + len(closing)
    return None if is_open else 0


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
