"""Recent usage by owner, decaying by half in a fixed time; the owners that have been idle longest are dropped."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator


class Quota:
    """Counts what is used of something, by name.

    Args:
        half_s: Seconds in which half of it is forgotten.
        most_names: How many are remembered.
        clock: Seconds.
    """

    def __init__(self, half_s: float, most_names: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._half_s = half_s
        self._most_names = most_names
        self._clock = clock
        self._used: OrderedDict[str, tuple[float, float]] = OrderedDict()  # and when that was

    def __len__(self) -> int:
        return len(self._used)

    def charge(self, name: str, amount: float) -> None:
        """Count what someone used."""
        self._used[name] = (self.of(name) + amount, self._clock())
        self._used.move_to_end(name)
        while len(self._used) > self._most_names:
            self._used.popitem(last=False)

    def of(self, name: str) -> float:
        """Return what someone used recently."""
        return self._at(name, self._clock())

    def _at(self, name: str, now_s: float) -> float:
        amount, at_s = self._used.get(name, (0.0, 0.0))
        return float(amount * 0.5 ** ((now_s - at_s) / self._half_s)) if amount else 0.0

    def of_all(self, names: Iterable[str]) -> dict[str, float]:
        """Return what each of some used recently, at one moment: by two they could not be compared."""
        now_s = self._clock()
        return {name: self._at(name, now_s) for name in names}

    def since(self, seconds: float) -> Iterator[str]:
        """Yield who used something within the last seconds, the last one first."""
        from_s = self._clock() - seconds
        for name, (_, at_s) in reversed(self._used.items()):
            if at_s <= from_s:
                return
            yield name
