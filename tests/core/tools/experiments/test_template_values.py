"""Values worth trying, read from a template's source."""

from __future__ import annotations

import pytest

from prompt_debugger.core.tools.experiments.template_values import candidate_values

BOOLEANS = (True, False)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{% if flag %}x{% endif %}", BOOLEANS),
        ("{% if flag is defined and flag is true %}x{% endif %}", BOOLEANS),
        ("{{ 'x' if not flag else 'y' }}", BOOLEANS),
        ("{% if flag == false %}x{% endif %}", BOOLEANS),
        ("{% set flag = flag if flag is defined else true %}{% if flag %}x{% endif %}", BOOLEANS),
        ("{% if flag is undefined %}{% set flag = true %}{% endif %}{% if flag %}x{% endif %}", BOOLEANS),
        ("{% set other = flag | default(false) %}{% if other %}x{% endif %}", BOOLEANS),
        ("{% set ns = namespace() %}{% set ns.on = flag %}{% if ns.on %}x{% endif %}", BOOLEANS),
        ("{% generation %}{% if flag %}x{% endif %}{% endgeneration %}", BOOLEANS),
        ("{% set a, b = 1, 2 %}{% if flag %}x{% endif %}", BOOLEANS),
        ("{% if flag == 'on' %}x{% elif flag == 'off' %}y{% endif %}", ("on", "off")),
        ("{% if flag in ['on', 'off'] %}x{% endif %}", ("on", "off")),
        ("{% if flag == 'only' %}x{% endif %}", ("only",)),
        ("{% if flag > 3 %}x{% endif %}", (3,)),
        ("{{ flag }}", None),
        ("{% if flag is defined %}{{ flag }}{% endif %}", None),
        ("{{ flag | default('26 Jul 2024') }}", None),
        ("{% for x in flag %}{{ x }}{% endfor %}", None),
        ("{% if flag %}{{ flag.name }}{% endif %}", None),
        ("{% if 1 %}{% set flag = true %}{% endif %}{% if flag %}x{% endif %}", None),
        ("{% if flag is mapping %}x{% endif %}", None),
        ("{% if other %}x{% endif %}", None),
        ("{% if flag", None),
        ("{% if " + "(" * 3_000 + "flag" + ")" * 3_000 + " %}x{% endif %}", None),
    ],
)
def test_values_of_a_variable(source: str, expected: tuple[object, ...] | None) -> None:
    assert candidate_values(source, ["flag"]).get("flag") == expected


def test_an_effort_is_tried_at_the_usual_levels_besides_those_of_the_source() -> None:
    source = "{% if reasoning_effort == 'max' %}x{% endif %}{{ 'Reasoning: ' + reasoning_effort }}"

    assert candidate_values(source, ["reasoning_effort"]) == {"reasoning_effort": ("max", "low", "medium", "high")}


def test_what_other_switches_set_is_left_to_them() -> None:
    source = "{% if add_generation_prompt %}x{% endif %}{% if tools %}y{% endif %}{% if bos_token %}z{% endif %}"

    assert candidate_values(source, ["add_generation_prompt", "tools", "bos_token"]) == {}


def test_constants_are_not_folded() -> None:
    source = "{{ 9 ** 9 ** 9 ** 9 }}{% if flag %}x{% endif %}"

    assert candidate_values(source, ["flag"]) == {"flag": BOOLEANS}
