"""What a template adds for an answer is what the model would have written, and nothing else."""

import pytest

from prompt_debugger.core.tools.check.answers import ANSWERS, answers
from tests.core.tools.check.templates import HERMES, changed

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "zqParis"}}\n</tool_call>'


def test_a_call_is_written_as_the_template_taught_it(write):
    ideal = write(HERMES)

    assert ideal.raw == f"\n{CALL}<|im_end|>"
    assert ideal.prompt.endswith("<|im_start|>assistant\n")
    assert (ideal.is_whole, ideal.is_prefix, ideal.end) == (True, True, "<|im_end|>")


def test_white_space_and_openings_after_the_end_of_the_turn_are_not_output(write):
    always_open = changed(
        HERMES, "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}", "{{ '<|im_start|>assistant\n' }}"
    )

    assert write(always_open).raw == f"\n{CALL}<|im_end|>"


def test_an_end_that_no_family_has_is_learned_from_text(write):
    other_end = HERMES.replace("<|im_end|>", "</turn_of_ours>")

    assert write(other_end, "text").raw == "zqLet me look at that.</turn_of_ours>"


def test_reasoning_that_the_prompt_opens_is_after_it(write):
    opened = changed(HERMES, "<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think>\n{% endif %}")

    ideal = write(opened, "reasoning-and-text")

    assert ideal.raw == "zqFirst I think about it.\n</think>\n\nzqLet me look at that.<|im_end|>"
    assert (ideal.is_prefix, ideal.has_own_closer) == (True, False)


def test_reasoning_that_the_history_leaves_out_is_closed_by_the_check(write):
    opened = changed(HERMES, "<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think>\n{% endif %}")

    ideal = write(opened, "text")

    assert ideal.raw == "</think>\n\nzqLet me look at that.<|im_end|>"
    assert (ideal.is_prefix, ideal.has_own_closer) == (False, True)


def test_a_closed_block_of_the_prompt_is_not_written_again(write):
    closed = changed(
        changed(HERMES, "<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think></think>{% endif %}"),
        "{{- m.content or '' }}",
        "{%- if m.role == 'assistant' and not m.reasoning_content %}</think>{% endif %}{{- m.content or '' }}",
    )

    assert write(closed, "text").raw == "zqLet me look at that.<|im_end|>"


@pytest.mark.parametrize("block", ["<think></think>", "<think>  </think>\n", "\n<think>\n\n\n</think>"])
def test_what_the_prompt_has_in_other_white_space_is_not_written_again(write, block):
    spaced = changed(
        changed(
            HERMES, "<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think>\n\n</think>\n\n{% endif %}"
        ),
        "{{- m.content or '' }}",
        "{%- if m.role == 'assistant' %}" + block + "{% endif %}{{- m.content or '' }}",
    )

    assert write(spaced, "text").raw.strip() == "zqLet me look at that.<|im_end|>"


def test_a_block_that_the_history_fills_is_written(write):
    empty = changed(HERMES, "<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think></think>{% endif %}")

    assert "zqFirst I think about it." in write(empty, "reasoning-and-text").raw


def test_a_switch_is_found_that_makes_room_for_reasoning(write):
    switched = changed(
        HERMES,
        "<|im_start|>assistant\n{% endif %}",
        "<|im_start|>assistant\n{{ '<think>\n' if enable_thinking else '<think>\n\n</think>\n\n' }}{% endif %}",
    )

    ideal = write(switched, "reasoning-and-call")

    assert ideal.form.kwargs == {"enable_thinking": True}
    assert ideal.raw.startswith("zqFirst I think about it.\n</think>")


@pytest.mark.parametrize(
    ("old", "new", "answer", "lost"),
    [
        (
            "{%- for call in m.tool_calls or [] %}",
            "{%- for call in (m.tool_calls or [])[:1] %}",
            "two-calls",
            ("calls",),
        ),
        ("{{- m.content or '' }}", "{{- '' if m.tool_calls else m.content }}", "text-and-call", ("content",)),
        ("{{ m.reasoning_content }}", "", "reasoning-and-text", ("reasoning",)),
        ('"arguments": {{ call.function.arguments | tojson }}', '"arguments": {}', "one-call", ("calls",)),
    ],
)
def test_what_a_template_does_not_print_is_its_own_loss(write, old, new, answer, lost):
    assert write(changed(HERMES, old, new), answer).lost == lost
    assert write(HERMES, answer).lost == ()


def test_a_template_that_wants_text_or_other_ids_gets_them(write):
    wants_text = changed(HERMES, "{{ call.function.arguments | tojson }}", "{{ call.function.arguments + '' }}")
    wants_ids = changed(
        HERMES, "<tool_call>\n", "{% if call.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}<tool_call>\n"
    )

    assert write(wants_text, "two-calls").form.text_arguments is True
    assert write(wants_ids, "text", "two-calls").form.ids == "short"


def test_a_refusal_is_reported_with_its_reason(write):
    refuses = changed(HERMES, "<tool_call>\n", "{{ raise_exception('no calls here') }}<tool_call>\n")

    ideal = write(refuses, "two-calls")

    assert ideal.raw == ""
    assert "no calls here" in ideal.refusal.message


def test_thorough_answers_are_the_same_every_time_and_all_new():
    more = answers(is_thorough=True)

    assert more == answers(is_thorough=True)
    assert more[: len(ANSWERS)] == ANSWERS
    assert len({answer.name for answer in more}) == len(more) > len(ANSWERS)
