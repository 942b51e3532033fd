"""A traced text is a `str` in everything it does, and its runs stay true."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.render.trace.formatting import modulo
from prompt_debugger.core.render.trace.runs import (
    BUDGET,
    Budget,
    Field,
    Run,
    RunBudgetError,
    RunKind,
    expand,
    total_length,
)
from prompt_debugger.core.render.trace.strings import TracedStr, literal, plain, traced
from tests.examples import examples

ALPHABET = "aAbB ßİ\n\t,.é日👩\u0301<|>"
TEXTS = st.text(ALPHABET, max_size=12)
SMALL = st.integers(-5, 14)


def field_text(text: str, name: str = "messages") -> TracedStr:
    return traced(text, (Run(len(text), RunKind.COPY, Field(None, name, text), 0, len(text)),) if text else ())


OPERATIONS: list[tuple[str, Callable[[st.DataObject], tuple[object, ...]]]] = [
    ("strip", lambda _: ()),
    ("lstrip", lambda data: (data.draw(TEXTS),)),
    ("rstrip", lambda data: (data.draw(TEXTS),)),
    ("split", lambda data: (data.draw(TEXTS.filter(bool)), data.draw(st.integers(-1, 3)))),
    ("split", lambda data: (None, data.draw(st.integers(-1, 3)))),
    ("rsplit", lambda data: (data.draw(TEXTS.filter(bool)), data.draw(st.integers(-1, 3)))),
    ("rsplit", lambda data: (None, data.draw(st.integers(-1, 3)))),
    ("partition", lambda data: (data.draw(TEXTS.filter(bool)),)),
    ("rpartition", lambda data: (data.draw(TEXTS.filter(bool)),)),
    ("splitlines", lambda data: (data.draw(st.booleans()),)),
    ("replace", lambda data: (data.draw(TEXTS), data.draw(TEXTS), data.draw(st.integers(-1, 3)))),
    ("removeprefix", lambda data: (data.draw(TEXTS),)),
    ("removesuffix", lambda data: (data.draw(TEXTS),)),
    ("upper", lambda _: ()),
    ("lower", lambda _: ()),
    ("title", lambda _: ()),
    ("capitalize", lambda _: ()),
    ("swapcase", lambda _: ()),
    ("casefold", lambda _: ()),
    ("center", lambda data: (data.draw(SMALL),)),
    ("ljust", lambda data: (data.draw(SMALL), "*")),
    ("rjust", lambda data: (data.draw(SMALL),)),
    ("zfill", lambda data: (data.draw(SMALL),)),
    ("expandtabs", lambda data: (data.draw(st.integers(0, 9)),)),
    ("join", lambda data: (data.draw(st.lists(TEXTS, max_size=4)),)),
    ("__getitem__", lambda data: (slice(data.draw(SMALL), data.draw(SMALL), data.draw(st.sampled_from([1, 2, -1]))),)),
    ("__add__", lambda data: (data.draw(TEXTS),)),
    ("__radd__", lambda data: (data.draw(TEXTS),)),
    ("__mul__", lambda data: (data.draw(st.integers(-1, 3)),)),
]


def assert_true(text: TracedStr) -> None:
    """Runs tile the text, and copied ones repeat the characters they claim."""
    runs = expand(text._runs)
    assert total_length(runs) == len(text)
    position = 0
    for run in runs:
        shown = plain(text)[position : position + run.length]
        if run.kind in (RunKind.COPY, RunKind.CASED):
            assert isinstance(run.source, Field)
            claimed = (run.source.text or "")[run.start : run.stop]
            assert len(claimed) == len(shown)
            assert claimed == shown or (run.kind is RunKind.CASED and claimed.casefold() == shown.casefold())
        position += run.length


@settings(max_examples=examples(400), deadline=None)
@given(st.data())
def test_every_operation_gives_the_text_of_str_and_true_runs(data: st.DataObject) -> None:
    text = field_text(data.draw(TEXTS, label="text"))
    for _ in range(data.draw(st.integers(1, 4))):
        name, arguments = data.draw(st.sampled_from(OPERATIONS), label="operation")
        values = arguments(data)
        if name == "__radd__":
            expected: object = values[0] + plain(text)  # type: ignore[operator]  # two texts
        else:
            expected = getattr(str, name)(plain(text), *values)

        made = getattr(text, name)(*values)

        assert made == expected
        parts = made if isinstance(made, (list, tuple)) else [made]
        for part in parts:
            assert type(part) is TracedStr
            assert_true(part)
        text = parts[-1] if parts else text


@given(TEXTS)
def test_iterating_gives_each_character_with_its_place(content: str) -> None:
    characters: list[TracedStr] = list(field_text(content))  # type: ignore[arg-type]  # typeshed: str iterates over str

    assert characters == list(content)
    assert [(run.start, run.stop) for char in characters for run in char._runs] == [
        (index, index + 1) for index in range(len(content))
    ]


@pytest.mark.parametrize(
    ("template", "values"), [("%s and %s", ("a", "b")), ("%%%s", "x"), ("%5s|%d", ("a", 3)), ("%", ())]
)
def test_percent_formatting_is_that_of_str(template: str, values: object) -> None:
    try:
        expected = template % values
    except ValueError:
        with pytest.raises(ValueError):
            modulo(field_text(template), values)
        return

    made = modulo(field_text(template), values)

    assert type(made) is TracedStr
    assert made == expected
    assert_true(made)


@pytest.mark.parametrize(
    "operation",
    [
        lambda text: text + 1,
        lambda text: text + None,
        lambda text: text + [1][:0],
        lambda text: text * "a",
        lambda text: text.strip(1),
        lambda text: text.strip("a", "b"),
        lambda text: text.split(""),
        lambda text: text.join([1]),
        lambda text: text.join(5),
        lambda text: text["a"],
        lambda text: text[99],
        lambda text: text.center(),
        lambda text: text.replace("a"),
    ],
)
def test_errors_are_worded_as_those_of_str(operation: Callable[[str], object]) -> None:
    with pytest.raises(Exception) as expected:  # whatever str raises
        operation("abc")

    with pytest.raises(type(expected.value)) as raised:
        operation(field_text("abc"))

    assert str(raised.value) == str(expected.value)


def test_a_literal_cut_in_two_keeps_its_offsets() -> None:
    head, tail = literal("hello|world", RunKind.LITERAL, 7, 18).split("|")

    assert [(run.start, run.stop) for run in (*head._runs, *tail._runs)] == [(7, 12), (13, 18)]


def _take_apart(times: int) -> None:
    for _ in range(times):
        list(field_text("x" * 10_000))


@pytest.mark.slow
def test_taking_text_apart_endlessly_ends_with_the_budget() -> None:
    token = BUDGET.set(Budget(100_000, 60.0))
    try:
        with pytest.raises(RunBudgetError):
            _take_apart(100)
    finally:
        BUDGET.reset(token)
