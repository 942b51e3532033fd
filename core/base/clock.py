"""How old something is that was written down with the time of day, when that time may jump.

The clock of a machine is set now and then: by hours when it wakes up or finds its time server. What goes by age must
not go then. So there are two clocks, and the smaller age counts: the time of day, and what has passed since a beginning
by the clock that nobody sets.
"""

from __future__ import annotations

import time


class Age:
    """Counts ages from its making on."""

    def __init__(self) -> None:
        self._began = time.time()
        self._began_s = time.monotonic()

    def stamp(self) -> float:
        """Return the time of day to write down, in seconds since 1970: not one that makes something old at once."""
        return max(time.time(), self._passed())

    def before(self, age_s: float) -> float:
        """Return the time of day before which something is certainly older than so many seconds.

        >>> Age().before(60.0) <= time.time() - 60.0
        True
        """
        return min(time.time(), self._passed()) - age_s

    def _passed(self) -> float:
        """Return the time of day as it would be had no one set the clock."""
        return self._began + time.monotonic() - self._began_s
