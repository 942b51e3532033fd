"""A model's name bears a parser's only where whole parts and the version agree; a near miss says nothing."""

import pytest

from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.named import has_name_of
from prompt_debugger.core.tools.check.recommend import Ranking, recommend

RIGHT, WRONG = Cell(True, True, None), Cell(False, None, "it loses it")
BORN = [
    ("openbmb/MiniCPM5-1B", "minicpm5"),
    ("zai-org/GLM-4.5-Air@main", "glm45"),
    ("granite-4.0-h-tiny", "granite4"),
    ("Step-3.5-Flash", "step3p5"),
    ("DeepSeek-V3.2", "deepseek_v32"),
    ("models/Qwen3-Coder-30B", "qwen3_coder"),
    ("Hermes-3-Llama-3.1-8B", "hermes"),
]
NEAR_MISSES = [
    ("minicpmv45", "minicpm5"),
    ("MiniCPM-V-4.5", "minicpm5"),
    ("MiniCPM-o-2.6", "minicpm5"),
    ("MiniCPM5.1", "minicpm5"),
    ("DeepSeek-V3.2", "deepseek_v3"),
    ("Kimi-K2.5", "kimi_k2"),
    ("Step-3.5-Flash", "step3"),
    ("granite-40b", "granite4"),
    ("GLM-4.55", "glm45"),
    ("my-hermesian", "hermes"),
    ("mistral/experiments/qwen", "mistral"),
    ("", "hermes"),
]


@pytest.mark.parametrize(("model", "parser"), BORN)
def test_whole_parts_of_the_name_with_the_same_version_are_its_name(model, parser):
    assert has_name_of(model, parser)


@pytest.mark.parametrize(("model", "parser"), NEAR_MISSES)
def test_a_near_miss_is_not(model, parser):
    assert not has_name_of(model, parser)


@pytest.mark.parametrize(
    ("model", "is_reported"), [(model, True) for model, parser in BORN if parser == "minicpm5"]
    + [(model, False) for model, parser in NEAR_MISSES if parser == "minicpm5"],
)  # fmt: skip
def test_a_hint_names_a_parser_only_where_the_model_has_its_name(model, is_reported):
    rows = {
        "vllm:hermes": {"one-call": RIGHT, "two-calls": RIGHT},
        "vllm:minicpm5": {"one-call": RIGHT, "two-calls": WRONG},
    }
    ranking = Ranking("hermes", model)

    found = recommend((), rows, ranking.best(rows, 9), ranking)

    shown = "`minicpm5`, which has the model's name, fails for `two-calls`: it loses it."
    assert found.tool_parser == "hermes"
    assert (shown in found.reasons) is is_reported
    assert any("minicpm5" in reason for reason in found.reasons) is is_reported
