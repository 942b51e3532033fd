"""Turn by turn: where the prefix breaks, why, and at what cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render import load_tokenizer
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.tools.experiments import BreakCause, RenderSetup, Turn, follow_turns
from prompt_debugger.core.tools.experiments.switches import find_switches
from prompt_debugger.core.tools.experiments.turn_causes import SENTENCES, find_stripped_block, opens_reasoning
from prompt_debugger.core.tools.experiments.variant import Variant, render_text
from tests.core.render.vocabularies import byte_level, write
from tests.core.tools.experiments.setups import CHATML, STRIPPING, call, calling, chat, tool

THOUGHT: JSON = {"role": "assistant", "content": "Four.", "reasoning": "Two and two."}


def thoughtful(*after: JSON) -> JSONObject:
    return {"messages": [*chat("2+2?"), THOUGHT, *after]}


def only_turn(body: JSONObject, template: str | RenderSetup, outputs: dict[int, str] | None = None) -> Turn:
    setup = template if isinstance(template, RenderSetup) else RenderSetup(template)
    turns = follow_turns(body, setup, outputs=outputs).turns
    assert len(turns) == 1
    return turns[0]


def cause_of(turn: Turn) -> tuple[str, bool]:
    assert turn.broken is not None
    assert turn.broken.sentence == SENTENCES[turn.broken.cause]
    return str(turn.broken.cause), turn.broken.is_proved


def test_a_template_that_prints_turns_alike_keeps_its_prefix(lab: RenderSetup) -> None:
    report = follow_turns({"messages": chat("a", "b", "c", "d", "e")}, lab)

    assert [turn.broken for turn in report.turns] == [None, None]
    assert [(turn.message_index, turn.next_index) for turn in report.turns] == [(1, 3), (3, 5)]
    assert all(turn.kept == turn.known < turn.next_count for turn in report.turns)
    assert (report.lost, report.first_broken, report.skipped) == (0, None, 0)


def test_the_lab_template_strips_reasoning_once_the_user_speaks_again(lab: RenderSetup) -> None:
    body = thoughtful({"role": "user", "content": "And 3+3?"})

    turn = only_turn(body, lab)

    assert cause_of(turn) == ("reasoning-stripped", True)
    assert turn.broken is not None
    assert turn.broken.after.field == "messages[1].content"
    assert turn.broken.after.template_line is not None
    assert "<think>" in turn.broken.before.text
    assert turn.broken.lost == turn.known - turn.kept > 0
    assert turn.prefill == turn.next_count - turn.kept


def test_reasoning_stays_within_one_exchange(lab: RenderSetup) -> None:
    thinking: JSON = {"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": [call("f", "{}", "1")]}
    body: JSONObject = {"messages": [*chat("q"), thinking, {"role": "tool", "tool_call_id": "1", "content": "r"}]}

    assert only_turn(body, lab).broken is None


def test_reasoning_of_an_earlier_turn_is_found_too(lab: RenderSetup) -> None:
    """Two turns of one exchange lose their reasoning together when the user speaks again."""
    thinking: JSON = {"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": [call("f", "{}", "1")]}
    messages: list[JSON] = [
        *chat("q"),
        thinking,
        {"role": "tool", "tool_call_id": "1", "content": "r"},
        THOUGHT,
        *chat("next"),
    ]

    report = follow_turns({"messages": messages}, lab)

    assert [turn.broken is None for turn in report.turns] == [True, False]
    assert report.first_broken is report.turns[1]
    assert cause_of(report.turns[1]) == ("reasoning-stripped", True)
    assert report.lost == report.turns[1].known - report.turns[1].kept


def test_a_switch_that_keeps_the_reasoning_is_a_remedy() -> None:
    turn = only_turn(thoughtful({"role": "user", "content": "And?"}), STRIPPING)

    assert turn.broken is not None
    assert turn.broken.remedies == ("preserve_thinking=true",)


def test_a_remedy_makes_the_prefix_hold() -> None:
    body = thoughtful({"role": "user", "content": "And?"})
    base = Variant(body, RenderSetup(STRIPPING))
    switch = next(one for one in find_switches(base) if one.name == "preserve_thinking=true")

    assert only_turn(switch.apply(base).body, STRIPPING).broken is None


def test_a_generation_prompt_that_the_history_lacks() -> None:
    template = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n\n</think>\n{% endif %}")

    assert cause_of(only_turn({"messages": chat("a", "b", "c")}, template)) == ("generation-prompt", True)


def test_reasoning_of_an_earlier_turn_is_not_the_opening_of_this_one() -> None:
    """The second turn has no reasoning of its own; that of the first one goes once the user speaks again."""
    messages: list[JSON] = [*calling(), {"role": "assistant", "content": "24 degrees."}, *chat("Thanks.")]
    messages[1] = {"role": "assistant", "content": "I look.", "reasoning": "hm"}

    report = follow_turns({"messages": messages}, RenderSetup(STRIPPING))

    assert report.turns[0].broken is None
    assert cause_of(report.turns[1]) == ("earlier-text", True)


def test_reasoning_that_is_never_printed_again_after_an_opened_block() -> None:
    template = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")

    assert cause_of(only_turn(thoughtful(*chat("c")), template)) == ("reasoning-stripped", True)


def test_an_opening_that_changes_only_in_part_is_concluded_from_its_place() -> None:
    template = (
        "{% for m in messages %}[{{ m.role }}{{ '?' if loop.last else '!' }}]{{ m.content }};{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}"
    )

    assert cause_of(only_turn({"messages": chat("a", "b", "c")}, template))[0] == "earlier-text"


@pytest.mark.parametrize(
    ("shown", "message", "expected"),
    [
        ("m.content | trim", {"content": " b "}, "content-trimmed"),
        ("''", {"content": "b"}, "content-emptied"),
        ("m.content.split('</think>')[-1]", {"content": "<think>r</think>b"}, "reasoning-stripped"),
        ("'<think></think>' ~ m.content", {"content": "b", "reasoning": "r"}, "reasoning-emptied"),
        ("'another'", {"content": "b"}, "unknown"),
    ],
)
def test_what_happens_to_a_message_once_it_is_past(shown: str, message: JSONObject, expected: str) -> None:
    whole = "('<think>' ~ m.reasoning ~ '</think>' if m.reasoning is defined else '') ~ m.content"
    template = CHATML.replace(
        "{{ m.content }}",
        "{% if m.role == 'assistant' and not loop.last %}{{ " + shown + " }}{% else %}{{ " + whole + " }}{% endif %}",
    )
    body: JSONObject = {"messages": [*chat("a"), {"role": "assistant", **message}, *chat("c")]}

    assert cause_of(only_turn(body, template)) == (expected, expected != "unknown")


def test_calls_that_are_left_out_once_they_are_past() -> None:
    template = CHATML.replace(
        "{{ m.content }}",
        "{{ m.content }}{% if m.tool_calls and loop.last %}"
        "{% for c in m.tool_calls %}[{{ c.function.name }}]{% endfor %}{% endif %}",
    )

    assert cause_of(only_turn({"messages": calling(content="ok")}, template)) == ("calls-dropped", True)


def test_a_turn_that_is_left_out() -> None:
    template = CHATML.replace(
        "{% for m in messages %}", "{% for m in messages if m.role == 'user' or loop.length == 2 %}"
    )
    template = template.replace("loop.length == 2", "messages | length == 2")

    assert cause_of(only_turn({"messages": chat("a", "b", "c")}, template)) == ("turn-dropped", True)


@pytest.mark.parametrize(
    ("shown", "body", "expected"),
    [
        ("tools | tojson", {"tools": [tool("f")]}, "tools-moved"),
        ("messages[0].content", {}, "system-moved"),
    ],
)
def test_what_is_printed_next_to_the_last_message_moves_on(shown: str, body: JSONObject, expected: str) -> None:
    template = (
        "{% for m in messages if m.role != 'system' %}"
        "{% if loop.last and m.role == 'user' and (tools or messages[0].role == 'system') %}{{ "
        + shown
        + " }}{% endif %}"
        "[{{ m.role }}]{{ m.content }};{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
    )
    system: list[JSON] = [] if body else [{"role": "system", "content": "Be kind."}]

    turn = only_turn({"messages": [*system, *chat("a", "b", "c")], **body}, template)

    assert cause_of(turn) == (expected, True)


def test_another_end_of_the_last_turn() -> None:
    template = CHATML.replace(
        "<|im_end|>\n", "{{ '<|end|>' if loop.last and m.role == 'assistant' else '<|im_end|>' }}\n"
    )

    assert cause_of(only_turn({"messages": chat("a", "b", "c")}, template)) == ("ending", False)


@pytest.mark.parametrize(
    ("written", "arguments", "call_id", "expected"),
    [
        ('call_1{"city": "Rome"}', '{"city": "Rome"}', "call_1", None),
        ('call_1{"city":"Rome"}', {"city": "Rome"}, "call_1", ("arguments-rewritten", True)),
        ('call_1{"city": "Paris"}', {"city": "Rome"}, "call_1", ("arguments-rewritten", False)),
        ('functions.get_weather:0{"city": "Rome"}', '{"city": "Rome"}', "call_1", ("id-rewritten", False)),
        (' call_1{"city": "Rome"}', '{"city": "Rome"}', "call_1", ("whitespace", False)),
    ],
)
def test_what_the_model_wrote_against_what_the_history_says(
    written: str, arguments: JSON, call_id: str, expected: tuple[str, bool] | None
) -> None:
    template = CHATML.replace(
        "{{ m.content }}",
        "{% for c in m.tool_calls or [] %}{{ c.id }}"
        "{{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}"
        "{% else %}{{ m.content }}{% endfor %}",
    )
    turn = only_turn({"messages": calling(arguments, call_id)}, template, {1: written + "<|im_end|>"})

    assert turn.is_raw
    assert (cause_of(turn) if turn.broken else None) == expected


def test_tokens_that_merge_where_turns_meet(tmp_path: Path) -> None:
    """The prompt ends in `the`, the answer begins with a space and `qu`: encoded at once they may be others."""
    setup = RenderSetup(
        "{% for m in messages %}{{ m.content }}{% endfor %}", load_tokenizer(write(tmp_path, byte_level()))
    )

    turn = only_turn({"messages": chat("the qu", "ick brown", " fox")}, setup)

    assert cause_of(turn) == ("token-seam", True)


def test_a_prompt_that_fails_is_a_turn_with_a_failure() -> None:
    template = "{% if messages | length == 2 %}{{ raise_exception('too short') }}{% endif %}x"

    turn = only_turn({"messages": chat("a", "b", "c")}, template)

    assert turn.failure is not None
    assert "too short" in turn.failure.message


def test_a_next_prompt_that_fails_is_a_failure_too() -> None:
    template = "{% if messages | length == 3 %}{{ raise_exception('too long') }}{% endif %}x"

    assert only_turn({"messages": chat("a", "b", "c")}, template).failure is not None


def test_arguments_that_are_not_json_are_left_alone() -> None:
    template = CHATML.replace(
        "{{ m.content }}", "{% for c in m.tool_calls or [] %}{{ c.function.arguments }}{% endfor %}"
    )

    turn = only_turn({"messages": calling("{broken")}, template, {1: "{ broken"})

    assert cause_of(turn) == ("whitespace", False)


def test_a_bomb_ends_the_walk(hasty: Renderer) -> None:
    bomb = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3

    report = follow_turns({"messages": chat("a", "b", "c", "d", "e")}, RenderSetup(bomb, renderer=hasty))

    assert len(report.turns) == 1


@pytest.mark.parametrize("messages", [None, [], "hi", chat("a"), chat("a", "b"), [{"role": "assistant"}, 1, None]])
def test_without_a_past_turn_there_is_nothing_to_follow(messages: JSON) -> None:
    assert follow_turns({"messages": messages}, RenderSetup(CHATML)).turns == ()


def test_only_the_last_turns_are_looked_at(lab: RenderSetup) -> None:
    body: JSONObject = {"messages": chat(*"abcdefghi")}

    report = follow_turns(body, lab, last=2)

    assert ([turn.message_index for turn in report.turns], report.skipped) == ([5, 7], 2)


def test_what_is_kept_is_what_both_prompts_begin_with(lab: RenderSetup) -> None:
    body = thoughtful({"role": "user", "content": "And?"})
    turn = only_turn(body, lab)
    later = render_text(Variant(body, lab))

    assert isinstance(later, tuple)
    assert lab.tokenizer is not None
    assert turn.next_count == len(lab.tokenizer.encode(later[0]))


def test_the_lab_model_with_thinking_on_opens_what_it_strips(lab: RenderSetup) -> None:
    body: JSONObject = {**thoughtful(*chat("And?")), "chat_template_kwargs": {"thinking": True}}

    assert cause_of(only_turn(body, replace(lab))) == ("reasoning-stripped", True)


def test_reasoning_blocks_are_found_wherever_they_are_cut() -> None:
    assert find_stripped_block("a<think>x</think>b", "ab and more") == 17
    assert find_stripped_block("a<think>x</think>b<think>y</think>c", "abc") == 34
    assert find_stripped_block("a<think>x</think>b<think>y</think>c", "a<think>x</think>bc") == 34
    assert find_stripped_block("a<think>x</think>b", "ac") is None


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [("x<think>\n", True), ("x<think></think>", False), ("<think>" + "x" * 99, False), ("", False), ("[THINK]", True)],
)
def test_a_prompt_may_end_inside_reasoning(prompt: str, expected: bool) -> None:
    assert opens_reasoning(prompt) is expected


def test_every_cause_has_its_sentence() -> None:
    assert set(SENTENCES) == set(BreakCause)
