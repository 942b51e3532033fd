"""Templates that fail still say whose calls they would print; without two markers of one family nothing is said."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check.markers import family_in, words_on_parts, words_on_refused
from prompt_debugger.core.tools.check.model import CheckedModel, as_served
from prompt_debugger.core.tools.check.run import check_without_parsers, write_answers
from tests.core.tools.check.templates import HERMES

KIMI = (
    "{%- for message in messages %}{% if message.tool_calls %}{% set ids = [] %}{{ ids.append(1) }}"
    "<|tool_calls_section_begin|><|tool_call_begin|>{{ message.tool_calls[0].id }}<|tool_call_argument_begin|>"
    "{% else %}{{ message.content }}{% endif %}<|im_end|>{% endfor %}"
)


def words(template: str, kind: str = "vllm") -> str:
    model = CheckedModel("ours", template)
    return words_on_refused(template, write_answers(model, is_thorough=False, renderer=run_job)[1], kind)


def test_a_template_that_fails_names_the_parsers_for_its_markers() -> None:
    assert words(KIMI) == (
        "`<|tool_calls_section_begin|>` in the template is a marker of `kimi_k2`, for whose calls vLLM has `kimi_k2`, "
        "and `kimi_k2` for reasoning. That is inferred: no parser was asked. Check again with a template that renders."
    )
    assert "SGLang has `kimi_k2`" in words(KIMI, "sglang")


@pytest.mark.parametrize(
    "template",
    [
        HERMES,  # it renders
        KIMI.replace("{{ ids.append(1) }}", ""),
        KIMI.replace("<|tool_call_begin|>", "").replace("<|tool_call_argument_begin|>", ""),  # one marker alone
    ],
)
def test_of_others_nothing_is_said(template: str) -> None:
    assert words(template) == ""


@pytest.mark.parametrize(
    "template", ["", "<tool_call>", "Write `[TOOL_CALLS]` or `<think>`.", "<tool_call></tool_call>"]
)
def test_markers_of_several_families_show_none(template: str) -> None:
    assert family_in(template) is None


_PARTS = (
    "{% for message in messages %}{{ '<|' + message.role + '|>' }}"
    "{% if message.content[0].get('type') == 'image' %}<image>{% endif %}"
    "{% for part in message.content %}{{ part.text }}{% endfor %}"
    "{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def test_a_template_that_takes_only_parts_gets_them_as_vllm_sends_them():
    check = check_without_parsers(CheckedModel("m", _PARTS))
    simplest = next(one for one in check.ideals if one.answer.name == "text")

    assert check.model.takes_parts
    assert (simplest.refusal, simplest.raw) == (None, "zqLet me look at that.<|end|>")
    assert "all was rendered as vLLM does it" in words_on_parts(check.model)


@pytest.mark.parametrize(
    "template",
    [
        "{% for message in messages %}{{ message.role + ': ' + message.content }}{% endfor %}",  # takes texts
        "{% for m in messages %}{{ m.content[0].get('text') }}{% endfor %}",  # no loop: vLLM sends it texts
        "{{ raise_exception('no') }}{% for m in messages %}{% for p in m.content %}{{ p }}{% endfor %}{% endfor %}",
    ],
)
def test_any_other_template_gets_texts(template):
    model = as_served(CheckedModel("m", template))

    assert not model.takes_parts
    assert words_on_parts(model) == ""


def test_a_tool_result_stays_a_text_for_such_a_template():
    model = as_served(CheckedModel("m", _PARTS))
    render = model.renderer()

    with pytest.raises(RenderError):
        render({"messages": [{"role": "tool", "content": [{"type": "text", "text": "22"}]}]})
    assert render({"messages": [{"role": "assistant", "content": "Hi"}]}).startswith("<|assistant|>Hi<|end|>")
