"""Formats with a section of calls, whose tags enforce less than others: what passes there, and what does not."""

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.grammar import Cause, GrammarStatus, JudgedOutput, find_family, first_illegal_token
from tests.core.tools.grammar.outputs import tool, written

pytestmark = pytest.mark.vllm

TYPED: JSONObject = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "days": {"type": "integer", "maximum": 10},
        "unit": {"type": "string", "enum": ["c", "f"]},
        "room": {"type": "object", "properties": {"size": {"$ref": "#/$defs/size"}}},
    },
    "required": ["city"],
    "$defs": {"size": {"type": "integer"}},
}
TOOLS = [tool("get_weather", TYPED)]
MANY = "required+strict"


@pytest.fixture
def judge(engine):
    def run(family, arguments, level="auto", raw=None, tools=TOOLS):
        text = written(family, "get_weather", arguments) if raw is None else raw
        return first_illegal_token(JudgedOutput(text), tools, family, level, engine=engine)

    return run


@pytest.mark.parametrize(
    "arguments", [{"city": "x", "days": 3, "unit": "f"}, {"unit": "c", "city": "x"}, {"city": "x", "room": {"size": 2}}]
)
def test_kimi_k3_takes_its_arguments_in_any_order(judge, arguments):
    assert judge("kimi_k3", arguments).status is GrammarStatus.LEGAL


@pytest.mark.parametrize(
    ("arguments", "cause", "path"),
    [
        ({"city": "x", "days": "three"}, Cause.VALUE, "properties.days.type"),
        ({"city": "x", "days": 30}, Cause.VALUE, "properties.days.maximum"),
        ({"city": "x", "unit": "k"}, Cause.VALUE, "properties.unit.enum"),
        ({"city": "a city with a long name"}, Cause.VALUE, "properties.city.maxLength"),
        ({"city": "x", "room": {"size": "big"}}, Cause.VALUE, "properties.room.properties.size.$ref"),
        ({"city": "x", "town": "y"}, Cause.UNKNOWN_PROPERTY, "properties"),
        ({}, Cause.MISSING_PROPERTY, "required"),
    ],
)
def test_kimi_k3_blames_the_argument_that_is_written_and_no_other(judge, arguments, cause, path):
    verdict = judge("kimi_k3", arguments)

    assert (verdict.status, verdict.first.cause) == (GrammarStatus.STEERED, cause)
    assert verdict.first.rule.path == f"tools[0].function.parameters.{path}"


def test_kimi_k3_holds_no_value_to_its_type_once_a_property_has_none(judge):
    open_schema = {"type": "object", "properties": {"city": {"type": "string"}, "any": {}}, "required": ["city"]}

    verdict = judge("kimi_k3", {"city": "x", "town": "y"}, tools=[tool("get_weather", open_schema)])

    assert verdict.status is GrammarStatus.LEGAL


def test_kimi_k3_may_answer_without_a_call_unless_one_must_come(judge):
    answer = "<|open|>response<|sep|>It is sunny.<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>"

    assert judge("kimi_k3", {}, raw=answer).status is GrammarStatus.LEGAL
    assert judge("kimi_k3", {}, "required", raw=answer).first.cause is Cause.TEXT_OUTSIDE_CALL


def test_hunyuan_4_holds_keys_and_leaves_values_free(judge):
    assert judge("hy_v4", {"city": "x", "days": "three"}, MANY).status is GrammarStatus.LEGAL
    assert judge("hy_v4", {"town": "y"}, MANY).first.cause is Cause.UNKNOWN_PROPERTY
    assert judge("hy_v4", {"days": 3}, MANY).first.cause is Cause.MISSING_PROPERTY


def test_hunyuan_4_enforces_nothing_while_the_model_may_choose(judge):
    verdict = judge("hy_v4", {"town": "y"})

    assert verdict.status is GrammarStatus.OFF
    assert "only if a call is required" in verdict.sentence


def test_families_of_one_format_are_distinguished_by_what_is_written():
    v32, v4 = written("deepseek_v32", "f", {}), written("deepseek_v4", "f", {})

    assert find_family("deepseek_v32", v32).grammar.structural_tag == "deepseek_v3_2"
    assert find_family("deepseek_v32", v4).grammar.structural_tag == "deepseek_v4"
    assert find_family("deepseek_v32", v4.replace("tool_calls", " calls")).grammar.structural_tag == "deepseek_v4_1"
    assert find_family("hunyuan_v3", written("hy_v4", "f", {"a": "b"})).suffix == ":x1"
    assert find_family("hunyuan_v3", "<tool_calls><tool_call>f<tool_sep><arg_key>a</arg_key>") is None


def test_reasoning_of_each_family_is_passed_over(judge):
    call = written("kimi_k3", "get_weather", {"city": "x"})
    thought = "Hm, <|open|>tools<|sep|> is what I need.<|close|>think<|sep|>"

    verdict = judge("kimi_k3", {}, raw=thought + call)

    assert (verdict.status, verdict.starts_at) == (GrammarStatus.LEGAL, len(thought))
