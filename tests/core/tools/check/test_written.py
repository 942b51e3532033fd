"""What parsers are asked with where a template prints past calls otherwise than its model writes them."""

from dataclasses import replace

import pytest

from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.tools.check.answers import ANSWERS
from prompt_debugger.core.tools.check.engine_choice import Asked, choice_sentence
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import Recommendation
from prompt_debugger.core.tools.check.taught import write_as_model

PRINTED = ' to=functions.get_weather<|channel|>commentary json<|message|>{"city": "zqParis"}<|call|>'
WRITTEN = '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "zqParis"}<|call|>'
THOUGHT = "<|channel|>analysis<|message|>zqFirst<|end|><|start|>assistant"
MODEL = CheckedModel("m", "{{ messages }}")
BY_NAME = {answer.name: answer for answer in ANSWERS}


def ideal(raw, name="one-call"):
    return Ideal(BY_NAME[name], raw, "<|start|>assistant", end="<|call|>")


@pytest.mark.parametrize("before", ["", THOUGHT])
def test_the_recipient_of_a_call_stands_where_the_model_writes_it(before):
    (made,), family, said = write_as_model((ideal(before + PRINTED),), MODEL)

    assert (made.raw, family) == (before + WRITTEN, "harmony")
    assert "openai/harmony, docs/format.md" in said
    assert said.endswith("the parsers were tested on what the model writes.")


@pytest.mark.parametrize(
    "given",
    [
        ideal(WRITTEN),
        ideal('<tool_call>\n{"name": "get_weather", "arguments": {"city": "zqParis"}}\n</tool_call>'),
        ideal("<|channel|>final<|message|>say to=functions.x<|channel|>commentary json<|return|>", "text"),
    ],
)
def test_what_is_written_as_the_model_writes_it_stays_and_nothing_is_said(given):
    assert write_as_model((given,), MODEL)[::2] == ((given,), "")


def test_what_a_model_writes_is_of_its_family():
    for name, one in FORMATS.items():
        assert one.facts.written_calls is None or one.facts.sample, name


def test_an_engine_whose_parser_is_not_asked_is_not_said_to_have_none():
    none = Recommendation(None, None, None, "unknown", ())
    every = {kind: Asked("1.0.0", none, lacks_parser_for="harmony") for kind in ("lmdeploy", "mlx-lm")}

    said = choice_sentence(every, "lmdeploy")
    assert "LMDeploy 1.0.0 was not asked: its parser for gpt-oss, `gpt-oss`, wants ids of harmony's own" in said
    assert "mlx-lm 1.0.0 has no parser known for the notation `harmony`" in said
    other = replace(every["lmdeploy"], lacks_parser_for="hermes")
    assert "was not asked" not in choice_sentence({**every, "lmdeploy": other}, "lmdeploy")
