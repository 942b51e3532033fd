"""Many visitors behind one address: what forty hostile pages take does not shut out the page beside them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from prompt_debugger.ui.web.admission.counts import Counts, Use
from prompt_debugger.ui.web.admission.kinds import PUBLIC_ADMISSION, Kind
from prompt_debugger.ui.web.admission.payloads import PayloadError
from prompt_debugger.ui.web.gate import RunGate
from prompt_debugger.ui.web.limits import PUBLIC_LIMITS, LimitError

CLASS = "192.0.2.7"
HOSTILE = [f"hostile{number}" for number in range(40)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def is_let_in(counts: Counts, use: Use, in_use: list[Use]) -> bool:
    try:
        counts.check(use, in_use)
    except PayloadError:
        return False
    return True


def flood(counts: Counts, kind: Kind, *, size: int = 0) -> list[Use]:
    """Let every hostile page take all it can get."""
    in_use: list[Use] = []
    for page in HOSTILE * PUBLIC_ADMISSION.shares[kind].per_page:
        use = Use(kind, page, CLASS, size)
        if is_let_in(counts, use, in_use):
            in_use.append(use)
    return in_use


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("size", [0, 3_900_000])
def test_a_neighbour_is_let_in_next_to_a_flood(kind: Kind, size: int) -> None:
    counts = Counts(PUBLIC_ADMISSION, Clock())
    in_use = flood(counts, kind, size=size)

    assert is_let_in(counts, Use(kind, "honest", CLASS, 1_000), in_use)
    assert is_let_in(counts, Use(kind, "elsewhere", "198.51.100.1", 1_000), in_use), "others keep a part for themselves"


@pytest.mark.parametrize("kind", Kind)
def test_a_neighbour_works_through_a_minute_of_floods(kind: Kind) -> None:
    """One event every ten seconds, while forty pages begin all that they may."""
    clock = Clock()
    counts = Counts(PUBLIC_ADMISSION, clock)
    let_in = []
    for second in range(80):
        clock.now = float(second)
        for page in HOSTILE:
            for _ in range(4):
                is_let_in(counts, Use(kind, page, CLASS), [])
        if second % 10 == 0:
            let_in.append(is_let_in(counts, Use(kind, "honest", CLASS), []))

    assert let_in == [True] * 8


def test_ever_new_pages_get_an_address_a_few_times_its_minute_at_most() -> None:
    counts = Counts(PUBLIC_ADMISSION, Clock())
    started = sum(
        is_let_in(counts, Use(Kind.RUN, f"page{number}", CLASS), []) for number in range(200) for _ in range(30)
    )

    most = PUBLIC_ADMISSION.shares[Kind.RUN].visitor_minute
    assert most is not None
    assert most <= started <= 4 * most


def entering(gate: RunGate, page: str) -> Iterator[bool]:
    try:
        with gate.enter(page, CLASS):
            yield True
    except LimitError:
        yield False


def test_a_neighbour_runs_although_the_address_has_run_all_it_may() -> None:
    gate = RunGate(PUBLIC_LIMITS, Clock())
    for _ in range(PUBLIC_LIMITS.runs_per_minute or 0):
        for page in HOSTILE:
            next(entering(gate, page))

    assert not next(entering(gate, "hostile0"))
    assert next(entering(gate, "honest"))


def test_a_neighbour_waits_for_at_most_one_run_of_each_place() -> None:
    """With forty runs in line the neighbour's first comes before anyone's second: at most as long again as alone."""
    gate = RunGate(PUBLIC_LIMITS, Clock())
    contexts = [gate.enter(page, CLASS) for page in HOSTILE[:8]]
    for context in contexts:
        context.__enter__()
        context.__exit__(None, None, None)
    again = [gate.enter(page, CLASS) for page in HOSTILE[:8]]
    for context in again:
        context.__enter__()
    with gate.enter("honest", CLASS) as turn:
        assert gate.runs_ahead(turn) <= 1, "who ran least of an address is next"
    for context in again:
        context.__exit__(None, None, None)
