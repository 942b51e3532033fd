"""What a person reads in a terminal."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, KwargSource, Prompt, TemplateKwarg
from prompt_debugger.core.report import prompt_to_terminal


def prompt(*kwargs: TemplateKwarg) -> Prompt:
    return Prompt("local", "Hi", (), None, kwargs=kwargs)


def test_a_value_that_was_asked_for_is_shown_with_its_source() -> None:
    asked = TemplateKwarg("thinking", True, KwargSource.REQUEST, field="chat_template_kwargs.thinking", read=False)

    shown = prompt_to_terminal(prompt(asked))

    assert "template variable thinking = true from `chat_template_kwargs.thinking`, never read\n" in shown


def test_a_default_is_worth_a_line_only_if_it_was_read() -> None:
    read = TemplateKwarg("add_generation_prompt", True, KwargSource.DEFAULT, read=True)
    unread = TemplateKwarg("pad_token", "[PAD]", KwargSource.TOKENIZER, read=False)

    shown = prompt_to_terminal(prompt(read, unread))

    assert "add_generation_prompt = true from default\n" in shown
    assert "pad_token" not in shown


def test_control_characters_of_a_value_never_reach_the_terminal() -> None:
    value: JSON = {"x": "\x1b]0;title\x07"}

    shown = prompt_to_terminal(prompt(TemplateKwarg("k\x1b", value, KwargSource.REQUEST)))

    assert "\x1b" not in shown
    assert "\x07" not in shown
