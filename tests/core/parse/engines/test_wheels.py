"""The parsers of SGLang, mlx-lm and LMDeploy from their wheels as pip brings them, and transformers' as installed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.parse.engines import WHEELS, RawOutput, VllmParsers, VllmReleases, fetch, read_parser_name
from prompt_debugger.core.parse.engines.fetch import ENGINES_VARIABLE
from prompt_debugger.core.parse.engines.wheels import find_wheel
from prompt_debugger.core.pipeline import CaseParser
from prompt_debugger.core.pipeline.census import read_raw
from prompt_debugger.core.pipeline.parsers import names_of_engine
from prompt_debugger.core.tools.experiments import ReleaseRow, bisect_releases, versions_by_engine
from prompt_debugger.core.tools.experiments.releases import histories
from prompt_debugger.ui.cli.main import main

pytestmark = pytest.mark.vllm

SGLANG, MLX, LMDEPLOY = "sglang==0.5.23", "mlx-lm==0.32.2", "lmdeploy==0.18.0"
TOOL: JSONObject = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
}
ARGUMENTS = '{"query": "rain"}'
HERMES = f'<tool_call>\n{{"name": "search", "arguments": {ARGUMENTS}}}\n</tool_call>'


HARMONY_CALL = (
    f"<|start|>assistant<|channel|>commentary to=functions.search <|constrain|>json<|message|>{ARGUMENTS}<|call|>"
)


def kimi(*headers: str) -> str:
    """Return an output in the Kimi K2 format with calls under these headers."""
    calls = "".join(
        f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>" for header in headers
    )
    return f"Let me see.<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|><|im_end|>"


@pytest.fixture(scope="module")
def wheels() -> None:
    """Have the wheels in the user's cache; skip where pip reaches no index."""
    for requirement in (SGLANG, MLX, LMDEPLOY):
        try:
            fetch(requirement)
        except EngineError as error:
            pytest.skip(f"{requirement} cannot be had: {error.message}")


@pytest.fixture(scope="module")
def engines(wheels: None) -> Iterator[VllmReleases]:
    """All engines by name, their helpers kept warm."""
    found = VllmReleases()
    yield found
    found.close()


async def parse(engines: VllmReleases, name: str, raw: str, *, streaming: bool = False, **more: object) -> VllmOutcome:
    fields: dict[str, object] = {"tools": (TOOL,), "finish_reason": "stop", **more}
    output = RawOutput(raw, **fields)  # type: ignore[arg-type]  # fields are spelled above
    outcome = (await engines.parse_with([name], output, streaming=streaming))[name]
    assert isinstance(outcome, VllmOutcome)
    return outcome


def names_of(outcome: VllmOutcome) -> list[object]:
    return [call["function"]["name"] for call in outcome.tool_calls if isinstance(call["function"], dict)]


async def test_sglang_reads_a_whole_call_and_says_whose_word_it_is(engines: VllmReleases) -> None:
    outcome = await parse(engines, "sglang@0.5.23:kimi_k2", kimi("functions.search:0"))

    assert (names_of(outcome), outcome.content, outcome.finish_reason) == (["search"], "Let me see.", "tool_calls")
    assert (outcome.engine, outcome.release, outcome.layer) == ("sglang", "0.5.23", "parser")
    assert outcome.vllm_version == ""
    assert outcome.tool_calls[0]["id"] == "functions.search:0"


async def test_a_header_without_an_index_is_refused_by_both_each_in_its_own_words(engines: VllmReleases) -> None:
    sglang = await parse(engines, "sglang:kimi_k2", kimi("search"))
    mlx = await parse(engines, "mlx-lm:kimi_k2", kimi("search"))

    assert names_of(sglang) == names_of(mlx) == []
    assert "Unexpected tool_call_id format: search" in (sglang.words or "")
    assert "No tool call found" in (mlx.words or "")
    assert (mlx.engine, mlx.stream_equal) == ("mlx-lm", None)  # it never streams a call


