"""Our own reader is offered where it reads more, and only there."""

from prompt_debugger.core.check.way_out import way_out
from tests.core.check.checks import RIGHT, WRONG, check_of
from tests.core.check.templates import HERMES, changed


def offered(check, row, family="hermes"):
    return way_out(check.ideals, check.tools, family, row)


def test_it_is_offered_where_nothing_works_or_less_does():
    check = check_of()
    calls = sum(bool(ideal.answer.calls) for ideal in check.ideals)
    all_but_one = {ideal.answer.name: RIGHT for ideal in check.ideals} | {"two-calls": WRONG}

    assert f"finds the calls of {calls} of {calls} answers" in offered(check, {})
    assert "prompt-debugger plugin --family hermes" in offered(check, all_but_one)


def test_it_is_not_offered_where_parsers_read_as_much():
    check = check_of()

    assert offered(check, {ideal.answer.name: RIGHT for ideal in check.ideals}) is None
    assert offered(check, {}, family=None) is None


def test_it_is_not_offered_for_a_format_that_it_does_not_read():
    strange = changed(HERMES, "<tool_call>\n", "<!-- call ").replace("\n</tool_call>", " -->")

    assert offered(check_of(strange), {}) is None
