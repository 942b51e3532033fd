"""How sure a rate is: Wilson's interval, and bootstrap intervals of figures that pairs of answers give.

No resample of rows that are all alike differs from them: where no pair differs, Wilson's limit for a share of 0 of n
says how many may differ all the same.

Rows are resampled together with their partner. A figure depends on how many rows are in each cell of a small
table, so a resample is one draw of the cells' counts: exact, and as quick for a million rows as for ten.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

from prompt_debugger.core.report.wire.verification import Rate

_Z = NormalDist().inv_cdf(0.975)
_DRAWS = 2000
_SEED = 20_260


def wilson(count: int, n: int) -> Rate:
    """Return a share with Wilson's score interval.

    >>> wilson(0, 0)
    Rate(value=None, low=None, high=None, n=0)
    >>> round(wilson(1, 10).low or 0, 4), round(wilson(1, 10).high or 0, 4)
    (0.0179, 0.4042)
    """
    if n <= 0:
        return Rate(None, None, None, 0)
    share, square = count / n, _Z * _Z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _Z * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    low = 0.0 if count <= 0 else max(0.0, centre - half)
    high = 1.0 if count >= n else min(1.0, centre + half)
    return Rate(share, low, high, n)


def bootstrap(cells: Sequence[int], figure: Callable[[Sequence[int]], float | None]) -> Rate:
    """Return a figure of a table of counts, with the middle 95 % of its resamples.

    Args:
        cells: How many rows are in each cell.
        figure: Returns the figure of such counts; `None` where its denominator is 0.

    Returns:
        The figure; its interval is of the resamples that have one.
    """
    import numpy as np  # a fifth of a second that no other command has to wait

    n, value = sum(cells), figure(cells)
    if n == 0 or value is None:
        return Rate(None, None, None, n)
    draws = np.random.default_rng(_SEED).multinomial(n, [count / n for count in cells], size=_DRAWS)
    figures = sorted(one for draw in draws.tolist() if (one := figure(draw)) is not None)
    if not figures:
        return Rate(value, None, None, n)
    last = len(figures) - 1
    return Rate(value, figures[round(0.025 * last)], figures[round(0.975 * last)], n)


def bounded(rate: Rate, count: int, n: int, figure: Callable[[float], float] = float) -> Rate:
    """Return a figure with Wilson's interval of the share that it depends on, where all its resamples are alike.

    Args:
        rate: The figure, with its bootstrap interval.
        count: Of how many rows the share is.
        n: Out of how many.
        figure: Returns the figure of a share; it grows with it.

    >>> bounded(Rate(1.0, 1.0, 1.0, 20), 20, 20).low < 0.9
    True
    """
    share = wilson(count, n)
    if rate.low is None or rate.low != rate.high or share.low is None or share.high is None:
        return rate
    return Rate(rate.value, figure(share.low), figure(share.high), rate.n)


def paired_difference(both: int, here: int, there: int, neither: int) -> Rate:
    """Return the share here less the share there, of pairs, with a 95 % interval.

    Each number counts the pairs that have it on both sides, here only, there only, or on neither.

    Returns:
        The difference; where no pair differs, it is 0, within Wilson's upper limit for 0 of n pairs that differ: no
        difference of the shares is larger than the share of pairs that differ.

    >>> rate = paired_difference(8, 0, 0, 12)
    >>> rate.value, round(rate.low, 4), round(rate.high, 4)
    (0.0, -0.1611, 0.1611)
    """
    n = both + here + there + neither
    if n and not here and not there:
        most = wilson(0, n).high or 0.0
        return Rate(0.0, -most, most, n)
    return bootstrap((both, here, there, neither), lambda cells: (cells[1] - cells[2]) / n if n else None)