async def test_sglang_is_streamed_by_whole_tokens(engines: VllmReleases, lab_model_dir: Path) -> None:
    for tokenizer in (None, lab_model_dir):
        raw = kimi("functions.search:0", "functions.search:1")
        outcome = await parse(engines, "sglang:kimi_k2", raw, streaming=True, tokenizer=tokenizer)

        assert names_of(outcome) == ["search", "search"]
        assert outcome.usual_stream_equal is True, outcome.first_unequal
        assert outcome.splits_tried > 1
        assert (outcome.stand_in is None) is (tokenizer is not None)


async def test_reasoning_is_taken_out_first(engines: VllmReleases) -> None:
    raw = f"<think>Rain, they ask.</think>\n\nLet me see.\n{HERMES}<|im_end|>"
    sglang = await parse(engines, "sglang:qwen25+qwen3", raw)
    opened = await parse(
        engines, "sglang:qwen25+qwen3", raw.removeprefix("<think>"), prompt_text="assistant\n<think>\n"
    )
    mlx = await parse(engines, "mlx-lm:json_tools", raw)

    for outcome in (sglang, opened, mlx):
        assert (names_of(outcome), (outcome.reasoning or "").strip()) == (["search"], "Rain, they ask.")
        assert (outcome.content or "").strip() == "Let me see."


async def test_without_tools_no_call_is_made(engines: VllmReleases) -> None:
    outcome = await parse(engines, "sglang:qwen25", HERMES, tools=())

    assert (outcome.tool_calls, outcome.content, outcome.finish_reason) == ((), HERMES, "stop")


def test_a_case_without_tools_is_asked_with_those_that_it_calls(wheels: None) -> None:
    case: JSONObject = {"raw": HERMES, "parsers": ["sglang:qwen25"]}
    with CaseParser() as parser:
        called = parser.parse(case).parse.parsers["sglang:qwen25"]
        (table,) = parser.ask_releases(case, ["sglang:qwen25"], ["sglang==0.5.23"])
        none = parser.parse({**case, "tools": []}).parse.parsers["sglang:qwen25"]

    assert [names_of(one) for one in (called, none) if isinstance(one, VllmOutcome)] == [["search"], []]
    assert [call.since for call in table.calls] == ["0.5.23"]


async def test_sglang_keeps_the_end_of_a_harmony_call_and_of_nothing_else(engines: VllmReleases) -> None:
    raw = f"<|channel|>analysis<|message|>Rain.<|end|>{HARMONY_CALL}"
    harmony = await parse(engines, "sglang:gpt-oss+gpt-oss", raw, streaming=True)
    hermes = await parse(engines, "sglang:qwen25", "Dry.<|call|>")

    assert (names_of(harmony), harmony.reasoning, harmony.content) == (["search"], "Rain.", None)
    assert harmony.usual_stream_equal is True
    assert hermes.content == "Dry."


async def test_a_name_that_an_engine_does_not_have_is_an_outcome_with_a_near_one(engines: VllmReleases) -> None:
    outcome = await parse(engines, "sglang:kimi-k2", kimi("functions.search:0"))

    assert outcome.error is not None
    assert "SGLang has no tool parser `kimi-k2`; did you mean `kimi_k2`?" in outcome.error


async def test_engines_stand_next_to_each_other_in_the_order_they_were_asked(engines: VllmReleases) -> None:
    names = ["mlx-lm:json_tools", "vllm:hermes", "sglang:qwen25"]
    outcomes = await engines.parse_with(names, RawOutput(HERMES, tools=(TOOL,)), streaming=False)

    assert list(outcomes) == names
    assert {outcome.engine for outcome in outcomes.values() if isinstance(outcome, VllmOutcome)} == {
        "vllm", "sglang", "mlx-lm",
    }  # fmt: skip


