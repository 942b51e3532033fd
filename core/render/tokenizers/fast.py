"""A vocabulary from `tokenizer.json`, through the `tokenizers` library alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import Entry, PromptSpan, TokenKind, TokenTable, Vocabulary
from prompt_debugger.core.render.attribute_tokens import attribute_tokens
from prompt_debugger.core.render.tokenizers.long_texts import Source, is_long
from prompt_debugger.core.render.tokenizers.pieces import PieceStyle, bytes_of_entry, style_of
from prompt_debugger.core.render.tokenizers.settings import AddedEntry, TokenizerSettings
from prompt_debugger.core.render.tokenizers.tiles import align_pieces, decode_pieces
from prompt_debugger.core.render.tokenizers.untrusted import failure_of, is_costly, read_text_of, refuse_many
from prompt_debugger.core.sandbox import is_inside
from prompt_debugger.core.sandbox.values import admit

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Library

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_PIECES = 128  # that are remembered
_MAX_OF_PIECE = 50_000  # characters of one that is
_MAX_BOUNDARIES = 20_000  # added tokens; the largest vocabularies have six thousand


class Encoding(Protocol):
    """What the library returns for a text."""

    @property
    def ids(self) -> list[int]:
        """Ids in order."""

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Characters of each id, as far as the library knows."""


class Added(Protocol):
    """What the library says of an added token."""

    @property
    def content(self) -> str:
        """Its text."""

    @property
    def lstrip(self) -> bool:
        """Whether it takes the whitespace in front of it."""

    @property
    def rstrip(self) -> bool:
        """Whether it takes the whitespace after it."""

    @property
    def single_word(self) -> bool:
        """Whether it must stand alone."""

    @property
    def normalized(self) -> bool:
        """Whether it is looked for in the normalised text."""


class Backend(Protocol):
    """The part of the library's tokenizer that is used here."""

    def encode(self, text: str, *, add_special_tokens: bool) -> Encoding:
        """Encode a text."""

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        """Decode ids."""

    def id_to_token(self, token_id: int) -> str | None:
        """Return a vocabulary entry."""

    def token_to_id(self, entry: str) -> int | None:
        """Return the id of an entry."""

    def get_added_tokens_decoder(self) -> Mapping[int, Added]:
        """Return the added tokens by id."""

    def get_vocab_size(self) -> int:
        """Return the number of entries, added ones included."""

    def to_str(self) -> str:
        """Return what a `tokenizer.json` with all of this holds."""


@admit
class PackedTokenizer(NamedTuple):
    """A vocabulary as it travels to where no file can be read.

    Attributes:
        text: What a `tokenizer.json` with all of this holds.
        name: Where it came from.
        settings: What the files next to it say.
        style: How it spells its entries.
        added: Its added entries by id.
    """

    text: str
    name: str
    settings: TokenizerSettings
    style: PieceStyle
    added: Mapping[int, Entry]

    def unpacked(self) -> FastTokenizer:
        """Return the vocabulary."""
        from tokenizers import Tokenizer as Library

        return FastTokenizer(Library.from_str(self.text), self.name, self.settings, self.style, self.added)


for _traveller in (TokenizerSettings, AddedEntry, PieceStyle):
    admit(_traveller)


