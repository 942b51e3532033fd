"""How much a visitor may send within a minute."""

from __future__ import annotations

import pytest

from prompt_debugger.ui.web.admission.bodies import ByteQuota
from prompt_debugger.ui.web.admission.payloads import PayloadError
from tests.clock import Clock


def test_who_sent_too_much_within_a_minute_is_refused_until_it_is_over(clock):
    intake = ByteQuota(100, clock)
    intake.count("me", 60)
    clock.now += 20
    intake.count("me", 60)

    with pytest.raises(PayloadError, match="continue in 40 s") as caught:
        intake.count("me")
    intake.count("another", 100)
    clock.now += 40
    intake.count("me", 40)

    assert caught.value.status == 429


def test_small_parts_add_up():
    intake = ByteQuota(1_000, Clock())
    for _ in range(1_000):
        intake.count("me", 1)

    with pytest.raises(PayloadError):
        intake.count("me", 1)


def test_a_page_of_ones_own_has_no_such_limit():
    intake = ByteQuota(None, Clock())

    for _ in range(10):
        intake.count("me", 10**12)


def send(quota, page, size):
    """Send a short body of a page."""
    quota.note("class", size)
    quota.judge_page("class", page, size)


def test_of_a_visitor_who_sent_it_all_a_page_that_sent_little_still_sends(clock):
    quota = ByteQuota(100, clock)
    for number in range(4):
        send(quota, f"hostile {number}", 30)
    with pytest.raises(PayloadError, match="Your page has sent 0 MB within a minute: continue in 60 s") as caught:
        send(quota, "hostile 0", 1)
    with pytest.raises(PayloadError):  # a long body, of which the page is not known before it is read
        quota.count("class", 1)
    for _ in range(4):
        send(quota, "neighbour", 5)
    with pytest.raises(PayloadError):
        send(quota, "neighbour", 1)

    assert caught.value.status == 429
    clock.now += 60
    send(quota, "hostile 0", 30)


def test_below_the_limit_of_the_visitor_a_page_may_send_it_all(clock):
    quota = ByteQuota(100, clock)
    for _ in range(8):
        send(quota, "busy", 11)
    send(quota, "quiet", 1)

    quota.count("class", 0)


def test_pages_do_not_pile_up_and_are_forgotten(clock):
    quota = ByteQuota(10**9, clock)
    for number in range(1_000):
        send(quota, f"page {number}", 1)
    most = len(quota._by_visitor["class"].pages)
    clock.now += 60
    send(quota, "last", 1)

    assert (most, len(quota._by_visitor["class"].pages)) == (256, 1)
