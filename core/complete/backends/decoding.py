"""The text of bytes that come in pieces, decoded as they come: a long answer decoded at once would hold up the rest."""

from __future__ import annotations

from codecs import getincrementaldecoder

_DECODER = getincrementaldecoder("utf-8")


class Text:
    """A text that grows.

    Attributes:
        head: Its beginning, as far as it came in one piece.
        unreadable_count: How many pieces of it were not UTF-8; U+FFFD stands for each.
    """

    def __init__(self) -> None:
        self.head = ""
        self.unreadable_count = 0
        self._is_utf8 = True
        self._decoder = _DECODER("strict")
        self._pieces: list[str] = []

    @property
    def is_utf8(self) -> bool:
        """Whether all bytes so far were UTF-8; after `whole`, their end as well."""
        return self._is_utf8

    @property
    def whole(self) -> str:
        """All of it; a character that was cut off at the end is U+FFFD."""
        self._decode(b"", is_end=True)
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def add(self, data: bytes) -> None:
        """Take bytes."""
        self._decode(data, is_end=False)
        self.head = self.head or self._pieces[-1]

    def _decode(self, data: bytes, *, is_end: bool) -> None:
        try:
            piece = self._decoder.decode(data, is_end)
        except UnicodeDecodeError:
            waiting, _ = self._decoder.getstate()
            self._is_utf8, self._decoder = False, _DECODER("replace")
            piece = self._decoder.decode(waiting + data, is_end)
        if not self._is_utf8:
            self.unreadable_count += piece.count("\ufffd")
        self._pieces.append(piece)