class FastTokenizer:
    """A vocabulary with its rules; see `core.base.protocols.Tokenizer`.

    Attributes:
        settings: What the files next to it say.
    """

    def __init__(
        self,
        backend: Backend,
        name: str,
        settings: TokenizerSettings,
        style: PieceStyle,
        added: Mapping[int, Entry],
        *,
        is_costly: bool = False,
    ) -> None:
        self.settings = settings
        self._is_costly = is_costly  # any text may take for ever
        self._backend = backend
        self._source = Source(backend)
        self._name = name
        self._style = style
        self._entries: dict[int, Entry] = dict(added)
        self._added = added
        self._ids_by_piece: dict[str, tuple[int, ...]] = {}

    @property
    def name(self) -> str:
        """Where it came from: a folder's name or a hub id."""
        return self._name

    @property
    def special_tokens(self) -> Mapping[str, str]:
        """Named special tokens as templates see them."""
        return self.settings.special_tokens

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What rules may know of it."""
        special = {
            token_id: entry.piece.decode("utf-8", "replace")
            for token_id, entry in sorted(self._added.items())
            if entry.kind is TokenKind.SPECIAL
        }
        bos = self.settings.special_tokens.get("bos_token")
        eos = self.settings.special_tokens.get("eos_token")
        bos_id = None if bos is None else self._backend.token_to_id(bos)
        eos_id = None if eos is None else self._backend.token_to_id(eos)
        eos_ids = dict.fromkeys([*([eos_id] if eos_id is not None else []), *self.settings.eos_ids])
        return Vocabulary(self._size(), special, bos_id, tuple(eos_ids), self._adds_bos(bos_id))

    @cached_property
    def boundaries(self) -> frozenset[str]:
        """Texts of added tokens in front of which a text may be cut, and its pieces encoded separately.

        Empty if some added token looks at its neighbours, or there are too many to look for.
        """
        added = [one for one in self._backend.get_added_tokens_decoder().values() if not one.normalized]
        if len(added) > _MAX_BOUNDARIES or any(one.lstrip or one.rstrip or one.single_word for one in added):
            return frozenset()
        return frozenset(one.content for one in added if one.content)

    def _size(self) -> int:
        return max(self._backend.get_vocab_size(), max(self._added, default=-1) + 1)

    def _adds_bos(self, bos_id: int | None) -> bool:
        if self.settings.add_bos is not None:
            return self.settings.add_bos and bos_id is not None
        if bos_id is None or self._is_costly:
            return False
        try:
            return self._backend.encode("a", add_special_tokens=True).ids[:1] == [bos_id]
        except BaseException as error:  # noqa: BLE001  # the library panics
            raise failure_of(error) from None

    def packed(self) -> PackedTokenizer:
        """Return it as it travels."""
        return PackedTokenizer(self._backend.to_str(), self._name, self.settings, self._style, self._added)

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the ids of `text`; nothing is added, special tokens in it are recognised."""
        return tuple(self._encode(text).ids)

    def pieces_of(self, text: str) -> list[str]:
        """Return the pieces of a text whose ids, one after the other, are the ids of the whole.

        The library cuts a text at its added tokens before it does anything else, and encodes what is between them
        piece by piece, none knowing of the others. It takes the longest added token that begins at a place.
        """
        if self._cuts is None:
            return [text]
        starts = [match.start() for match in self._cuts.finditer(text)]
        edges = [0, *(start for start in starts if start), len(text)]
        return [text[start:stop] for start, stop in pairwise(edges)]

    @cached_property
    def _cuts(self) -> re.Pattern[str] | None:
        longest_first = sorted(self.boundaries, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def _encode_known(self, text: str) -> tuple[int, ...]:
        """Return what `encode` does; of prompts with one list of tools it is encoded once."""
        return tuple(chain.from_iterable(map(self._encode_piece, self.pieces_of(text))))

    def _encode_piece(self, piece: str) -> tuple[int, ...]:
        ids = self._ids_by_piece.get(piece)
        if ids is None:
            ids = self.encode(piece)
            if len(self._ids_by_piece) >= _MAX_PIECES:
                self._ids_by_piece.clear()
            if len(piece) <= _MAX_OF_PIECE:
                self._ids_by_piece[piece] = ids
        return ids

    def _encode(self, text: str) -> Encoding:
        if self._goes_out(text):
            return self._source.encode(_encodable(text))
        try:
            return self._backend.encode(_encodable(text), add_special_tokens=False)
        except BaseException as error:  # noqa: BLE001  # the library panics
            raise failure_of(error) from None

    def _goes_out(self, text: str) -> bool:
        """Return whether a text is encoded in the sandbox."""
        return is_long(text) or (self._is_costly and not is_inside())

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of `token_ids`, special tokens kept; ids outside the vocabulary become U+FFFD."""
        if self._style is PieceStyle.BYTE_LEVEL:
            entries = self._entries_of(token_ids)
            return decode_pieces([entries[token_id].piece for token_id in token_ids])[0]
        try:
            return self._backend.decode(list(token_ids), skip_special_tokens=False)
        except BaseException as error:  # noqa: BLE001  # the library panics
            raise failure_of(error) from None

    def tokens_of_text(self, text: str, origins: Sequence[PromptSpan] = ()) -> TokenTable:
        """Return the token table of `text`; char spans tile it as far as the vocabulary allows."""
        encoded = _encodable(text)
        encoding = self._encode(encoded) if self._goes_out(text) else None
        ids = self._encode_known(encoded) if encoding is None else tuple(encoding.ids)
        entries = self._entries_of(ids)
        pieces = [entries[token_id].piece for token_id in ids]
        fits = b"".join(pieces) == encoded.encode()
        edges = align_pieces(encoded, pieces, None if fits else (encoding or self._encode(encoded)).offsets)
        table = TokenTable(text, ids, edges, entries)
        return attribute_tokens(table, origins) if origins else table

    def tokens_of_ids(self, token_ids: Sequence[int]) -> tuple[str, TokenTable]:
        """Return the text of `token_ids` and its token table, one entry per id."""
        ids = tuple(token_ids)
        entries = self._entries_of(ids)
        pieces = [entries[token_id].piece for token_id in ids]
        if self._style is PieceStyle.BYTE_LEVEL:
            text, edges = decode_pieces(pieces)
        else:
            text = self.decode(ids)
            edges = align_pieces(text, pieces)
        return text, TokenTable(text, ids, edges, entries)

    def _entries_of(self, ids: Sequence[int]) -> dict[int, Entry]:
        known, wanted = self._entries, {*ids}
        for token_id in wanted - known.keys():
            self._entry(token_id)
        return {token_id: known[token_id] for token_id in wanted}

    def _entry(self, token_id: int) -> Entry:
        entry = self._entries.get(token_id)
        if entry is None:
            entry = self._entries[token_id] = self._read_entry(token_id)
        return entry

    def _read_entry(self, token_id: int) -> Entry:
        word = self._backend.id_to_token(token_id) if 0 <= token_id < 2**32 else None
        if word is None:
            return Entry("\ufffd".encode(), TokenKind.TEXT)
        piece = bytes_of_entry(word, self._style)
        return Entry(piece, TokenKind.TEXT if _is_utf8(piece) else TokenKind.BYTE)


def load_fast(path: Path, name: str, settings: TokenizerSettings) -> FastTokenizer:
    """Load a `tokenizer.json`, with the entries that the settings add.

    Raises:
        RenderError: The file is broken, or made to take for ever.
    """
    from tokenizers import Tokenizer as Library

    try:
        text = read_text_of(path)
        document = json.loads(text)
        refuse_many(document.get("added_tokens", ()), path)
        backend = Library.from_str(text)
        style = style_of(document)
    except RenderError:
        raise
    except BaseException as error:  # the library raises bare Exception, and panics
        if failure_of(error) is error:
            raise
        raise RenderError(f"`{path.name}` cannot be read: {error}", "Download the file again.") from error
    if is_costly(document, "decoder"):
        raise RenderError(
            f"The decoder of `{path.name}` is not used: its pattern may never finish, or it multiplies the text.",
            "Check that it is a file of the model.",
        )
    backend.no_truncation()
    backend.no_padding()
    special = {*settings.special_tokens.values(), *settings.more_special}
    _add_declared(backend, settings, special)
    entries = {
        token_id: Entry(
            token.content.encode("utf-8", "replace"),
            TokenKind.SPECIAL if token.special or token.content in special else TokenKind.ADDED,
        )
        for token_id, token in backend.get_added_tokens_decoder().items()
    }
    costly = is_costly(document, "normalizer", "pre_tokenizer")
    return FastTokenizer(backend, name, settings, style, entries, is_costly=costly)


def _add_declared(backend: Library, settings: TokenizerSettings, special: set[str]) -> None:
    """Add what the configuration declares and the file lacks, as the reference library does."""
    from tokenizers import AddedToken

    known = {token.content for token in backend.get_added_tokens_decoder().values()}
    declared = [
        AddedToken(
            added.content,
            single_word=added.single_word,
            lstrip=added.lstrip,
            rstrip=added.rstrip,
            normalized=added.normalized,
            special=added.is_special,
        )
        for _, added in sorted(settings.added.items())
        if added.content not in known
    ]
    backend.add_tokens(declared)  # all at once: each time, the library prepares its search for all of them anew
    in_vocabulary = sorted(text for text in special - known if backend.token_to_id(text) is not None)
    backend.add_special_tokens(in_vocabulary)


def _is_utf8(piece: bytes) -> bool:
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _encodable(text: str) -> str:
    """Return `text` with lone surrogates, which no tokenizer takes, replaced one for one."""
    return _SURROGATE.sub("\ufffd", text)
