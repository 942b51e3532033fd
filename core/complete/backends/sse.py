r"""Server-sent events from bytes: `feed` and `finish`, no I/O.

    data: {"choices": [...]}\n
    \n
    : a comment\n
    event: error\n
    data: first line\n
    data: second line\n
    \n

Lines end with LF, CRLF or CR; an empty line ends an event; several `data`
lines are joined by LF; one space after the colon is dropped. Lines are cut
as bytes and decoded whole, so a character split between two reads is no
special case.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6 (2025-01).
Deviation: an event that the end of the stream cuts off is given by `finish`
(the standard drops it), for what came is evidence; `is_complete` is false then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event.

    Attributes:
        data: Its data lines, joined by LF.
        event: Its type; "" if it names none.
        is_complete: False if the stream ended before the empty line.
        is_utf8: False if its bytes were not UTF-8; U+FFFD stands for what could not be read.
    """

    data: str
    event: str = ""
    is_complete: bool = True
    is_utf8: bool = True


class SseParser:
    """Reads one stream; any cutting of the bytes into reads gives the same events."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._after_cr = False
        self._is_first_line = True
        self._data: list[str] = []
        self._event = ""
        self._is_utf8 = True
        self._open_bytes = 0
        self.line_count = 0

    @property
    def open_bytes(self) -> int:
        """Length of the event that has begun; lines that are not data do not count."""
        return self._open_bytes + (len(self._line) if self._line.startswith(b"data") else 0)

    def feed(self, chunk: bytes) -> tuple[SseEvent, ...]:
        """Take bytes and return the events that they complete."""
        if not chunk:
            return ()
        if self._after_cr:  # the CR has ended the line already, this may be the rest of a CRLF
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        events: list[SseEvent] = []
        start = 0
        for end in _LINE_END.finditer(chunk):
            self._line += chunk[start : end.start()]
            events += self._end_line()
            start = end.end()
        self._line += chunk[start:]
        return tuple(events)

    def finish(self) -> tuple[SseEvent, ...]:
        """Return the event that the end of the stream cut off, if any."""
        if self._line:
            self._end_line()
        return self._take_event(is_complete=False)

    def _end_line(self) -> tuple[SseEvent, ...]:
        raw = bytes(self._line)
        self._line.clear()
        self.line_count += 1
        if self._is_first_line:
            raw = raw.removeprefix(_BOM)
            self._is_first_line = False
        if not raw:
            return self._take_event(is_complete=True)
        self._read_line(raw)
        return ()

    def _read_line(self, raw: bytes) -> None:
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            line = raw.decode("utf-8", "replace")
            self._is_utf8 = False
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
            self._open_bytes += len(raw)
        elif field == "event":
            self._event = value

    def _take_event(self, *, is_complete: bool) -> tuple[SseEvent, ...]:
        events: tuple[SseEvent, ...] = ()
        if self._data:
            events = (SseEvent("\n".join(self._data), self._event, is_complete, self._is_utf8),)
        self._data = []
        self._open_bytes = 0
        self._event = ""
        self._is_utf8 = True
        return events
