"""What was used lately, by a clock that the test sets."""

from __future__ import annotations

from prompt_debugger.core.base.quota import Quota


def test_what_was_used_is_forgotten_by_half(clock):
    quota = Quota(20.0, 10, clock)
    quota.charge("a", 4.0)
    clock.now += 20.0
    halved = quota.of("a")
    quota.charge("a", 1.0)

    assert (halved, quota.of("a"), quota.of("b")) == (2.0, 3.0, 0.0)


def test_of_too_many_those_who_used_nothing_for_longest_are_forgotten(clock):
    quota = Quota(20.0, 3, clock)
    for name in "abcad":
        quota.charge(name, 1.0)

    assert len(quota) == 3
    assert [quota.of(name) for name in "abcd"] == [2.0, 0.0, 1.0, 1.0]


def test_who_was_there_within_some_seconds_is_known(clock):
    quota = Quota(20.0, 10, clock)
    for name in "abca":
        quota.charge(name, 1.0)
        clock.now += 1.0

    assert list(quota.since(2.5)) == ["a", "c"]
    assert list(quota.since(0.5)) == []
