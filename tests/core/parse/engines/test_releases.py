"""Real older releases beside today's: what their parsers and their servers did with the same output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine, VllmReleases
from prompt_debugger.core.parse.engines.fetch import CACHE_VARIABLE
from prompt_debugger.core.tools.experiments import bisect_releases
from prompt_debugger.core.tools.experiments.releases import sort_versions

pytestmark = pytest.mark.vllm

NeedRelease = Callable[[str], str]

INSTALLED = "0.32.0"
LEGACY = ("0.11.0", "0.17.0")
OLDER = (*LEGACY, "0.26.0")
ARGUMENTS = '{"query": "rain"}'
TOOL: JSONObject = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
HERMES = f'<tool_call>\n{{"name": "search", "arguments": {ARGUMENTS}}}\n</tool_call>'


def kimi(*headers: str) -> str:
    """Return an output in the Kimi K2 format with calls under these headers."""
    calls = "".join(
        f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>" for header in headers
    )
    return f"Let me see.<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|><|im_end|>"


async def parse(releases: VllmReleases, name: str, raw: str, **more: object) -> VllmOutcome:
    streaming = bool(more.pop("streaming", False))
    fields: dict[str, object] = {"tools": (TOOL,), "finish_reason": "stop", **more}
    output = RawOutput(raw, **fields)  # type: ignore[arg-type]  # fields are spelled above
    outcome = (await releases.parse_with([name], output, streaming=streaming))[name]
    assert isinstance(outcome, VllmOutcome)
    return outcome


def names_of(outcome: VllmOutcome) -> list[object]:
    return [call["function"]["name"] for call in outcome.tool_calls if isinstance(call["function"], dict)]


async def test_kimi_k2_of_0_11_takes_the_id_it_was_taught(releases: VllmReleases, need_release: NeedRelease) -> None:
    outcome = await parse(releases, f"vllm@{need_release('0.11.0')}:kimi_k2", kimi("functions.search:2"))

    assert (names_of(outcome), outcome.content, outcome.finish_reason) == (["search"], "Let me see.", "tool_calls")
    assert (outcome.vllm_version, outcome.layer, outcome.tools_called) == ("0.11.0", "server", True)


async def test_kimi_k2_of_0_11_makes_all_markup_content_when_the_id_has_no_dot(
    releases: VllmReleases, need_release: NeedRelease
) -> None:
    raw = kimi("search:2")

    outcome = await parse(releases, f"vllm@{need_release('0.11.0')}:kimi_k2", raw)

    assert (outcome.tool_calls, outcome.content) == ((), raw.removesuffix("<|im_end|>"))
    assert (outcome.finish_reason, outcome.tools_called, outcome.error) == ("stop", False, None)
    assert "IndexError" in outcome.log[0]


async def test_kimi_k2_of_0_11_says_it_called_and_calls_nothing_when_the_id_has_no_index(
    releases: VllmReleases, need_release: NeedRelease
) -> None:
    outcome = await parse(releases, f"vllm@{need_release('0.11.0')}:kimi_k2", kimi("search"))

    assert (outcome.tool_calls, outcome.content) == ((), "Let me see.")
    assert (outcome.finish_reason, outcome.tools_called) == ("tool_calls", True)


async def test_the_server_of_0_17_no_longer_believes_a_parser_that_calls_nothing(
    releases: VllmReleases, need_release: NeedRelease
) -> None:
    outcome = await parse(releases, f"vllm@{need_release('0.17.0')}:kimi_k2", kimi("search"))

    assert (outcome.tool_calls, outcome.finish_reason, outcome.tools_called) == ((), "stop", True)


@pytest.mark.parametrize("version", OLDER)
async def test_a_healthy_call_is_taken_and_streams_token_by_token(
    releases: VllmReleases, need_release: NeedRelease, version: str
) -> None:
    name, raw = f"vllm@{need_release(version)}:kimi_k2", kimi("functions.search:0")

    outcome = await parse(releases, name, raw, streaming=True)

    assert (["search"], version, None) == (names_of(outcome), outcome.vllm_version, outcome.error)
    assert outcome.finish_reason == "tool_calls"
    assert outcome.usual_stream_equal is True
    assert outcome.splits_tried > 5


async def test_hermes_of_0_11_streams_a_line_end_into_the_arguments(
    releases: VllmReleases, need_release: NeedRelease, lab_model_dir: Path
) -> None:
    name = f"vllm@{need_release('0.11.0')}:hermes"

    outcome = await parse(releases, name, HERMES, tokenizer=lab_model_dir, streaming=True)

    assert outcome.usual_stream_equal is False
    assert outcome.usual_unequal is not None
    assert rf"arguments is '{ARGUMENTS}\n'" in outcome.usual_unequal
    assert outcome.usual_unequal.endswith(r"they diverge at delta 18 of 19, '\n'")


@pytest.mark.parametrize("version", OLDER)
async def test_reasoning_is_cut_off_before_calls_are_looked_for(
    releases: VllmReleases, need_release: NeedRelease, lab_model_dir: Path, version: str
) -> None:
    name = f"vllm@{need_release(version)}:hermes+deepseek_r1"

    outcome = await parse(releases, name, f"<think>Rain?</think>{HERMES}", tokenizer=lab_model_dir)

    assert (outcome.reasoning, names_of(outcome), outcome.error) == ("Rain?", ["search"], None)


@pytest.mark.parametrize("version", OLDER)
async def test_without_tools_no_release_calls(releases: VllmReleases, need_release: NeedRelease, version: str) -> None:
    outcome = await parse(releases, f"vllm@{need_release(version)}:hermes", HERMES, tools=[])

    assert (outcome.tool_calls, outcome.content, outcome.finish_reason) == ((), HERMES, "stop")


@pytest.mark.parametrize("version", LEGACY)
async def test_a_named_choice_makes_the_whole_output_its_arguments(
    releases: VllmReleases, need_release: NeedRelease, version: str
) -> None:
    request: JSONObject = {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "search"}}}

    outcome = await parse(releases, f"vllm@{need_release(version)}:hermes", ARGUMENTS, tools=None, request=request)

    assert (
        [call["function"] for call in outcome.tool_calls],
        outcome.content,
        outcome.finish_reason,
    ) == ([{"name": "search", "arguments": ARGUMENTS}], "", "stop")


@pytest.mark.parametrize("version", LEGACY)
async def test_a_server_that_refuses_is_an_outcome(
    releases: VllmReleases, need_release: NeedRelease, version: str
) -> None:
    request: JSONObject = {"tools": [TOOL], "tool_choice": "required"}

    outcome = await parse(releases, f"vllm@{need_release(version)}:hermes", "no JSON", tools=None, request=request)

    assert outcome.error is not None
    assert "JSON" in outcome.error


async def test_a_parser_that_a_release_has_not_yet_is_an_outcome(
    releases: VllmReleases, need_release: NeedRelease
) -> None:
    outcome = await parse(releases, f"vllm@{need_release('0.11.0')}:qwen3_xml_9", HERMES)

    assert outcome.error is not None
    assert outcome.error.startswith("vLLM 0.11.0 has no tool parser `qwen3_xml_9`")


async def test_the_table_says_which_release_takes_which_call(releases: VllmReleases, need_release: NeedRelease) -> None:
    raw = kimi("functions.search:0").replace("<|im_end|>", "\n") + kimi("find:1")
    versions = (INSTALLED, *map(need_release, OLDER))

    table = await bisect_releases(RawOutput(raw, tools=(TOOL,)), "kimi_k2", versions, releases=releases)

    assert (*OLDER, INSTALLED) == tuple(row.version for row in table.rows)
    assert [row.error for row in table.rows] == [None] * 4
    taken = {call.name: call.taken_by for call in table.calls}
    assert taken["search"][0] == "0.17.0"  # in 0.11.0 the one odd id costs both calls
    assert taken["find"][0] == "0.17.0"
    assert table.calls[0].appears_in == (("0.11.0", "0.17.0"),)


async def test_0_11_makes_one_call_of_two_on_a_line(releases: VllmReleases, need_release: NeedRelease) -> None:
    raw = kimi("functions.search:0", "functions.find:1").replace("rain", "snow", 1)

    table = await bisect_releases(
        RawOutput(raw), "vllm:kimi_k2", ["0.17.0", need_release("0.11.0"), need_release("0.17.0")], releases=releases
    )

    assert [(call.name, call.arguments, call.taken_by) for call in table.calls] == [
        ("search", ARGUMENTS, ("0.11.0",)),  # the arguments of the other one
        ("search", ARGUMENTS.replace("rain", "snow"), ("0.17.0",)),
        ("find", ARGUMENTS, ("0.17.0",)),
    ]
    assert table.calls[0].vanishes_in == table.calls[1].appears_in == (("0.11.0", "0.17.0"),)


async def test_a_release_that_cannot_be_asked_counts_for_nothing(
    releases: VllmReleases, need_release: NeedRelease
) -> None:
    table = await bisect_releases(
        RawOutput(kimi("functions.search:0")), "kimi_k2", [need_release("0.17.0"), "0.0.1"], releases=releases
    )

    assert table.rows[0].outcome is None
    assert "neither installed nor among the releases already downloaded" in str(table.rows[0].error)
    assert [(call.name, call.taken_by, call.appears_in) for call in table.calls] == [("search", ("0.17.0",), ())]


async def test_a_release_that_is_not_there_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, releases: VllmReleases
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))

    with pytest.raises(EngineError, match="neither installed nor") as caught:
        await releases.parse_with(["vllm@0.9.9:hermes"], RawOutput(""))

    assert "python -m prompt_debugger.core.parse.engines 0.9.9" in caught.value.hint


async def test_a_release_that_does_not_import_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    (tmp_path / "0.9.9" / "vllm").mkdir(parents=True)
    (tmp_path / "0.9.9" / "vllm" / "__init__.py").write_text("import a_package_of_old", encoding="utf-8")

    async with VllmReleases() as several:
        with pytest.raises(EngineError) as caught:
            await several.parse_with(["vllm@0.9.9:hermes"], RawOutput(""))

    assert "vLLM 0.9.9 does not run with the installed packages" in caught.value.message
    assert "No module named 'a_package_of_old'" in caught.value.message
    assert "environment" in caught.value.hint


async def test_a_helper_of_one_release_refuses_another(engine: VllmEngine) -> None:
    outcomes = await engine.parse_with([f"vllm@{INSTALLED}:hermes"], RawOutput(HERMES), streaming=False)
    assert len(outcomes) == 1

    with pytest.raises(EngineError, match=r"runs vLLM 0\.32\.0, but vLLM 0\.11\.0 was requested"):
        await engine.parse_with(["vllm@0.11.0:hermes"], RawOutput(HERMES))


def test_versions_are_sorted_as_numbers() -> None:
    assert sort_versions(["0.32.0", "0.9.2", "0.11.0", "0.9.2"]) == ("0.9.2", "0.11.0", "0.32.0")
