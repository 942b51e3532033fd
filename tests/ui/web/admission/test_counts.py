"""How much of each kind one page, one visitor and all together may use; and what docs/public-mode.md says of it."""

import re
from contextlib import suppress
from dataclasses import replace

import pytest

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.ui.web.admission.counts import Counts, Use
from prompt_debugger.ui.web.admission.kinds import KNOWN_EVENTS, OWN_ADMISSION, PUBLIC_ADMISSION, Kind, kind_of
from prompt_debugger.ui.web.admission.payloads import PayloadError, read_table
from prompt_debugger.ui.web.launch import build_app
from prompt_debugger.ui.web.settings import PageSettings

WITHOUT_MINUTE = {
    kind: replace(share, page_minute=None, visitor_minute=None) for kind, share in PUBLIC_ADMISSION.shares.items()
}


def use(kind=Kind.TEMPLATE, page="p", visitor="v"):
    return Use(kind, page, visitor)


@pytest.mark.parametrize("kind", Kind)
def test_one_page_has_so_many_of_a_kind_and_another_page_its_own(kind):
    counts = Counts(PUBLIC_ADMISSION)
    most = PUBLIC_ADMISSION.shares[kind].per_page
    going_on = [use(kind)] * most

    counts.check(use(kind), going_on[1:])
    with pytest.raises(PayloadError, match="wait for one to end") as caught:
        counts.check(use(kind), going_on)
    counts.check(use(kind, "other"), going_on)

    assert caught.value.status == 429


def fill(counts, kind, visitors):
    """Let visitors take in turns all that they are given, each event from another page."""
    going_on = []
    while True:
        before = len(going_on)
        for visitor in visitors:
            asked = use(kind, f"{visitor} {before}", visitor)
            with suppress(PayloadError):
                counts.check(asked, going_on)
                going_on.append(asked)
        if len(going_on) == before:
            return going_on


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("floods", [1, 2, 5])
def test_visitors_with_many_pages_leave_places_to_others(kind, floods):
    counts = Counts(replace(PUBLIC_ADMISSION, shares=WITHOUT_MINUTE))
    going_on = fill(counts, kind, [f"hostile {number}" for number in range(floods)])
    places = PUBLIC_ADMISSION.shares[kind].total

    with pytest.raises(PayloadError, match="Your address has"):
        counts.check(use(kind, "new", "hostile 0"), going_on)
    for number in range(8):
        going_on.append(use(kind, f"new {number}", f"honest {number}"))
        counts.check(going_on[-1], going_on[:-1])
    assert len(going_on) - 8 == pytest.approx(places * floods / (floods + 1), abs=floods)


def test_a_class_after_one_address_has_a_place_each():
    counts = Counts(PUBLIC_ADMISSION)
    for kind in Kind:
        going_on = [use(kind, f"page {number}") for number in range(49)]
        counts.check(use(kind, "the 50th"), going_on)


def test_all_together_have_a_limit():
    share = PUBLIC_ADMISSION.shares[Kind.RUN]
    going_on = [use(Kind.RUN, f"p{number}", f"v{number}") for number in range(share.total)]

    Counts(PUBLIC_ADMISSION).check(use(Kind.RUN, "new", "new"), going_on[1:])
    with pytest.raises(PayloadError, match="192 of all visitors"):
        Counts(PUBLIC_ADMISSION).check(use(Kind.RUN, "new", "new"), going_on)


def test_bodies_that_wait_are_counted_by_their_length():
    counts = Counts(PUBLIC_ADMISSION)
    big = PUBLIC_ADMISSION.max_bytes
    most = PUBLIC_ADMISSION.waiting_bytes // big // 2
    going_on = [Use(Kind.SHARE, f"p{number}", "hostile", big) for number in range(most)]

    counts.check(Use(Kind.SHARE, "new", "hostile", big), going_on[1:])
    with pytest.raises(PayloadError, match="128 MB, 128 MB of it yours"):
        counts.check(Use(Kind.EDIT, "new", "hostile", big), going_on)
    counts.check(Use(Kind.SHARE, "new", "honest", big), going_on)


