"""The tokens of a text: one by one, or as a table that makes each when it is looked at."""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload

from prompt_debugger.core.base.types.base import JSON, Span
from prompt_debugger.core.base.types.frozen import value

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class TokenKind(StrEnum):
    """What a token is in its vocabulary."""

    TEXT = "text"
    SPECIAL = "special"
    ADDED = "added"
    BYTE = "byte"


@value(frozen=True, slots=True)
class Token:
    """One token of a text.

    Attributes:
        id: Its number in the vocabulary.
        text: The characters of the text it covers; "" for a byte inside a character.
        char_span: Where those characters are.
        kind: What it is in the vocabulary.
        piece: Its bytes.
        field: Request field its first attributed character came from.
        template_line: Template line its first character came from, from 1.
        injected: True for a control token that request data produced.
    """

    id: int
    text: str
    char_span: Span
    kind: TokenKind
    piece: bytes = dataclasses.field(metadata={"alias": "bytes"})
    field: str | None = None
    template_line: int | None = None
    injected: bool = False


if TYPE_CHECKING:
    Tokens: TypeAlias = Sequence[Token]
else:
    # Pydantic would read any sequence as a list; outside, tokens are written one by one, and read as a tuple.
    class Tokens:
        """The tokens of a text in order: a tuple of them, or a `TokenTable`."""

        @classmethod
        def __get_pydantic_core_schema__(cls, _source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
            from prompt_debugger.core.base.types.outside import tokens_schema

            return tokens_schema(handler.generate_schema(tuple[Token, ...]), written_tokens)


class Entry(NamedTuple):
    """What a vocabulary says of one id."""

    piece: bytes
    kind: TokenKind


class Origin(NamedTuple):
    """Where the characters of a token came from.

    Attributes:
        field: Request field of the first of them that has one.
        line: Template line of the first of them, from 1.
        is_request: Whether request data wrote any of them.
    """

    field: str | None = None
    line: int | None = None
    is_request: bool = False


NOWHERE = Origin()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class TokenTable(Sequence[Token]):
    """The tokens of a text by columns; each is made when it is looked at, for a prompt may have 160,000.

    Equal to any tuple of the same tokens.

    Attributes:
        text: What they tile.
        ids: Their numbers in the vocabulary.
        edges: Where each begins in `text`, then where the last one ends; one more than `ids`.
        entries: What the vocabulary says of each of these ids.
        odd: By the index of a token what a server says of its id there, where that is something else.
        origins: Where they came from, each once; empty where no one looked.
        origin_of: For each token its index in `origins`; empty where no one looked.
        forged: Indexes of the control tokens that request data produced, in order.
    """

    text: str
    ids: tuple[int, ...]
    edges: tuple[int, ...]
    entries: Mapping[int, Entry]
    odd: Mapping[int, Entry] = dataclasses.field(default_factory=dict)
    origins: tuple[Origin, ...] = ()
    origin_of: tuple[int, ...] = ()
    forged: tuple[int, ...] = ()

    def __len__(self) -> int:
        """How many there are."""
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Token: ...

    @overload
    def __getitem__(self, index: slice[int | None, int | None, int | None]) -> tuple[Token, ...]: ...

    def __getitem__(self, index: int | slice[int | None, int | None, int | None]) -> Token | tuple[Token, ...]:
        """Make one of them, or some."""
        places = range(len(self.ids))[index]
        return self._token(places) if isinstance(places, int) else tuple(map(self._token, places))

    def _token(self, index: int) -> Token:
        start, stop = self.edges[index], self.edges[index + 1]
        piece, kind = self.odd.get(index) or self.entries[self.ids[index]]
        field, line, _ = self.origins[self.origin_of[index]] if self.origin_of else NOWHERE
        at = bisect_left(self.forged, index)
        is_forged = self.forged[at : at + 1] == (index,)
        return Token(self.ids[index], self.text[start:stop], Span(start, stop), kind, piece, field, line, is_forged)

    def __iter__(self) -> Iterator[Token]:
        """Make them one after the other."""
        return map(self._token, range(len(self.ids)))

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same tokens."""
        return isinstance(other, TokenTable | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """As the tuple of the same tokens has it."""
        return hash(tuple(self))

    @property
    def texts(self) -> list[str]:
        """The characters that each covers."""
        return [self.text[start:stop] for start, stop in pairwise(self.edges)]

    def kind_of(self, index: int) -> TokenKind:
        """What one is in its vocabulary, without making it."""
        return (self.odd.get(index) or self.entries[self.ids[index]]).kind

    @property
    def kinds(self) -> list[TokenKind]:
        """What each is in its vocabulary."""
        kinds = {token_id: entry.kind for token_id, entry in self.entries.items()}
        found = [*map(kinds.__getitem__, self.ids)]
        for index, entry in self.odd.items():
            found[index] = entry.kind
        return found

    @property
    def pieces(self) -> list[bytes]:
        """The bytes of each."""
        pieces = {token_id: entry.piece for token_id, entry in self.entries.items()}
        found = [*map(pieces.__getitem__, self.ids)]
        for index, entry in self.odd.items():
            found[index] = entry.piece
        return found


class TokenColumns(NamedTuple):
    """What tokens say, a column for each thing; all but the last are as long as there are tokens.

    Attributes:
        ids, texts, kinds, pieces: As a `Token` has them.
        fields, lines: Where it came from, likewise.
        forged: Indexes of the control tokens that request data produced, in order.
    """

    ids: Sequence[int]
    texts: Sequence[str]
    kinds: list[TokenKind]
    pieces: Sequence[bytes]
    fields: Sequence[str | None]
    lines: Sequence[int | None]
    forged: Sequence[int]


def columns_of(tokens: Tokens) -> TokenColumns:
    """Return what tokens say by columns, which for a table is much faster than one by one."""
    if not isinstance(tokens, TokenTable):
        return TokenColumns(
            [token.id for token in tokens],
            [token.text for token in tokens],
            [token.kind for token in tokens],
            [token.piece for token in tokens],
            [token.field for token in tokens],
            [token.template_line for token in tokens],
            forged_in(tokens),
        )
    fields, lines = [one.field for one in tokens.origins], [one.line for one in tokens.origins]
    nothing = [None] * (0 if tokens.origin_of else len(tokens))
    return TokenColumns(
        tokens.ids,
        tokens.texts,
        tokens.kinds,
        tokens.pieces,
        [*map(fields.__getitem__, tokens.origin_of)] or nothing,
        [*map(lines.__getitem__, tokens.origin_of)] or nothing,
        tokens.forged,
    )


def forged_in(tokens: Tokens) -> tuple[int, ...]:
    """Return the indexes of the control tokens that request data produced, in order."""
    if isinstance(tokens, TokenTable):
        return tokens.forged
    return tuple(index for index, token in enumerate(tokens) if token.injected)


def count_special(tokens: Tokens) -> int:
    """Return how many special tokens there are."""
    if isinstance(tokens, TokenTable):
        return tokens.kinds.count(TokenKind.SPECIAL)
    return sum(token.kind is TokenKind.SPECIAL for token in tokens)


def written_tokens(tokens: Sequence[object]) -> list[JSON] | None:
    """Return the tokens of a table as JSON without making them, for a verification keeps hundreds with each row."""
    if not isinstance(tokens, TokenTable):
        return None
    known = {token_id: (piece.hex(), kind.value) for token_id, (piece, kind) in tokens.entries.items()}
    odd = {index: (piece.hex(), kind.value) for index, (piece, kind) in tokens.odd.items()}
    origins = [tokens.origins[at] for at in tokens.origin_of] or [NOWHERE] * len(tokens)
    forged = frozenset(tokens.forged)
    written: list[JSON] = []
    for index, (token_id, (start, stop), origin) in enumerate(
        zip(tokens.ids, pairwise(tokens.edges), origins, strict=True)
    ):
        piece, kind = odd.get(index) or known[token_id]
        written.append(
            {
                "id": token_id, "text": tokens.text[start:stop], "char_span": [start, stop], "kind": kind,
                "bytes": piece, "field": origin.field, "template_line": origin.line, "injected": index in forged,
            }
        )  # fmt: skip
    return written
