"""A lab is not asked what would keep it busy for everyone; all else it is asked as it is."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from prompt_debugger.core.base.errors import EngineError, RequestError
from prompt_debugger.core.tools.grammar import GrammarEngine, GrammarMissingError, GrammarTooMuchError
from prompt_debugger.core.tools.lab import LabSpec
from prompt_debugger.core.tools.lab.guard import LabGuard, constraints_of
from tests.core.tools.lab.heavy import HARMLESS, HEAVY, USUAL, body_with, tool

# What is heavy takes minutes, and what people ask thousandths of a second; `test_lab_hangs.py` has the usual limit.
SHORT_S = 0.5
needs_xgrammar = pytest.mark.skipif(find_spec("xgrammar") is None, reason="XGrammar is not installed")


@pytest.fixture(scope="module")
def guard() -> Iterator[LabGuard]:
    guard = LabGuard(cpu_s=SHORT_S)
    yield guard
    guard.close()


@needs_xgrammar
@pytest.mark.slow
@pytest.mark.parametrize("kind", HEAVY)
def test_a_constraint_that_would_hold_up_the_lab_is_refused_with_its_field(guard, kind):
    field, extra = HEAVY[kind]

    with pytest.raises(RequestError, match=r"The lab was not asked: the grammar of `.*` takes more than") as raised:
        guard.check(body_with(extra), LabSpec())

    assert raised.value.field == field


@needs_xgrammar
@pytest.mark.parametrize("kind", HARMLESS)
def test_what_people_ask_is_let_through(guard, kind):
    guard.check(body_with(HARMLESS[kind]), LabSpec())


@needs_xgrammar
def test_a_server_that_holds_every_tool_to_its_schema_is_known(guard):
    body = body_with(HARMLESS["a heavy tool that may be called freely"])

    for arguments in (("--tool-strict-level", "parameter"), ("--tool-strict-level=parameter",)):
        with pytest.raises(RequestError):
            guard.check(body, LabSpec(extra_args=arguments))


@pytest.mark.parametrize(
    ("name", "value"),
    [("padding", "max_length"), ("padding", True), ("padding", "longest"), ("tokenizer_kwargs", {"padding": True})],
)
def test_a_prompt_that_would_be_padded_is_refused_with_its_field(guard, name, value):
    switches = {"tokenize": True, "max_length": 10**9, name: value}

    with pytest.raises(RequestError, match=f"The lab was not asked: `{name}`") as raised:
        guard.check(body_with({"chat_template_kwargs": switches}), LabSpec())

    assert raised.value.field == f"chat_template_kwargs.{name}"


@pytest.mark.parametrize(
    "switches",
    [{"enable_thinking": False, "max_length": 9}, {"padding": False, "tokenizer_kwargs": {}}, None, "padding", []],
    ids=str,
)
def test_switches_that_pad_nothing_are_let_through(guard, switches):
    guard.check(body_with({"chat_template_kwargs": switches}), LabSpec())


class Engine:
    """XGrammar with a price for everything."""

    def __init__(self, cost_s: float = 0.0, error: EngineError | None = None) -> None:
        self._cost_s, self._error = cost_s, error
        self.asked: list[tuple[str, float]] = []

    def cost_of_compiling(self, kind: str, value: object, cpu_s: float) -> float:
        self.asked.append((kind, cpu_s))
        if self._error is not None:
            raise self._error
        if self._cost_s > cpu_s:
            raise GrammarTooMuchError("too much")
        return self._cost_s


def judged_by(engine: Engine) -> LabGuard:
    stands_in: GrammarEngine = engine  # type: ignore[assignment]  # one question is all that is asked
    return LabGuard(stands_in, cpu_s=1.0)


def test_the_constraints_of_a_request_share_the_time():
    engine = Engine(cost_s=0.4)
    body = body_with(
        {"tools": [tool({**USUAL, "title": str(number)}) for number in range(4)], "tool_choice": "required"}
    )

    with pytest.raises(RequestError) as raised:
        judged_by(engine).check(body, LabSpec())

    assert raised.value.field == "tools[2].function.parameters"
    assert [round(cpu_s, 1) for _, cpu_s in engine.asked] == [1.0, 0.6, 0.2]


def test_what_was_judged_is_known_for_the_next_request():
    engine = Engine(cost_s=0.4)
    guard, cheap = judged_by(engine), body_with({"tools": [tool(USUAL)], "tool_choice": "required"})
    for _ in range(3):
        guard.check(cheap, LabSpec())
    twins = body_with({"tools": [tool(USUAL)] * 3, "tool_choice": "required"})

    with pytest.raises(RequestError) as raised:  # each counts, as the lab follows each
        guard.check(twins, LabSpec())

    assert raised.value.field == "tools[2].function.parameters"
    assert [round(cpu_s, 1) for _, cpu_s in engine.asked] == [1.0]


def test_what_was_too_much_alone_is_refused_without_trying_it_again():
    engine = Engine(cost_s=5.0)
    guard = judged_by(engine)
    for _ in range(2):
        with pytest.raises(RequestError):
            guard.check(body_with(HEAVY["regex"][1]), LabSpec())

    assert len(engine.asked) == 1


def test_without_xgrammar_the_lab_says_so_itself():
    judged_by(Engine(error=GrammarMissingError("not installed"))).check(body_with(HEAVY["regex"][1]), LabSpec())


def test_a_helper_that_cannot_be_had_lets_nothing_through():
    with pytest.raises(EngineError):
        judged_by(Engine(error=EngineError("no process"))).check(body_with(HEAVY["regex"][1]), LabSpec())


def test_a_request_without_constraints_needs_no_helper():
    engine = Engine()

    judged_by(engine).check(body_with({"tools": [tool(USUAL)]}), LabSpec())

    assert engine.asked == []


@pytest.mark.parametrize(
    "odd",
    [
        {"response_format": "json"},
        {"response_format": {"type": "json_schema", "json_schema": None}},
        {"structured_outputs": ["regex"]},
        {"structured_outputs": {"regex": None, "disable_any_whitespace": True}},
        {"tools": "none"},
        {"tools": [None, 3, {"function": None}], "tool_choice": "required"},
        {"guided_decoding_backend": "xgrammar"},
    ],
)
def test_what_is_not_a_constraint_is_none(odd):
    assert constraints_of(odd) == ()


def test_every_heavy_kind_is_read():
    assert {constraints_of(extra)[-1].field for field, extra in HEAVY.values()} == {
        field for field, _ in HEAVY.values()
    }