def test_one_kind_does_not_count_for_another():
    going_on = [use(Kind.TEMPLATE, f"p{number}", f"v{number}") for number in range(96)]

    for kind in set(Kind) - {Kind.TEMPLATE}:
        Counts(PUBLIC_ADMISSION).check(use(kind), going_on)


def test_what_a_minute_allows_comes_back_after_it(clock):
    counts = Counts(PUBLIC_ADMISSION, clock)
    for _ in range(30):
        counts.check(use(Kind.EXPERIMENT), [])
    clock.now += 20

    with pytest.raises(PayloadError, match="continue in 40 s"):
        counts.check(use(Kind.EXPERIMENT), [])
    counts.check(use(Kind.EXPERIMENT, "other"), [])
    clock.now += 41
    counts.check(use(Kind.EXPERIMENT), [])


def test_pages_that_are_opened_count_by_visitor(clock):
    counts = Counts(PUBLIC_ADMISSION, clock)
    for _ in range(PUBLIC_ADMISSION.new_pages_minute or 0):
        counts.check_new_page("v")

    with pytest.raises(PayloadError):
        counts.check_new_page("v")
    counts.check_new_page("other")


def test_names_that_came_and_went_do_not_pile_up(clock):
    counts = Counts(PUBLIC_ADMISSION, clock)
    for number in range(10_000):
        counts.check(use(Kind.EDIT, f"p{number}", f"v{number}"), [])

    assert len(counts._starts._began) <= 4_000


@pytest.mark.parametrize("public", [False, True])
def test_every_queued_event_of_the_page_has_a_kind_and_every_name_is_one(public):
    app = build_app(PageSettings(port=0, lab=False, public=public))
    rules = read_table(app.config).rules.values()
    queued = {rule.name for rule in rules if rule.is_queued and rule.has_code}
    app.close(verbose=False)

    assert queued == set(KNOWN_EVENTS)


def test_what_the_page_never_sends_twice_is_what_costs_much_here():
    script = (assets_dir() / "js" / "page" / "costly_events.js").read_text("utf-8")
    listed = re.findall(r'"(\w+)"', script.partition("new Set([")[2].partition("]")[0])
    costly = {name for name, kind in KNOWN_EVENTS.items() if kind in (Kind.RUN, Kind.EXPERIMENT, Kind.PARSERS)}

    assert set(listed) == costly


def test_an_event_that_no_one_has_thought_of_is_limited_as_the_costly_ones():
    assert kind_of("new_button", is_queued=True) is Kind.EXPERIMENT
    assert kind_of("new_button", is_queued=False) is Kind.CLICK


@pytest.mark.parametrize("kind", Kind)
def test_the_limits_are_documented(kind, public_mode_page):
    share = PUBLIC_ADMISSION.shares[kind]
    lines = public_mode_page.partition("## What one visitor")[2].splitlines()
    line = next(line for line in lines if line.startswith(f"| {kind} "))

    said = [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
    assert said[1:] == [
        str(number) for number in (share.per_page, share.total, share.page_minute, share.visitor_minute)
    ]


def test_the_limits_of_pages_and_bytes_are_documented(public_mode_page):
    for number in (
        PUBLIC_ADMISSION.pages_per_visitor,
        PUBLIC_ADMISSION.pages,
        PUBLIC_ADMISSION.streams_per_page,
        PUBLIC_ADMISSION.streams_per_visitor,
        PUBLIC_ADMISSION.new_pages_minute,
        PUBLIC_ADMISSION.waiting_bytes // 1_000_000,
    ):
        assert f" {number} " in public_mode_page


def test_on_ones_own_machine_a_hand_meets_no_limit(clock):
    counts = Counts(OWN_ADMISSION, clock)
    for _ in range(5_000):
        counts.check(use(), [use()] * 15)
        counts.check_new_page("me")
