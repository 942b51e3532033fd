"""Explaining a number of prompt tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.tools.experiments import RenderSetup, agree, explain_count
from prompt_debugger.core.tools.experiments.switches.system import default_system_switches
from prompt_debugger.core.tools.experiments.variant import Variant, render_text
from tests.core.tools.experiments.setups import CHATML, calling, chat, tool

BODY: JSONObject = {
    "messages": chat("What is the weather in Rome?"),
    "tools": [tool("get_weather", parameters={"type": "object"}), tool("search")],
}


def count(body: JSONObject, setup: RenderSetup, names: Sequence[str] = ()) -> int:
    """Tokens under some switches, counted without the search."""
    from prompt_debugger.core.tools.experiments.switches import find_server_switches

    variant = Variant(body, setup)
    for switch in find_server_switches(variant):
        if switch.name in names:
            variant = switch.apply(variant)
    made = render_text(variant)
    assert isinstance(made, tuple)
    assert setup.tokenizer is not None
    return len(setup.tokenizer.encode(made[0]))


def test_the_request_as_pasted_comes_first(lab: RenderSetup) -> None:
    answer = explain_count(BODY, lab, count(BODY, lab))

    assert answer.explanations[0].names == ()
    assert (answer.is_exact, answer.tie_count, answer.as_pasted) == (True, 1, answer.counted)
    assert answer.sentence == f"{answer.counted} prompt tokens are explained by the request as pasted."


@pytest.mark.parametrize(
    "names",
    [
        ("no-generation-prompt",),
        ("without-tools",),
        ("tools-as-vllm",),
        ("default-system-emptied",),
        ("without-default-system",),
        ("no-generation-prompt", "without-tools"),
        ("without-tools", "without-default-system"),
    ],
)
def test_what_a_server_did_is_among_the_explanations(lab: RenderSetup, names: tuple[str, ...]) -> None:
    answer = explain_count(BODY, lab, count(BODY, lab, names))

    exact = [one for one in answer.explanations if one.off_by == 0]
    assert any(set(names) in (set(one.names), *map(set, one.also)) for one in exact), answer.sentence
    assert answer.exact_count == len(exact)


def test_every_explanation_has_the_tokens_it_claims(lab: RenderSetup) -> None:
    answer = explain_count(BODY, lab, 40)

    assert answer.explanations
    for one in answer.explanations:
        assert count(BODY, lab, one.names) == one.token_count == 40 + one.off_by
    offs = [abs(one.off_by) for one in answer.explanations]
    assert offs == sorted(offs)


def test_a_tie_is_reported(lab: RenderSetup) -> None:
    """One token more: an opened reasoning block, or BOS."""
    body: JSONObject = {"messages": [{"role": "system", "content": "Be kind."}, *chat("Hi")]}

    answer = explain_count(body, lab, count(body, lab) + 1)

    assert {one.names for one in answer.explanations[: answer.tie_count]} >= {("thinking=true",), ("bos-in-front",)}
    assert "cannot distinguish them" in answer.sentence


def test_a_second_request_may_break_a_tie(lab: RenderSetup) -> None:
    plain: JSONObject = {"messages": [{"role": "system", "content": "Be kind."}, *chat("Hi")]}
    kwargs: JSONObject = {**plain, "chat_template_kwargs": {"thinking": True}}

    answers = [explain_count(body, lab, count(body, lab, ("bos-in-front",))) for body in (plain, kwargs)]

    assert ("thinking=true",) in agree(answers[:1])
    assert agree(answers) == (("bos-in-front",),)
    assert agree([]) == ()


def test_bos_twice_and_missing() -> None:
    from prompt_debugger.core.render import load_tokenizer
    from tests.conftest import ROOT

    setup = RenderSetup("{{ bos_token }}" + CHATML, load_tokenizer(ROOT / "assets" / "lab-model"))
    body: JSONObject = {"messages": chat("Hi")}

    more, less = (explain_count(body, setup, count(body, setup) + step) for step in (1, -1))

    assert ("bos-in-front",) in [one.names for one in more.explanations if one.off_by == 0]
    assert ("without-bos",) in [one.names for one in less.explanations if one.off_by == 0]


def test_the_nearest_is_named_if_nothing_fits(lab: RenderSetup) -> None:
    answer = explain_count(BODY, lab, 100_000)

    assert not answer.is_exact
    assert answer.sentence.startswith("None of ")
    assert str(answer.explanations[0].token_count) in answer.sentence


def test_combinations_beyond_the_limit_are_counted(lab: RenderSetup) -> None:
    whole, cut = (explain_count(BODY, lab, 100_000, max_renders=limit) for limit in (1_000, 15))

    assert whole.left_out == 0
    assert cut.rendered_count == 15
    assert cut.left_out > 0


def test_the_likeliest_combinations_are_tried_first(lab: RenderSetup) -> None:
    wanted = count(BODY, lab, ("no-generation-prompt", "without-default-system"))
    singles = explain_count(BODY, lab, 100_000, max_switches=1).rendered_count

    answer = explain_count(BODY, lab, wanted, max_renders=singles + 5)

    assert any(one.off_by == 0 and len(one.switches) == 2 for one in answer.explanations)


def test_three_switches_can_be_asked_for(lab: RenderSetup) -> None:
    names = ("no-generation-prompt", "without-tools", "default-system-emptied")

    answer = explain_count(BODY, lab, count(BODY, lab, names), max_switches=3)

    assert answer.is_exact


def test_a_template_that_always_fails_explains_nothing(lab: RenderSetup) -> None:
    answer = explain_count(BODY, replace(lab, template="{{ raise_exception('no') }}"), 5)

    assert answer.as_pasted is None
    assert answer.explanations == ()
    assert answer.sentence.startswith("No way to render")
    assert "without-tools" in answer.failed


def test_a_request_that_fails_as_pasted_may_be_explained_by_what_fixes_it(lab: RenderSetup) -> None:
    template = "{% for m in messages %}{% for c in m.tool_calls or [] %}{% for k, v in c.function.arguments | items %}"
    setup = replace(lab, template=template + "{{ v }}{% endfor %}{% endfor %}{% endfor %}")
    body: JSONObject = {"messages": calling()}

    answer = explain_count(body, setup, count(body, setup, ("arguments-as-object",)))

    assert answer.as_pasted is None
    assert answer.explanations[0].names == ("arguments-as-object",)


def test_a_bomb_ends_the_search(lab: RenderSetup, hasty: Renderer) -> None:
    bomb = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3

    assert explain_count(BODY, replace(lab, template=bomb, renderer=hasty), 5).rendered_count == 1


def test_counting_needs_a_tokenizer(lab: RenderSetup) -> None:
    with pytest.raises(RenderError, match="no tokenizer"):
        explain_count(BODY, replace(lab, tokenizer=None), 5)


def test_bombs_after_switches_end_the_search(lab: RenderSetup, hasty: Renderer) -> None:
    bomb = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3
    source = "{% if mode == 'a' %}" + bomb + "{% elif mode == 'b' %}" + bomb + "{% endif %}x"

    answer = explain_count({"messages": chat("Hi")}, replace(lab, template=source, renderer=hasty), 5)

    assert {"mode=a", "mode=b"} <= set(answer.failed)
    assert answer.as_pasted is not None


SYSTEM_FIRST = (
    "{% if messages[0].role == 'system' %}<|im_system|>{{ messages[0].content }}<|im_end|>"
    "{% else %}<|im_system|>Be nice.<|im_end|>{% endif %}"
    "{% for m in messages if m.role == 'user' %}<|im_user|>{{ m.content }}<|im_end|>{% endfor %}"
)


LATER_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' and loop.index > 1 %}{{ m.content }}{{ loop.index }}{% endif %}"
    "{% endfor %}"
)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (SYSTEM_FIRST, ["default-system-emptied"]),
        (SYSTEM_FIRST.replace("messages[0].content }}", "messages[0].content ~ '!' }}"), []),
        (SYSTEM_FIRST.replace("Be nice.", ""), []),
        (SYSTEM_FIRST + LATER_SYSTEM, ["default-system-emptied"]),
        (CHATML, []),
        ("{{ messages[-1].content }}", []),
        ("{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}x", []),
        ("{% if tools %}x{% else %}" + SYSTEM_FIRST + "{% endif %}", []),
    ],
)
def test_the_templates_own_system_message_is_found_where_it_can_be(
    lab: RenderSetup, template: str, expected: list[str]
) -> None:
    found = default_system_switches(Variant(BODY, replace(lab, template=template)))

    assert expected == [switch.name for switch in found]
