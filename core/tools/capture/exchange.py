"""One exchange as it goes through: what is kept of it, within bounds, while everything is passed on."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from prompt_debugger.core.tools.capture.limits import MAX_ANSWER_BYTES, MAX_HELD_BYTES, MAX_REQUEST_BYTES

_MARKS = 4_096  # pieces that keep their own time


class Api(StrEnum):
    """What an exchange is kept as; any other is passed on only."""

    CHAT = "chat-completions"
    COMPLETIONS = "completions"
    RESPONSES = "responses"
    MESSAGES = "messages"
    GEMINI = "gemini"


def api_of(method: str, path: str) -> Api | None:
    """Return which API a request is for; `None` for one that is passed on and not kept.

    >>> api_of("POST", "/v1/chat/completions"), api_of("GET", "/v1/models"), api_of("POST", "/v1/messages/count_tokens")
    (<Api.CHAT: 'chat-completions'>, None, None)
    """
    if method != "POST":
        return None
    ends = {
        "/chat/completions": Api.CHAT,
        "/completions": Api.COMPLETIONS,
        "/responses": Api.RESPONSES,
        "/messages": Api.MESSAGES,
        ":generateContent": Api.GEMINI,
        ":streamGenerateContent": Api.GEMINI,
    }
    return next((api for end, api in ends.items() if path.rstrip("/").endswith(end)), None)


class Held:
    """How many bytes of exchanges are held in memory, over all of them."""

    def __init__(self, most: int = MAX_HELD_BYTES) -> None:
        self.most = most
        self.size = 0

    def take(self, size: int) -> bool:
        """Count further bytes; false, and nothing counted, if there is no room for them."""
        if self.size + size > self.most:
            return False
        self.size += size
        return True

    def give_back(self, size: int) -> None:
        """Count bytes no more."""
        self.size -= size


class Kept:
    """The beginning of a body, at most `most` bytes; the rest is only counted."""

    def __init__(self, held: Held, most: int) -> None:
        self._held = held
        self._most = most
        self._data = bytearray()
        self.size = 0
        self.is_whole = True

    def take(self, piece: bytes) -> None:
        """Keep a piece, or only count it once one was left out."""
        self.size += len(piece)
        fits = self.is_whole and len(self._data) + len(piece) <= self._most and self._held.take(len(piece))
        if fits:
            self._data += piece
        else:
            self.is_whole = False

    @property
    def data(self) -> bytes:
        """What was kept."""
        return bytes(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def drop(self) -> None:
        """Forget it."""
        self._held.give_back(len(self._data))
        self._data = bytearray()


@dataclass(slots=True)
class Exchange:
    """A request and its answer, as far as they have come.

    Attributes:
        number: Which one of those that are kept, from 1; 0 for one that is not.
        api: What it is kept as; `None` if it is passed on only.
        path: Path without the query, which may contain a key.
        secrets: What the client sent to show who it is; kept out of all that is written.
        sent: The request's body.
        answered: The answer's body, packed as it came.
        sent_packing: What the request's body is packed in; "" for nothing.
        status: HTTP status; `None` before the answer's head.
        content_type: Of the answer.
        packing: What the answer is packed in; "" for nothing.
        client: What the client calls itself; "" if it does not say.
        error: Why it did not come to its end; "" if it did.
        marks: When the answer's pieces came: the size before each, and seconds since the request.
    """

    number: int
    api: Api | None
    method: str
    path: str
    secrets: tuple[str, ...]
    sent: Kept
    answered: Kept
    sent_packing: str = ""
    status: int | None = None
    content_type: str = ""
    packing: str = ""
    client: str = ""
    error: str = ""
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    began_s: float = field(default_factory=time.monotonic)
    first_s: float | None = None
    ended_s: float | None = None
    marks: list[tuple[int, float]] = field(default_factory=list)

    @classmethod
    def begin(
        cls, number: int, api: Api | None, method: str, path: str, secrets: tuple[str, ...], held: Held
    ) -> Exchange:
        """Return one that begins now; of one that is not kept the bodies are only counted."""
        is_kept = api is not None
        sent = Kept(held, MAX_REQUEST_BYTES if is_kept else 0)
        answered = Kept(held, MAX_ANSWER_BYTES if is_kept else 0)
        return cls(number, api, method, path, secrets, sent, answered)

    def elapsed_s(self) -> float:
        """Return the seconds since it began."""
        return time.monotonic() - self.began_s

    def head(self, status: int, content_type: str, packing: str) -> None:
        """Note the head of the answer."""
        self.status = status
        self.content_type = content_type
        self.packing = "" if packing.strip().lower() == "identity" else packing.strip().lower()
        self.first_s = self.elapsed_s()

    def take(self, piece: bytes) -> None:
        """Note a piece of the answer."""
        if self.api is not None and len(self.marks) < _MARKS:
            self.marks.append((self.answered.size, round(self.elapsed_s(), 4)))
        self.answered.take(piece)

    def end(self, error: str = "") -> None:
        """Note that it is over, and why before its end if it is; what is noted first counts."""
        if self.ended_s is None:
            self.error = error
            self.ended_s = self.elapsed_s()
