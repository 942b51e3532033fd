"""The table of releases, from outcomes that a release could give."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse.engines import ParserPair, VllmReleases, read_parser_name
from prompt_debugger.core.pipeline.census import read_raw
from prompt_debugger.core.tools.experiments import ReleaseRow
from prompt_debugger.core.tools.experiments.releases import histories, reads_healthy_call, samples_for


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


def test_a_release_that_reads_no_healthy_call_says_nothing_about_another() -> None:
    def since(*controls: bool) -> list[object]:
        rows = [row("0.1.0"), row("0.2.0"), row("0.3.0", ("f", "{}"))]
        found = histories([replace(one, control=control) for one, control in zip(rows, controls, strict=True)])
        return [(call.since, call.appears_in) for call in found]

    assert since(True, True, True) == [("0.3.0", (("0.2.0", "0.3.0"),))]
    assert since(True, False, True) == [("0.3.0", (("0.1.0", "0.3.0"),))]
    assert since(False, False, False) == [("0.3.0", ())]  # what a release does read, it reads


@pytest.mark.parametrize("family", [name for name, one in FORMATS.items() if one.facts.sample])
def test_the_sample_of_a_family_is_one_whole_call_to_our_own_reader(family: str) -> None:
    parsed = read_raw(FORMATS[family].facts.sample, ReadContext(), message=None).parsed

    assert [(call.name, call.arguments_json, call.status.value) for call in parsed.calls] == [
        ("get_weather", {"city": "Paris"}, "complete"),
    ]
    assert family in (parsed.format, *FORMATS[parsed.format].facts.same_notation)


def test_the_samples_for_a_parser_are_those_of_the_families_that_name_it() -> None:
    assert samples_for(read_parser_name("sglang:kimi_k2")) == (FORMATS["kimi_k2"].facts.sample,)
    assert samples_for(read_parser_name("vllm:mistral"))[0].startswith("[TOOL_CALLS]")
    assert samples_for(read_parser_name("vllm:-+qwen3")) == ()


@pytest.mark.vllm
async def test_the_installed_vllm_reads_the_healthy_call_of_each_family() -> None:
    first = {one.facts.tool_parsers[0] for one in FORMATS.values() if one.facts.sample}
    async with VllmReleases() as releases:
        read = {tool: await reads_healthy_call(releases, ParserPair(tool, None)) for tool in first}

    assert read == dict.fromkeys(first, True)
