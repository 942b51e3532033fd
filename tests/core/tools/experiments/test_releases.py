"""The table of releases, from outcomes that a release could give."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.tools.experiments import ReleaseRow
from prompt_debugger.core.tools.experiments.releases import histories


def row(version: str, *calls: tuple[str, str]) -> ReleaseRow:
    made: tuple[JSONObject, ...] = tuple({"function": {"name": name, "arguments": text}} for name, text in calls)
    return ReleaseRow(version, VllmOutcome(reasoning=None, content=None, tool_calls=made))


def test_a_call_that_vanishes_and_comes_back_is_reported_with_the_releases_around_it() -> None:
    call = ("search", '{"a": 1}')

    found = histories([row("0.1.0", call), row("0.2.0"), row("0.3.0"), row("0.4.0", call)])

    assert [(one.taken_by, one.vanishes_in, one.appears_in) for one in found] == [
        (("0.1.0", "0.4.0"), (("0.1.0", "0.2.0"),), (("0.3.0", "0.4.0"),))
    ]


def test_arguments_written_differently_are_the_same_call() -> None:
    found = histories([row("0.1.0", ("f", '{"a": 1, "b": 2}')), row("0.2.0", ("f", '{"b":2,"a":1}'))])

    assert [(one.arguments, one.taken_by) for one in found] == [('{"a": 1, "b": 2}', ("0.1.0", "0.2.0"))]


def test_the_same_call_twice_is_two_calls() -> None:
    found = histories([row("0.1.0", ("f", "{}"), ("f", "{}")), row("0.2.0", ("f", "{}"))])

    assert [one.vanishes_in for one in found] == [(), (("0.1.0", "0.2.0"),)]


def test_a_release_that_could_not_be_asked_is_stepped_over() -> None:
    found = histories([row("0.1.0", ("f", "{")), ReleaseRow("0.2.0", None, "gone"), row("0.3.0")])

    assert found[0].vanishes_in == (("0.1.0", "0.3.0"),)
