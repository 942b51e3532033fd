"""Which way a template went, and how often."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, Branch
from prompt_debugger.core.render.job import RenderJob, Variable, outcome_from_json
from prompt_debugger.core.render.traced_render import run_job

MESSAGES: JSON = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user"}]


def branches_of(template: str, **variables: JSON) -> tuple[Branch, ...]:
    given = tuple(Variable(name, value, ("chat_template_kwargs", name)) for name, value in variables.items())
    outcome = run_job(RenderJob(template, (Variable("messages", MESSAGES, ("messages",)), *given)))
    assert outcome.fault is None
    assert outcome.is_identical
    assert outcome_from_json(outcome.to_json()).branches == outcome.branches
    return outcome.branches


def counts_of(template: str, **variables: JSON) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.expression, one.runs, one.skips) for one in branches_of(template, **variables)]


def test_every_way_of_a_condition_sums_up_to_how_often_it_was_reached() -> None:
    found = counts_of(
        "{% for m in messages %}"
        "{% if m.role == 'user' %}U{% elif m.role == 'tool' %}T{% else %}A{% endif %}"
        "{% endfor %}"
    )

    assert found == [
        ("for", "m in messages", 3, 0),
        ("if", "m.role == 'user'", 2, 1),
        ("elif", "m.role == 'tool'", 0, 3),
        ("else", "", 1, 2),
    ]


def test_a_condition_that_is_never_reached_counts_nothing() -> None:
    assert counts_of("{% if false %}{% if true %}x{% endif %}{% endif %}") == [
        ("if", "false", 0, 1),
        ("if", "true", 0, 0),
    ]


@pytest.mark.parametrize(
    ("items", "loop", "otherwise"), [("messages", (3, 0), (0, 1)), ("[]", (0, 1), (1, 0))], ids=["some", "none"]
)
def test_a_loop_counts_its_rounds_and_its_else(items: str, loop: tuple[int, int], otherwise: tuple[int, int]) -> None:
    found = branches_of("{% for m in " + items + " %}{% if m %}x{% endif %}{% else %}y{% endfor %}")

    assert [(one.kind, one.runs, one.skips) for one in found if one.kind in ("for", "else")] == [
        ("for", *loop),
        ("else", *otherwise),
    ]


def test_a_loop_left_at_once_has_still_begun() -> None:
    assert counts_of("{% for m in messages %}{% break %}{% endfor %}") == [("for", "m in messages", 1, 0)]
    assert counts_of("{% for m in messages if m.role == 'tool' %}x{% endfor %}") == [
        ("for", "m in messages if m.role == 'tool'", 0, 1)
    ]


def test_macros_count_their_calls_and_recursive_loops_their_rounds() -> None:
    found = counts_of(
        "{% macro f(x) %}{{ x }}{% endmacro %}{% macro never() %}{% endmacro %}{{ f(1) }}{{ f(2) }}"
        "{% for x in [1, [2, 3]] recursive %}{% if x is number %}{{ x }}{% else %}{{ loop(x) }}{% endif %}{% endfor %}"
    )

    assert found == [
        ("macro", "f(x)", 2, 0),
        ("macro", "never()", 0, 0),
        ("for", "x in [1, [2, 3]] recursive", 4, 0),
        ("if", "x is number", 3, 1),
        ("else", "", 1, 3),
    ]


def test_inline_conditions_count_both_ways() -> None:
    found = counts_of(
        "{% for m in messages %}{{ ('if' if (m.role == 'user') else 'x') }}{{ 'y' if m.name }}{% endfor %}"
    )

    assert found[1:] == [
        ("inline-if", "(m.role == 'user')", 2, 1),
        ("inline-else", "(m.role == 'user')", 1, 2),
        ("inline-if", "m.name", 0, 3),
        ("inline-else", "m.name", 3, 0),
    ]


def test_places_are_those_of_the_tags_and_the_last_line_of_the_body() -> None:
    found = branches_of(
        "top\r\n  {%- if tools %}\n  a\n  b\n"
        "  {%- elif x %}{# {% if no %} #}{% raw %}{% if no %}{% endraw %}\n{% else -%}\nc\n{% endif %}"
    )

    assert [(one.kind, one.line, one.column, one.end_line) for one in found] == [
        ("if", 2, 3, 4),
        ("elif", 5, 3, 5),
        ("else", 6, 1, 7),
    ]


def test_counts_are_those_of_one_render() -> None:
    template = "{% if flag %}x{% endif %}"

    assert counts_of(template, flag=True) == counts_of(template, flag=True) == [("if", "flag", 1, 0)]
    assert counts_of(template, flag=False) == [("if", "flag", 0, 1)]


def test_text_without_attribution_has_no_branches() -> None:
    template = "{% if true %}{% endif %}{{ range(10**5) | random }}{{ range(10**5) | random }}"

    assert run_job(RenderJob(template, (Variable("messages", MESSAGES, ("messages",)),))).branches == ()
