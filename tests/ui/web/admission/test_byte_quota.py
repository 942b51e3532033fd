"""How much a visitor may send within a minute."""

from __future__ import annotations

import pytest

from prompt_debugger.ui.web.admission.byte_quota import ByteQuota
from prompt_debugger.ui.web.admission.payloads import PayloadError
from tests.clock import Clock


def test_who_sent_too_much_within_a_minute_is_refused_until_it_is_over(clock):
    intake = ByteQuota(100, clock)
    intake.count("me", 60)
    clock.now += 20
    intake.count("me", 60)

    with pytest.raises(PayloadError, match="go on in 40 s") as caught:
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
