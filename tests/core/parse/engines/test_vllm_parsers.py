"""What vLLM 0.32's parsers really do with outputs of the kinds that go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import JSONObject, ParserOutcome, VllmOutcome
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine
from prompt_debugger.core.parse.engines.vllm_worker.vocabulary import suffixed_tags, token_suffix

pytestmark = pytest.mark.vllm

ARGUMENTS = '{"city": "Beijing"}'
TOOL: JSONObject = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
KIMI = (
    "Let me check.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    f"{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|><|im_end|>"
)
HERMES = f'<tool_call>\n{{"name": "get_weather", "arguments": {ARGUMENTS}}}\n</tool_call>'


async def parse(engine: VllmEngine, parser: str, raw: str, **more: object) -> VllmOutcome:
    how = {name: more.pop(name) for name in ("seed", "thorough") if name in more}
    output = RawOutput(raw, **{"tools": (TOOL,), **more})  # type: ignore[arg-type]  # fields are spelled above
    outcomes = await engine.parse_with([parser], output, **how)  # type: ignore[arg-type]  # spelled above
    outcome = outcomes[parser]
    assert isinstance(outcome, VllmOutcome)
    return outcome


def calls_of(outcome: VllmOutcome) -> list[tuple[object, object, object]]:
    found: list[tuple[object, object, object]] = []
    for call in outcome.tool_calls:
        function = call["function"]
        assert isinstance(function, dict)
        found.append((call["id"], function["name"], function["arguments"]))
    return found


def has_the_call(outcome: ParserOutcome) -> bool:
    assert isinstance(outcome, VllmOutcome)
    return [call[1:] for call in calls_of(outcome)] == [("get_weather", ARGUMENTS)]


def stand_in_of(outcome: ParserOutcome) -> str | None:
    assert isinstance(outcome, VllmOutcome)
    return outcome.stand_in


async def test_a_healthy_call_is_parsed_and_streams_alike(engine: VllmEngine, lab_model_dir: Path) -> None:
    outcome = await parse(engine, "vllm:kimi_k2", KIMI, tokenizer=lab_model_dir, finish_reason="stop")

    assert calls_of(outcome) == [("functions.get_weather:0", "get_weather", ARGUMENTS)]
    assert (outcome.content, outcome.reasoning, outcome.error) == ("Let me check.", None, None)
    assert (outcome.finish_reason, outcome.stream_equal, outcome.first_unequal) == ("tool_calls", True, None)
    assert outcome.splits_tried >= 6
    assert (outcome.stand_in, outcome.vllm_version) == (None, "0.32.0")


async def test_a_kimi_header_without_index_is_dropped_silently(engine: VllmEngine, lab_model_dir: Path) -> None:
    raw = KIMI.replace("functions.get_weather:0", "get_weather")

    outcome = await parse(engine, "vllm:kimi_k2", raw, tokenizer=lab_model_dir, finish_reason="stop")

    assert (outcome.tool_calls, outcome.content, outcome.error, outcome.log) == ((), "Let me check.", None, ())
    assert outcome.finish_reason == "stop"


async def test_bad_json_makes_all_of_hermes_output_content_and_streaming_repairs_it(
    engine: VllmEngine, lab_model_dir: Path
) -> None:
    raw = HERMES.replace("}}", "}")

    outcome = await parse(engine, "vllm:hermes", raw, tokenizer=lab_model_dir)

    assert (outcome.tool_calls, outcome.content) == ((), raw)
    assert "Error in extracting tool call" in outcome.log[0]
    assert outcome.stream_equal is False
    assert outcome.first_unequal is not None
    assert "content is ''" in outcome.first_unequal or "1 tool call" in outcome.first_unequal


async def test_the_wrong_parser_destroys_content(engine: VllmEngine, lab_model_dir: Path) -> None:
    outcome = await parse(engine, "vllm:qwen3_coder", HERMES, tokenizer=lab_model_dir)

    assert (outcome.tool_calls, outcome.content or "") == ((), "")


async def test_a_call_cut_off_is_a_phantom_call_whose_finish_reason_hides_the_cut(
    engine: VllmEngine, lab_model_dir: Path
) -> None:
    raw = KIMI[: KIMI.index("jing")]

    outcome = await parse(engine, "vllm:kimi_k2", raw, tokenizer=lab_model_dir, finish_reason="length")

    assert calls_of(outcome) == [("functions.get_weather:0", "get_weather", '{"city": "Bei')]
    assert outcome.finish_reason == "tool_calls"


async def test_a_parser_that_raises_has_an_error(engine: VllmEngine, lab_model_dir: Path) -> None:
    raw = '<|action_start|><|plugin|>{"name": "get_weather", "parameters": {"city": "Bei'

    outcome = await parse(engine, "vllm:internlm", raw, tokenizer=lab_model_dir)

    assert outcome.error is not None
    assert "JSONDecodeError" in outcome.error


async def test_streaming_that_loses_everything_is_reported(engine: VllmEngine, lab_model_dir: Path) -> None:
    raw = f'functools[{{"name": "get_weather", "arguments": {ARGUMENTS}}}]'

    outcome = await parse(engine, "vllm:phi4_mini_json", raw, tokenizer=lab_model_dir)

    assert [(name, json.loads(str(arguments))) for _, name, arguments in calls_of(outcome)] == [
        ("get_weather", json.loads(ARGUMENTS))
    ]
    assert (outcome.stream_equal, outcome.usual_stream_equal) == (False, False)
    assert outcome.first_unequal == "fed as one delta: 0 tool calls but parsing the whole output gives 1 tool call"


async def test_a_marker_spelled_with_ordinary_tokens_is_a_call_only_when_parsed_whole(
    engine: VllmEngine, lab_model_dir: Path
) -> None:
    from tokenizers import Tokenizer

    vocabulary = Tokenizer.from_file(str(lab_model_dir / "tokenizer.json"))
    spelled = [token_id for char in KIMI.removesuffix("<|im_end|>") for token_id in vocabulary.encode(char).ids]

    outcome = await parse(
        engine, "vllm:kimi_k2", KIMI.removesuffix("<|im_end|>"), token_ids=spelled, tokenizer=lab_model_dir
    )

    assert len(outcome.tool_calls) == 1
    assert outcome.usual_stream_equal is False


async def test_reasoning_depends_on_the_effective_template_kwargs(engine: VllmEngine, lab_model_dir: Path) -> None:
    shown = await parse(
        engine, "vllm:-+kimi_k2", "Hello.", tokenizer=lab_model_dir, template_kwargs={"thinking": False}
    )
    untold = await parse(engine, "vllm:-+kimi_k2", "Hello.", tokenizer=lab_model_dir)

    assert (shown.reasoning, shown.content) == (None, "Hello.")
    assert (untold.reasoning, untold.content) == ("Hello.", None)


async def test_template_kwargs_are_taken_from_the_request(engine: VllmEngine, lab_model_dir: Path) -> None:
    request: JSONObject = {"messages": [], "chat_template_kwargs": {"thinking": False}}

    outcome = await parse(engine, "vllm:-+kimi_k2", "Hello.", tokenizer=lab_model_dir, request=request)

    assert outcome.content == "Hello."


async def test_an_end_of_reasoning_in_the_prompt_turns_streaming_only(engine: VllmEngine, lab_model_dir: Path) -> None:
    raw = "Thinking.</think>Hello."

    outcome = await parse(engine, "vllm:-+deepseek_r1", raw, tokenizer=lab_model_dir, prompt_text="<think>old</think>")

    assert (outcome.reasoning, outcome.content) == ("Thinking.", "Hello.")
    assert outcome.usual_stream_equal is False


async def test_without_tools_no_call_is_made_and_markup_is_deleted(engine: VllmEngine, lab_model_dir: Path) -> None:
    outcome = await parse(engine, "vllm:kimi_k2+kimi_k2", "<think></think>" + KIMI, tools=[], tokenizer=lab_model_dir)

    assert (outcome.tool_calls, outcome.content) == ((), "Let me check.")


async def test_special_tokens_are_stripped_first_when_there_is_neither_tool_nor_reasoning_parser(
    engine: VllmEngine, lab_model_dir: Path
) -> None:
    outcome = await parse(engine, "vllm:kimi_k2", KIMI, tools=[], tokenizer=lab_model_dir)

    assert outcome.content == f"Let me check.functions.get_weather:0{ARGUMENTS}"


async def test_parallel_calls_can_be_forbidden(engine: VllmEngine, lab_model_dir: Path) -> None:
    raw = HERMES + "\n" + HERMES

    both = await parse(engine, "vllm:hermes", raw, tokenizer=lab_model_dir)
    one = await parse(
        engine, "vllm:hermes", raw, tokenizer=lab_model_dir, request={"parallel_tool_calls": False}, tools=[TOOL]
    )

    assert (len(both.tool_calls), len(one.tool_calls)) == (2, 1)


async def test_stop_strings_cut_the_text_as_the_server_does(engine: VllmEngine, lab_model_dir: Path) -> None:
    outcome = await parse(
        engine, "vllm:hermes", "One. Two. Three.", tokenizer=lab_model_dir, request={"stop": ["Two"]}, tools=[TOOL]
    )

    assert outcome.content == "One. "


async def test_ids_of_another_vocabulary_do_not_matter(engine: VllmEngine, lab_model_dir: Path) -> None:
    outcome = await parse(engine, "vllm:kimi_k2", KIMI, token_ids=[1, 2, 300_000], tokenizer=lab_model_dir)

    assert len(outcome.tool_calls) == 1


async def test_a_tokenizer_without_the_markers_is_stood_in_for(engine: VllmEngine, lab_model_dir: Path) -> None:
    raw = (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        f"{ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
    )

    outcome = await parse(engine, "vllm:deepseek_v31", raw, tokenizer=lab_model_dir)

    assert [call[1:] for call in calls_of(outcome)] == [("get_weather", ARGUMENTS)]
    assert outcome.stand_in is not None
    assert "could not locate" in outcome.stand_in
    assert outcome.usual_stream_equal is True


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (KIMI, {"kimi_k2"}),
        (HERMES, {"hermes", "qwen3_json", "granite4", "ernie45", "llama3_json", "llama4_json"}),
        (f"[TOOL_CALLS]get_weather[ARGS]{ARGUMENTS}</s>", {"mistral"}),
        ('[get_weather(city="Beijing")]', {"pythonic", "llama4_pythonic"}),
        (
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nBeijing\n</parameter>\n</function>\n</tool_call>",
            {"qwen3_coder", "qwen3_xml", "step3p5", "seed_oss"},
        ),
        ("Nothing to call here.", set()),
    ],
)
async def test_the_matrix_says_which_parser_would_have_read_it(
    engine: VllmEngine, raw: str, expected: set[str]
) -> None:
    outcomes = await engine.matrix(RawOutput(raw, tools=(TOOL,)))

    right = {name.removeprefix("vllm:") for name, outcome in outcomes.items() if has_the_call(outcome)}
    assert expected == right
    assert len(outcomes) == 54
    owners = {name for name, outcome in outcomes.items() if not outcome.error and stand_in_of(outcome) is None}
    assert owners == {"vllm:openai"}  # harmony's vocabulary comes with the package that reads it


async def test_without_tools_and_request_any_tool_may_be_called(engine: VllmEngine) -> None:
    outcomes = await engine.parse_with(["vllm:hermes", "vllm:kimi_k2"], RawOutput(HERMES))

    assert [len(outcome.tool_calls) for outcome in outcomes.values()] == [1, 0]


async def test_an_unknown_parser_is_an_outcome_that_names_the_closest(engine: VllmEngine) -> None:
    outcome = await parse(engine, "vllm:kimi_k3000", "x")

    assert outcome.error == "vLLM 0.32.0 has no tool parser `kimi_k3000`; did you mean `kimi_k3`?"


@pytest.mark.parametrize("name", ["kimi_k2", "vllm:", "vllm:+x", "vllm:x+", "vllm:-"])
async def test_what_is_not_a_parser_name_is_refused(engine: VllmEngine, name: str) -> None:
    with pytest.raises(EngineError, match="is not the name of a vLLM parser"):
        await engine.parse_with([name], RawOutput("x"))


async def test_a_request_that_vllm_refuses_is_an_outcome(engine: VllmEngine) -> None:
    outcome = await parse(engine, "vllm:hermes", "x", tools=[{"type": "function", "function": {"name": 3}}])

    assert outcome.error is not None
    assert "function.name" in outcome.error


@pytest.mark.parametrize("raw", ["", "\ud800", "\x00", "🙂" * 50, "<|im_end|>"])
async def test_odd_texts_are_outcomes(engine: VllmEngine, lab_model_dir: Path, raw: str) -> None:
    outcomes = await engine.parse_with(["vllm:kimi_k2", "vllm:hermes"], RawOutput(raw, tokenizer=lab_model_dir))

    assert len(outcomes) == 2


def test_a_program_without_a_loop_can_wait(engine: VllmEngine) -> None:
    outcomes = engine.wait(engine.parse_with(["vllm:hermes"], RawOutput(HERMES)))

    assert len(outcomes["vllm:hermes"].tool_calls) == 1


async def test_a_folder_without_tokenizer_is_an_error_that_shows_no_path(engine: VllmEngine, tmp_path: Path) -> None:
    outcome = await parse(engine, "vllm:hermes", HERMES, tokenizer=tmp_path)

    assert outcome.error is not None
    assert str(tmp_path.parent) not in outcome.error


async def test_the_delta_at_which_streaming_parts_is_named(engine: VllmEngine, lab_model_dir: Path) -> None:
    raw = f'Hi <tool_calls>[{{"name": "get_weather", "arguments": {ARGUMENTS}}}]</tool_calls>'

    outcome = await parse(engine, "vllm:jamba", raw, tokenizer=lab_model_dir)

    assert (outcome.stream_equal, outcome.smallest_split, outcome.parts_at) == (False, (raw,), 0)
    assert outcome.usual_unequal is not None
    assert "fed token by token" in outcome.usual_unequal
    assert "they diverge at delta" in outcome.usual_unequal
    assert outcome.usual_unequal.endswith("'Beijing'")


async def test_the_smallest_split_is_the_output_cut_in_pieces(engine: VllmEngine, lab_model_dir: Path) -> None:
    from tokenizers import Tokenizer

    vocabulary = Tokenizer.from_file(str(lab_model_dir / "tokenizer.json"))
    spelled = [token_id for char in "<think>" for token_id in vocabulary.encode(char).ids]
    ids = [*spelled, *vocabulary.encode("a</think>b").ids]

    outcome = await parse(engine, "vllm:-+kimi_k2", "<think>a</think>b", token_ids=ids, tokenizer=lab_model_dir)

    assert outcome.stream_equal is False
    assert "".join(outcome.smallest_split) == "<think>a</think>b"
    assert outcome.parts_at is not None
    assert 0 <= outcome.parts_at < len(outcome.smallest_split)


async def test_a_call_that_streaming_never_brings_parts_where_its_arguments_begin(
    engine: VllmEngine, lab_model_dir: Path
) -> None:
    raw = f'functools[{{"name": "f", "arguments": {ARGUMENTS}}}]'

    outcome = await parse(engine, "vllm:phi4_mini_json", raw, tokenizer=lab_model_dir)

    assert outcome.usual_unequal is not None
    assert "0 tool calls but parsing the whole output gives 1 tool call; they diverge at delta" in outcome.usual_unequal
    assert "{" in outcome.usual_unequal.rpartition("they diverge at")[2]


async def test_the_same_seed_gives_the_same_answer(engine: VllmEngine, lab_model_dir: Path) -> None:
    first, second = [await parse(engine, "vllm:jamba", KIMI, tokenizer=lab_model_dir, seed=7) for _ in range(2)]

    assert first == second


async def test_a_thorough_look_names_every_chunking_and_shows_both_messages(
    engine: VllmEngine, lab_model_dir: Path
) -> None:
    raw = f'Hi <tool_calls>[{{"name": "get_weather", "arguments": {ARGUMENTS}}}]</tool_calls>'

    outcome = await parse(engine, "vllm:jamba", raw, tokenizer=lab_model_dir, thorough=True, seed=4)

    names = [trial.name for trial in outcome.trials]
    assert names[:2] == ["token by token", "as one delta"]
    assert {"2 tokens at a time", "16 tokens at a time"} <= set(names)
    assert any(name.endswith("seed 4") for name in names)
    assert any(name.startswith("one cut, after token 1 ") for name in names)
    assert len(names) == outcome.splits_tried
    assert outcome.parting is not None
    before, after, streamed = outcome.parting
    assert outcome.parts_at == 0
    assert before is None
    assert after is not None
    assert after == streamed
    assert after["tool_calls"] != list(outcome.tool_calls)


async def test_a_thorough_look_at_a_healthy_output_finds_no_parting(engine: VllmEngine, lab_model_dir: Path) -> None:
    outcome = await parse(engine, "vllm:kimi_k2", KIMI, tokenizer=lab_model_dir, thorough=True)

    assert outcome.stream_equal is True
    assert len(outcome.trials) > 20
    assert [trial for trial in outcome.trials if trial.difference is not None] == []
    assert outcome.parting is None


async def test_harmony_s_parsers_have_its_vocabulary_each_with_the_parsers_that_were_named(engine: VllmEngine) -> None:
    call = f"<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{ARGUMENTS}<|call|>"
    raw = f"<|channel|>analysis<|message|>Rain.<|end|><|start|>assistant{call}"
    names = ["vllm:openai+openai_gptoss", "vllm:-+openai_gptoss", "vllm:openai", "vllm:hermes"]

    outcomes = await engine.parse_with(names, RawOutput(raw))

    assert [has_the_call(one) for one in outcomes.values()] == [True, False, True, False]
    assert [stand_in_of(one) for one in outcomes.values()] == [None, None, None, "no tokenizer was given"]
    assert getattr(outcomes["vllm:openai+openai_gptoss"], "reasoning", None) == "Rain."


@pytest.mark.parametrize("suffix", ["", ":opensource", ":x1"])
async def test_a_checkpoint_that_spells_its_tags_with_a_suffix_is_read_without_its_tokenizer(
    engine: VllmEngine, suffix: str
) -> None:
    raw = (
        "<tool_calls>\n<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Beijing</arg_value>\n"
        "</tool_call>\n</tool_calls>"
    ).replace(">", f"{suffix}>")

    outcome = await parse(engine, "vllm:hy_v3+hy_v3", raw)

    assert has_the_call(outcome)
    assert stand_in_of(outcome) == "no tokenizer was given"


def test_what_only_looks_like_a_suffix_is_none() -> None:
    assert suffixed_tags("<tool_call>a:b</tool_call><think: x><tool_callx:y><svg:arg_key>") == []
    assert token_suffix([*suffixed_tags("<think:opensource>a</think:opensource>"), "<tool_call>"]) == ":opensource"
    assert token_suffix(["<tool_call>"]) == ""
    assert suffixed_tags("<tool_call:" * 20_000) == []
