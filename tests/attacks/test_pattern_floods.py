"""No regular expression of the program searches a flood for ever: none grows faster than the square of the text.

Where a text may be long, growth is linear, which the tests of the readers hold; here every pattern is looked at, also
those that nothing else gives a flood to. What a pattern repeats is what a stranger would repeat.
"""

from __future__ import annotations

import re
import signal
import time

import pytest

from tests.attacks.growth import grows_linearly
from tests.attacks.pattern_floods import Flood, floods_of, own_patterns

_SIZE = 8_000  # characters
_DOUBLINGS = 2
_MIN_S = 0.02  # below, nobody waits, and the clock tells little
_MAX_RATIO = 5.5  # of the time for twice the text: 4 is the square of it, 8 the cube
_LIMIT_S = 20.0  # of processor time, after which a search is given up


class TooLongError(Exception):
    """A search was given up."""


def give_up(*_):
    raise TooLongError


def seconds(pattern, text):
    signal.setitimer(signal.ITIMER_VIRTUAL, _LIMIT_S)
    began = time.process_time()
    try:
        for _ in pattern.finditer(text):
            pass
    except TooLongError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began


def is_steep(pattern, flood):
    """Say whether the time of a search grows faster than the square of the flood, each time that it is doubled."""
    taken = seconds(pattern, flood.text(_SIZE))
    size = _SIZE
    for _ in range(_DOUBLINGS):
        if taken < _MIN_S or taken == float("inf"):
            return taken == float("inf")
        size //= 2
        shorter = min(seconds(pattern, flood.text(size)) for _ in range(3))
        if taken < _MAX_RATIO * shorter:
            return False
        taken = shorter
    return True


@pytest.fixture
def alarm():
    before = signal.signal(signal.SIGVTALRM, give_up)
    yield
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_no_pattern_grows_faster_than_the_square_of_a_flood_of_its_own_parts(alarm):
    patterns = own_patterns()
    assert len(patterns) > 1_000

    steep = [
        (name, flood.start, flood.piece)
        for name, pattern in patterns.items()
        for flood in floods_of(pattern)
        if is_steep(pattern, flood)
    ]

    assert steep == []


def test_floods_are_made_of_what_a_pattern_repeats():
    floods = floods_of(re.compile(r"<a>(?:\s*b[^\n]*)+"))

    assert {Flood("<a>", " bx"), Flood("<a>", " "), Flood("<a> b", "x")} <= {*floods}


def test_a_pattern_that_backtracks_without_end_is_found(alarm):
    steep = re.compile(r"\A(?:x+)+z")

    assert any(is_steep(steep, flood) for flood in floods_of(steep))
    assert not any(is_steep(re.compile(r"x+z?"), flood) for flood in floods_of(re.compile(r"x+z?")))


def test_what_follows_a_tools_name_is_matched_in_linear_time():
    """Its spaces were tried in each way to divide them: 2,000 took seconds."""
    pattern = own_patterns()["core.diagnose.calls.calls_as_text._AFTER_NAME"]

    assert grows_linearly(lambda size: pattern.match(" \n" * size), first=2_000)
    assert all(pattern.match(text) for text in (' \n {"a": 1}', "\n<a>", '" ,', ":0 <|"))