def test_every_parser_of_an_engine_is_asked_by_a_star(
    wheels: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text(HERMES, encoding="utf-8")
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([TOOL]), encoding="utf-8")

    stars = ["--parser", "sglang:*", "--parser", "mlx-lm@0.32.2:*"]
    main(["parse", str(raw), "--tools", str(tools), *stars, "--json"])

    outcomes = json.loads(capsys.readouterr().out)["parsers"]
    assert sum(name.startswith("sglang:") for name in outcomes) >= 40
    assert sum(name.startswith("mlx-lm@0.32.2:") for name in outcomes) >= 12
    assert {"engine": "sglang", "release": "0.5.23", "layer": "parser"}.items() <= outcomes["sglang:qwen25"].items()
    assert len(outcomes["sglang:qwen25"]["tool_calls"]) == 1


def test_every_parser_of_an_engine_is_named_those_of_the_family_first() -> None:
    known = VllmParsers("0.5.23", ("abc", "hermes", "qwen25"), ("other", "qwen3"))
    thinking = read_raw(f"<think>Rain.</think>\n\n{HERMES}<|im_end|>", ReadContext(), message=None).parsed
    plain = read_raw(f"{HERMES}<|im_end|>", ReadContext(), message=None).parsed

    assert names_of_engine("sglang", known, thinking) == [
        "sglang:hermes+qwen3",
        "sglang:qwen25+qwen3",
        "sglang:abc+qwen3",
    ]
    assert names_of_engine("sglang", known, plain) == ["sglang:hermes", "sglang:qwen25", "sglang:abc"]


@pytest.mark.parametrize(("section", "first"), [("tool_calls", "deepseekv4"), ("function_calls", "deepseekv32")])
def test_the_parser_of_the_model_that_an_output_shows_is_named_first(section: str, first: str) -> None:
    known = VllmParsers("0.5.23", ("abc", "deepseekv32", "deepseekv4"), ())
    raw = (
        f'<｜DSML｜{section}>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">b'
        f"</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜{section}>"
    )
    parsed = read_raw(raw, ReadContext(), message=None).parsed

    assert names_of_engine("sglang", known, parsed, raw)[0] == f"sglang:{first}"
    assert names_of_engine("sglang", known, parsed)[0] == "sglang:deepseekv32"


async def test_a_call_is_followed_through_the_releases_of_any_engine(engines: VllmReleases) -> None:
    output = RawOutput(kimi("functions.search:0"), tools=(TOOL,))

    table = await bisect_releases(output, "mlx-lm:kimi_k2", ["0.32.2", "0.0.1"], releases=engines)

    assert table.parser == "mlx-lm:kimi_k2"
    assert [row.version for row in table.rows] == ["0.0.1", "0.32.2"]
    assert "0.0.1 has not been fetched" in (table.rows[0].error or "")
    assert [call.since for call in table.calls] == ["0.32.2"]


def test_a_call_is_read_since_the_first_of_the_last_releases_that_all_take_it() -> None:
    call: JSONObject = {"function": {"name": "search", "arguments": ARGUMENTS}}
    taking, not_taking = VllmOutcome(None, None, (call,)), VllmOutcome(None, None, ())

    def since(*outcomes: VllmOutcome | None) -> list[str | None]:
        return [one.since for one in histories([ReleaseRow(str(at), one) for at, one in enumerate(outcomes)])]

    assert since(not_taking, taking, None, taking) == ["1"]
    assert since(taking, not_taking, taking) == ["2"]
    assert since(taking, not_taking) == [None]
    assert since(not_taking) == []


def test_releases_are_named_with_their_engine_and_an_engine_without_a_parser_is_refused() -> None:
    assert versions_by_engine(["0.11.0", "sglang==0.5.23"], "vllm") == {"vllm": ["0.11.0"], "sglang": ["0.5.23"]}
    with CaseParser() as parser, pytest.raises(EngineError) as unread:
        parser.ask_releases({"raw": "Text."}, [], ["sglang==0.5.23", "mlx-lm==0.32.2"])
    with CaseParser() as parser, pytest.raises(EngineError) as unknown:
        parser.ask_releases({"raw": HERMES}, ["vllm:hermes"], ["ollama==0.9.0"])
    assert unread.value.message.startswith("SGLang and mlx-lm have no parser for this output")
    assert unread.value.hint == "Name the parser to test, such as `sglang:NAME`."
    assert "`ollama` is not an engine whose releases can be tested" in unknown.value.message


