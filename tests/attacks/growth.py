"""How the time of a function grows with its input: by CPU time, doubled, the best of some tries."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_MIN_S = 0.02  # below, the clock tells nothing
_MAX_RATIO = 3.0  # twice the text takes twice as long; four times would be quadratic
_ATTEMPTS = 6  # what else runs here can make one twice as slow; what is quadratic fails all


def grows_linearly(run: Callable[[int], object], *, first: int, tries: int = 3, doublings: int = 12) -> bool:
    """Say whether doubling the size of the input at most doubles the time, with room for a busy machine.

    Args:
        run: Makes an input of a size and works on it.
        first: The size to begin with; doubled until the work takes long enough to be measured.
        doublings: How often at most; what is still too quick to be measured then is quick enough.
        tries: Of these the quickest counts, so that nothing else running here does.
    """
    gc.collect()
    gc.freeze()  # each collection below looks at what the work left, not at all that the suite has imported
    size = first
    while (taken := _seconds(run, size, tries, _MIN_S)) < _MIN_S and size < first << doublings:
        size *= 2
    enough = _MAX_RATIO * max(taken, _MIN_S)
    if _seconds(run, 2 * size, _ATTEMPTS * tries, enough) < enough:
        return True
    again = _MAX_RATIO * enough  # one step may leave a cache of the processor; sixteen times would be quadratic
    return _seconds(run, 4 * size, _ATTEMPTS * tries, again) < again


def _seconds(run: Callable[[int], object], size: int, tries: int, enough: float) -> float:
    """Return the least of some tries; once one is below what is enough, no more are made: it would be below, too."""
    found = []
    for _ in range(tries):
        gc.collect()
        began = time.process_time()
        run(size)
        taken = time.process_time() - began
        if taken < enough:
            return taken
        found.append(taken)
    return min(found)
