"""How much came in from each visitor within a minute, whatever became of it: what is refused had to be read, too."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from prompt_debugger.ui.web.admission.payloads import PayloadError

_MINUTE_S = 60.0
_GRAIN_S = 1.0  # parts that came within it are remembered as one
_MAX_VISITORS = 4_000


@dataclass(slots=True)
class _Came:
    parts: deque[list[float]] = field(default_factory=deque)  # when it came, how many bytes
    total: float = 0


class ByteQuota:
    """Counts the bytes of bodies by visitor.

    Args:
        most_bytes: Of a visitor within a minute; `None` for any.
        clock: Seconds.
    """

    def __init__(self, most_bytes: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_bytes = most_bytes
        self._clock = clock
        self._came: OrderedDict[str, _Came] = OrderedDict()

    def count(self, visitor: str, size: int = 0) -> None:
        """Count some bytes of a visitor.

        Raises:
            PayloadError: There were too many within the last minute.
        """
        if self._most_bytes is None:
            return
        now = self._clock()
        came = self._came.setdefault(visitor, _Came())
        self._came.move_to_end(visitor)
        while came.parts and came.parts[0][0] <= now - _MINUTE_S:
            came.total -= came.parts.popleft()[1]
        if came.total >= self._most_bytes:
            wait_s = max(1, round(came.parts[0][0] + _MINUTE_S - now))
            said = f"Your address has sent {came.total / 1e6:,.0f} MB within a minute: go on in {wait_s} s."
            raise PayloadError(said, 429)
        if not came.parts or came.parts[-1][0] <= now - _GRAIN_S:
            came.parts.append([now, 0])
        came.parts[-1][1] += size
        came.total += size
        while len(self._came) > _MAX_VISITORS:
            self._came.popitem(last=False)