async def test_a_release_that_was_not_fetched_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(ENGINES_VARIABLE, str(tmp_path))

    with pytest.raises(EngineError) as caught:
        await VllmReleases().parse_with(["sglang:qwen25"], RawOutput(HERMES))

    assert "parse --fetch sglang==" in (caught.value.hint or "")
    for engine, wheel in WHEELS.items():
        assert (find_wheel(engine, None) is None) is not wheel.comes_with_vllm


@pytest.mark.parametrize("requirement", ["rapid-mlx==0.16.10", "vllm-mlx==0.6.0", "Rapid_MLX", "vllm-mlx==latest"])
def test_an_engine_with_parsers_that_are_not_asked_is_told_from_a_name_that_is_no_engine_s(requirement: str) -> None:
    name = requirement.partition("==")[0]
    for ask in (
        lambda: fetch(requirement),
        lambda: read_parser_name(f"{name}@1.0:hermes"),
        lambda: CaseParser().ask_releases({"raw": HERMES}, ["vllm:hermes"], [f"{name}==1.0"]),
    ):
        with pytest.raises(EngineError, match="cannot be asked here, only those of vLLM, SGLang, mlx-lm") as caught:
            ask()
        assert caught.value.hint
    for other in ("rapid-mlx-server==1.0", "mlx==1.0", "vllm-mlx2==1"):
        with pytest.raises(EngineError, match="is not an engine whose parsers can be fetched"):
            fetch(other)


@pytest.mark.parametrize("requirement", ["sglang", "sglang==latest", "ollama==1.0.0", "sglang==../../x", ""])
def test_what_cannot_be_fetched_is_refused_before_pip_is_asked(requirement: str) -> None:
    with pytest.raises(EngineError) as caught:
        fetch(requirement)

    assert caught.value.hint


async def test_mlx_reads_a_call_that_ends_reasoning_as_its_server_does(engines: VllmReleases) -> None:
    unclosed = await parse(engines, "mlx-lm:json_tools", f"<think>Rain, they ask.\n{HERMES}<|im_end|>", streaming=True)
    cut = await parse(engines, "mlx-lm:json_tools", "Is 1 <", finish_reason="length")
    stopped = await parse(engines, "mlx-lm:json_tools", "Is 1 <")

    assert (names_of(unclosed), unclosed.reasoning) == (["search"], "Rain, they ask.\n")
    assert unclosed.usual_stream_equal is True
    assert (cut.content, stopped.content) == ("Is 1 <", "Is 1 ")  # what may begin a marker is dropped at a stop


async def test_sglang_reads_a_required_call_as_its_server_makes_it_written(engines: VllmReleases) -> None:
    required: JSONObject = {"tools": [TOOL], "tool_choice": "required"}
    array = f'[{{"name": "search", "parameters": {ARGUMENTS}}}]'
    as_json = await parse(engines, "sglang:pythonic", array, request=required, tools=None, streaming=True)
    native = await parse(engines, "sglang:qwen25", HERMES, request=required, tools=None)

    assert (names_of(as_json), as_json.finish_reason) == (["search"], "tool_calls")
    assert as_json.usual_stream_equal is True
    assert names_of(native) == ["search"]


async def test_ids_of_kimi_k2_count_on_from_the_conversation(engines: VllmReleases) -> None:
    earlier: JSONObject = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "search"}}]}
    request: JSONObject = {"tools": [TOOL], "messages": [earlier]}
    outcome = await parse(engines, "sglang:kimi_k2", kimi("functions.search:0"), request=request, tools=None)

    assert outcome.tool_calls[0]["id"] == "functions.search:1"


