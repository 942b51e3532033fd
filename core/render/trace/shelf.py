"""What was worked out before and may be asked again: the latest of it, up to a weight."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Shelf(Generic[T]):
    """Keeps values by their keys, for any thread; when they weigh too much, those asked for longest ago go.

    Args:
        most: What all of them may weigh. A value that weighs more than a quarter is not kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """Return a value; `None` if it is not there."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, value: T, weight: int) -> None:
        """Put a value there."""
        if 4 * weight > self._most:
            return
        with self._lock:
            replaced = self._kept.pop(key, None)
            self._weight += weight - (0 if replaced is None else replaced[1])
            self._kept[key] = value, weight
            while self._weight > self._most:
                self._weight -= self._kept.popitem(last=False)[1][1]
