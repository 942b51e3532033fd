"""Intervals against published values, and their edges."""

import pytest

from prompt_debugger.core.report.wire.verification import Rate
from prompt_debugger.core.tools.verify.intervals import bootstrap, bounded, paired_difference, wilson


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    # Newcombe 1998, Statistics in Medicine 17, table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_intervals(count, n, low, high):
    rate = wilson(count, n)

    assert (round(rate.low, 4), round(rate.high, 4)) == (low, high)
    assert rate.value == count / n


def test_nothing_of_nothing_is_not_a_rate():
    assert wilson(0, 0) == Rate(None, None, None, 0)


def test_the_ends_are_exact():
    assert wilson(7, 7).high == 1.0
    assert wilson(0, 7).low == 0.0


def test_a_bootstrap_interval_contains_its_figure_and_narrows_with_more_rows():
    def share(cells):
        return cells[0] / sum(cells)

    few, many = bootstrap((30, 70), share), bootstrap((3000, 7000), share)

    assert few.low < few.value == 0.3 < few.high
    assert many.high - many.low < (few.high - few.low) / 5


def test_a_bootstrap_of_a_share_agrees_with_wilson_on_many_rows():
    rate = bootstrap((400, 600), lambda cells: cells[0] / sum(cells))

    assert rate.low == pytest.approx(wilson(400, 1000).low, abs=0.005)
    assert rate.high == pytest.approx(wilson(400, 1000).high, abs=0.005)


def test_a_figure_without_a_denominator_has_no_interval():
    assert bootstrap((0, 5), lambda cells: None if cells[0] == 0 else 1.0) == Rate(None, None, None, 5)


@pytest.mark.parametrize("n", [1, 20, 1000])
@pytest.mark.parametrize("having", [0, 1])
def test_pairs_that_do_not_differ_are_no_proof_that_none_would(n, having):
    rate = paired_difference(having * n, 0, 0, n - having * n)

    assert rate == Rate(0.0, -wilson(0, n).high, wilson(0, n).high, n)
    assert rate.high > 0


def test_pairs_that_differ_keep_their_bootstrap_interval():
    cells = (5, 4, 2, 9)

    assert paired_difference(*cells) == bootstrap(cells, lambda c: (c[1] - c[2]) / sum(c))
    assert paired_difference(0, 0, 0, 0) == Rate(None, None, None, 0)


def test_a_figure_of_which_no_row_is_wrong_is_bounded_by_its_share():
    certain, open_ = bootstrap((20, 0), lambda c: c[0] / sum(c)), bootstrap((15, 5), lambda c: c[0] / sum(c))

    assert (certain.low, certain.high) == (1.0, 1.0)
    assert bounded(certain, 20, 20) == wilson(20, 20)
    assert bounded(open_, 15, 20) == open_
    assert bounded(Rate(None, None, None, 5), 0, 0) == Rate(None, None, None, 5)
