"""Our own render of a request, and the generation prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSON, JSONObject, SpanKind
from prompt_debugger.core.render.local import generation_prompt, render_local
from prompt_debugger.core.render.request_variables import read_variables

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
BODY: JSONObject = {"messages": [{"role": "user", "content": "Hi"}]}


def variables_of(body: JSONObject, **defaults: JSON) -> dict[str, JSON]:
    made = read_variables(
        {**BODY, **body}, special_tokens={"bos_token": "<s>"}, template_kwargs=defaults, add_generation_prompt=None
    )
    return {one.name: one.value for one in made.variables}


def test_the_prompt_ends_with_the_generation_prompt_unless_told_differently() -> None:
    assert render_local(BODY, template=CHATML).text.endswith("assistant\n")
    assert not render_local({**BODY, "add_generation_prompt": False}, template=CHATML).text.endswith("assistant\n")
    assert not render_local(BODY, template=CHATML, add_generation_prompt=False).text.endswith("assistant\n")


def test_generation_prompt_is_what_the_switch_adds_at_the_end() -> None:
    assert generation_prompt(CHATML, BODY) == "<|im_start|>assistant\n"
    assert generation_prompt("{{ messages[0].content }}", BODY) == ""
    assert generation_prompt("{% if add_generation_prompt %}front {% endif %}x", BODY) == ""


BY_KIND = (
    "{% for m in messages %}{% if m.role == 'assistant' %}HEADER{% if m.content %}<|out|>{{ m.content }}{% endif %}"
    "{% for c in m.tool_calls or [] %}<|act|>{{ c.function | tojson }}{% endfor %}<|eot|>"
    "{% else %}<|usr|>{{ m.content }}<|eot|>{% endif %}{% endfor %}{% if not add_generation_prompt %}{% endif %}"
)


def test_no_generation_prompt_is_wanted_where_each_kind_of_answer_begins_with_its_own_marker() -> None:
    assert generation_prompt(BY_KIND.replace("HEADER", ""), BODY) is None
    # A header that all answers share is what the switch should have added.
    assert generation_prompt(BY_KIND.replace("HEADER", "<|assistant|>"), BODY) == ""
    # Nor is it said where calls are not printed, or where an answer begins with no marker.
    assert generation_prompt(BY_KIND.replace("HEADER", "").replace("<|act|>", ""), BODY) == ""
    assert generation_prompt(BY_KIND.replace("HEADER", "").replace("<|out|>", ""), BODY) == ""


def test_continuing_the_final_message_leaves_it_open() -> None:
    body: JSONObject = {
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well, "}],
        "continue_final_message": True,
    }

    prompt = render_local(body, template=CHATML)

    assert prompt.text.endswith("assistant\nWell, ")
    assert prompt.identical
    assert prompt.spans[-1].field == "messages[1].content"
    assert prompt.spans[-1].field_span == (0, 6)


def test_continuing_and_opening_a_turn_exclude_each_other() -> None:
    with pytest.raises(RenderError, match="exclude each other"):
        render_local({**BODY, "continue_final_message": True, "add_generation_prompt": True}, template=CHATML)


@pytest.mark.parametrize("messages", [None, [], "hi", {}])
def test_a_request_without_messages_is_refused(messages: JSON) -> None:
    with pytest.raises(RenderError, match="no messages"):
        render_local({"messages": messages}, template=CHATML)


def test_top_level_fields_win_over_kwargs_and_kwargs_over_defaults() -> None:
    made = variables_of(
        {
            "chat_template_kwargs": {
                "thinking": True,
                "reasoning_effort": "low",
                "add_generation_prompt": False,
                "left": None,
                "automatic": "auto",
            },
            "reasoning_effort": "high",
        },
        thinking=False,
        left=1,
        automatic=2,
    )

    assert made["thinking"] is True
    assert made["reasoning_effort"] == "high"
    assert made["enable_thinking"] is True
    assert made["add_generation_prompt"] is True
    assert (made["left"], made["automatic"]) == (1, 2)


def test_reasoning_effort_none_turns_thinking_off_unless_the_kwargs_say_so() -> None:
    assert variables_of({"reasoning_effort": "none"})["enable_thinking"] is False
    kwargs: JSON = {"enable_thinking": True}
    assert variables_of({"reasoning_effort": "none", "chat_template_kwargs": kwargs})["enable_thinking"] is True


def test_kwargs_may_replace_the_tools_but_not_the_messages() -> None:
    tools: JSON = [{"type": "function"}]
    assert variables_of({"tools": [], "chat_template_kwargs": {"tools": tools}})["tools"] == tools
    with pytest.raises(RenderError, match="clashes"):
        variables_of({"chat_template_kwargs": {"messages": []}})


def test_effective_kwargs_are_the_variables_as_they_reach_the_template() -> None:
    body: JSONObject = {**BODY, "chat_template_kwargs": {"thinking": True, "tokenize": True}}

    prompt = render_local(body, template=CHATML, special_tokens={"bos_token": "<s>"}, template_kwargs={"mode": "x"})

    assert prompt.effective_kwargs == {
        "bos_token": "<s>",
        "mode": "x",
        "thinking": True,
        "add_generation_prompt": True,
    }
    assert prompt.unread == ("template_kwargs.mode", "chat_template_kwargs.thinking")


def test_errors_carry_the_template_position() -> None:
    with pytest.raises(RenderError, match="refuses this request: tools are not supported") as raised:
        render_local(BODY, template="line one\n{{ raise_exception('tools are not supported') }}")

    assert (raised.value.template_line, raised.value.template_column) == (2, 4)


def test_a_syntax_error_carries_line_and_column() -> None:
    with pytest.raises(RenderError, match="not valid Jinja") as raised:
        render_local(BODY, template="{% for m in messages %}\n  {{ m.role | }}\n{% endfor %}")

    assert (raised.value.template_line, raised.value.template_column) == (2, 15)


def test_without_a_tokenizer_there_are_spans_and_no_tokens() -> None:
    prompt = render_local(BODY, template=CHATML)

    assert prompt.tokens is None
    assert [span.kind for span in prompt.spans][1] is SpanKind.REQUEST


@pytest.mark.parametrize("path", sorted((Path(__file__).resolve().parents[3] / "assets" / "examples").glob("*.json")))
def test_the_examples_render_on_the_lab_template(path: Path, lab_model_dir: Path) -> None:
    from prompt_debugger.core.render import load_template, load_tokenizer

    body = json.loads(path.read_text(encoding="utf-8"))["request"]
    template = load_template(lab_model_dir)
    assert template is not None

    prompt = render_local(body, template=template, tokenizer=load_tokenizer(lab_model_dir))

    assert prompt.identical
    assert prompt.tokens is not None
    assert "".join(token.text for token in prompt.tokens) == prompt.text
    assert not [span for span in prompt.spans if span.kind is SpanKind.UNKNOWN]