async def test_lmdeploy_reads_calls_between_its_tags_and_takes_the_beginning_for_reasoning(
    engines: VllmReleases,
) -> None:
    raw = f"<think>Rain.</think>Let me see.\n{HERMES}<|im_end|>"
    both = await parse(engines, "lmdeploy@0.18.0:qwen3+default", raw, streaming=True)
    unthinking = await parse(engines, "lmdeploy:qwen3+default", HERMES)
    plain = await parse(engines, "lmdeploy:qwen3+default", "It rains.")
    off: JSONObject = {"tools": [TOOL], "chat_template_kwargs": {"enable_thinking": False}}
    switched_off = await parse(engines, "lmdeploy:qwen3+default", HERMES, request=off, tools=None)

    assert (names_of(both), both.reasoning, (both.content or "").strip()) == (["search"], "Rain.", "Let me see.")
    assert (both.usual_stream_equal, both.finish_reason, both.layer) == (True, "tool_calls", "parser")
    assert (names_of(unthinking), unthinking.reasoning) == (["search"], None)  # a call ends or interrupts reasoning
    assert (plain.reasoning, plain.content) == ("It rains.", None)
    assert names_of(switched_off) == ["search"]


async def test_lmdeploy_returns_a_cut_call_as_far_as_it_came_whole_and_streamed(engines: VllmReleases) -> None:
    cut = HERMES[: HERMES.index("rain")]
    outcome = await parse(engines, "lmdeploy:qwen3", cut, streaming=True, finish_reason="length")
    (call,) = outcome.tool_calls

    assert call["function"] == {"name": "search", "arguments": '{"query": "'}
    assert (outcome.content, outcome.finish_reason, outcome.usual_stream_equal) == (None, "length", True)


async def test_lmdeploy_s_own_words_stand_beside_what_it_refuses(engines: VllmReleases, lab_model_dir: Path) -> None:
    outcome = await parse(engines, "lmdeploy:qwen3+deepseek-v5", HERMES)

    assert "LMDeploy has no reasoning parser `deepseek-v5`; did you mean `deepseek-v" in (outcome.error or "")


async def test_transformers_reads_by_the_template_of_the_model_s_type(engines: VllmReleases) -> None:
    raw = f"<think>Rain.</think>Let me see.\n{HERMES}<|im_end|>"
    outcome = await parse(engines, "transformers:qwen2", raw, streaming=True)
    cut = await parse(engines, "transformers:qwen2", raw, finish_reason="length")
    broken = await parse(engines, "transformers:qwen2", raw.replace("}}", "}"))

    assert (names_of(outcome), outcome.reasoning, outcome.content) == (["search"], "Rain.", "Let me see.")
    assert (outcome.engine, outcome.finish_reason, cut.finish_reason) == ("transformers", "tool_calls", "tool_calls")
    assert "JSON" in (broken.error or "")


async def test_transformers_reads_by_the_model_s_own_template_where_it_ships_one(
    engines: VllmReleases, lab_model_dir: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(lab_model_dir, model)
    config = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    calls = {"open": "<tool_call>", "close": "</tool_call>", "repeats": True, "content": "json",
             "transform": {"type": "function", "function": "{content}"}}  # fmt: skip
    config["response_template"] = {
        "start_anchor": "assistant",
        "fields": {"tool_calls": calls, "content": {"content": "text"}},
    }
    (model / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")

    own = await parse(engines, "transformers:response_template", f"Look.{HERMES}", tokenizer=model)
    without = await parse(engines, "transformers:response_template", HERMES, tokenizer=lab_model_dir)
    no_model = await parse(engines, "transformers:response_template", HERMES)

    assert (names_of(own), own.content) == (["search"], "Look.")
    assert "the model's tokenizer has none" in (without.error or "")
    assert "no tokenizer was given" in (no_model.error or "")
