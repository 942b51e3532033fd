"""Which of a family's models a template shows, by what the near misses do not have."""

from __future__ import annotations

import pytest

from prompt_debugger.core.complete import ENGINES, parser_names_of
from prompt_debugger.core.formats import FORMATS, checkpoint_in


@pytest.mark.parametrize(
    ("family", "text", "tool", "reasoning"),
    [
        ("qwen3_coder", "{{- '<|im_start|>tool_response\\n' }}", "step3p5", "step3p5"),
        ("qwen3_coder", "{% set truncate_history_thinking = true %}", "qwen3_coder", "nemotron_v3"),
        ("deepseek_v32", "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=", "deepseek_v4", "deepseek_v4"),
        ("deepseek_v32", "<｜DSML｜ calls>", "deepseek_v41", "deepseek_v41"),
        ("glm45", "〈|EOS|〉<user>\n<tool_call>f<arg_key>a", "poolside_v1", "poolside_v1"),
        ("glm45", "<role>HUMAN</role>x<|role_end|>", "ling3", "ling3"),
        ("glm45", "<tool_call>{function-name}<arg_key>{arg-key-1}", "glm47", "glm45"),
        ("glm45", "<|assistant|><tool_call>get_weather<arg_key>city", "glm47", "glm45"),
    ],
)
def test_a_template_or_what_it_renders_shows_the_model(family: str, text: str, tool: str, reasoning: str) -> None:
    found = checkpoint_in(family, text)

    assert found is not None
    names = parser_names_of("vllm", family, found[0])
    assert (names.tools[0], names.reasonings[0]) == (tool, reasoning)
    assert set(parser_names_of("vllm", family).tools) <= set(names.tools)


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen3_coder", "<|im_start|>user\n<tool_response>\n<|im_start|>tool\n"),
        ("qwen3_coder", "keep_history_thinking"),
        ("deepseek_v32", "<｜DSML｜function_calls>"),
        ("glm45", "<|user|><tool_call>{function-name}\n<arg_key>"),
        ("hermes", "<|im_start|>tool_response"),
        (None, "〈|EOS|〉"),
    ],
)
def test_what_no_such_model_shows_is_none_of_them(family: str | None, text: str) -> None:
    assert checkpoint_in(family, text) is None


def test_a_model_names_parsers_of_engines_that_there_are() -> None:
    for family in FORMATS.values():
        for one in family.facts.checkpoints:
            assert one.parser_names
            assert set(one.parser_names) <= set(ENGINES)


def test_a_model_that_one_engine_alone_has_a_parser_for_shows_nothing_to_the_others() -> None:
    text = "<｜start▁of▁sentence｜><|Bot|><think>\n<tool_call>get_weather<arg_key>city</arg_key>"
    found = checkpoint_in("glm45", text)

    assert found is not None
    assert found[0].parser_names.keys() == {"sglang"}
    assert parser_names_of("sglang", "glm45", found[0]).tools[0] == "spark25"
    assert parser_names_of("vllm", "glm45", found[0]) == parser_names_of("vllm", "glm45")
    near = checkpoint_in("glm45", text.replace("<|Bot|>", "<｜Assistant｜>"))
    assert near is not None
    assert near[0].parser_names["vllm"].tools == ("glm47",)


@pytest.mark.parametrize(
    "piece", ["<tool_call>", "<tool_call>a", "〈|EOS", "<|im_start|>tool", "<｜DSML｜", "<｜start"]
)
def test_a_flood_is_searched_in_little_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))

    for family in ("glm45", "qwen3_coder", "deepseek_v32"):
        assert checkpoint_in(family, text) is None
