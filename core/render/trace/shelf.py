"""What was worked out before and may be asked again: the latest of it, up to a weight."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Shelf(Generic[T]):
    """Keeps values by their keys; when they weigh too much, those that were asked for longest ago go.

    Args:
        most: What all of them may weigh. A value that weighs more than a quarter is not kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._weight = 0

    def get(self, key: Hashable) -> T | None:
        """Return a value; `None` if it is not there."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        self._kept[key] = found
        return found[0]

    def keep(self, key: Hashable, value: T, weight: int) -> None:
        """Put a value there."""
        if 4 * weight > self._most:
            return
        self._weight += weight
        replaced = self._kept.pop(key, None)
        self._weight -= 0 if replaced is None else replaced[1]
        self._kept[key] = value, weight
        while self._weight > self._most:
            self._weight -= self._kept.popitem(last=False)[1][1]
