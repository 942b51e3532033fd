"""Who set a template kwarg, and what it reaches."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, JSONObject, KwargSource, TemplateKwarg, WeakerValue
from prompt_debugger.core.render.local import render_local

TEMPLATE = "{{ bos_token }}{% if enable_thinking %}think{% endif %}{% if mode == 'x' and style %}{% endif %}"


def kwargs_of(body: JSONObject, **defaults: JSON) -> dict[str, TemplateKwarg]:
    prompt = render_local(
        {"messages": [{"role": "user", "content": "Hi"}], **body},
        template=TEMPLATE,
        special_tokens={"bos_token": "<s>", "eos_token": "</s>"},
        template_kwargs=defaults,
    )
    for one in prompt.kwargs:
        if one.reaches_template:
            assert prompt.effective_kwargs[one.name] == one.value
    assert {one.name for one in prompt.kwargs if one.reaches_template} == prompt.effective_kwargs.keys()
    return {one.name: one for one in prompt.kwargs}


def test_every_layer_is_named() -> None:
    made = kwargs_of({"chat_template_kwargs": {"style": "s"}, "add_generation_prompt": False}, mode="x")

    assert [(name, one.source, one.field) for name, one in made.items()] == [
        ("add_generation_prompt", KwargSource.TOP_LEVEL, "add_generation_prompt"),
        ("bos_token", KwargSource.TOKENIZER, None),
        ("continue_final_message", KwargSource.DEFAULT, None),
        ("eos_token", KwargSource.TOKENIZER, None),
        ("mode", KwargSource.SERVER_DEFAULT, None),
        ("style", KwargSource.REQUEST, "chat_template_kwargs.style"),
    ]


def test_a_value_names_the_weaker_ones_it_won_over() -> None:
    made = kwargs_of(
        {"reasoning_effort": "high", "chat_template_kwargs": {"reasoning_effort": "low"}}, enable_thinking=False
    )

    assert made["reasoning_effort"].value == "high"
    assert made["reasoning_effort"].overrides == (WeakerValue(KwargSource.REQUEST, "low"),)
    thinking = made["enable_thinking"]
    assert (thinking.value, thinking.source, thinking.field) == (True, KwargSource.TOP_LEVEL, "reasoning_effort")
    assert thinking.overrides == (WeakerValue(KwargSource.SERVER_DEFAULT, False),)


def test_the_generation_prompt_switch_of_the_kwargs_is_overridden_by_the_default() -> None:
    made = kwargs_of({"chat_template_kwargs": {"add_generation_prompt": False}})["add_generation_prompt"]

    assert (made.value, made.source) == (True, KwargSource.DEFAULT)
    assert made.overrides == (WeakerValue(KwargSource.REQUEST, False),)


def test_read_mentioned_and_unknown_are_distinguished() -> None:
    made = kwargs_of({"chat_template_kwargs": {"style": 1, "other": 2}}, mode="y")

    assert [
        (made[name].read, made[name].mentioned) for name in ("bos_token", "mode", "style", "other", "eos_token")
    ] == [
        (True, True),
        (True, True),
        (False, True),
        (False, False),
        (False, False),
    ]


def test_what_does_not_reach_the_template_says_so() -> None:
    made = kwargs_of({"chat_template_kwargs": {"enable_thinking": "auto", "tokenize": True}})

    assert [(made[n].reaches_template, made[n].reaches_parser) for n in ("enable_thinking", "tokenize")] == [
        (False, True),
        (False, True),
    ]
    assert (made["continue_final_message"].reaches_template, made["continue_final_message"].reaches_parser) == (
        False,
        True,
    )
    assert made["bos_token"].reaches_parser is False


def test_what_counts_as_unset_reaches_the_parser_of_a_server_without_defaults_alone() -> None:
    body: JSONObject = {"chat_template_kwargs": {"style": "auto"}}

    assert kwargs_of(body)["style"].reaches_parser is True
    assert kwargs_of(body, mode="x")["style"].reaches_parser is False


def test_an_unset_value_cannot_unset_a_server_default() -> None:
    made = kwargs_of({"chat_template_kwargs": {"enable_thinking": None}}, enable_thinking=True)["enable_thinking"]

    assert (made.value, made.source, made.overrides) == (True, KwargSource.SERVER_DEFAULT, ())


def test_a_render_without_trace_does_not_know_what_was_read() -> None:
    prompt = render_local(
        {"messages": [{"role": "user", "content": "Hi"}], "chat_template_kwargs": {"x": 1}},
        template="{{ range(10**5) | random }}{{ range(10**5) | random }}{{ x }}",
    )

    assert [one.read for one in prompt.kwargs] == [None] * len(prompt.kwargs)
