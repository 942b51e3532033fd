"""What is told apart here: a class made by `value`, and the one that `dataclass` makes of the same fields."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from prompt_debugger.core.base.types.frozen import replace as replace_fields
from prompt_debugger.core.base.types.frozen import value


@value(frozen=True, slots=True)
class Ours:
    first: int
    second: tuple[int, ...] = (2,)
    third: dict[str, int] = field(default_factory=dict)


@value(frozen=True, slots=True, kw_only=True)
class OursBelow(Ours):
    own: str
    last: int = 5


@dataclass(frozen=True, slots=True)
class Theirs:
    first: int
    second: tuple[int, ...] = (2,)
    third: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirsBelow(Theirs):
    own: str
    last: int = 5


@pytest.mark.parametrize(("ours", "theirs"), [(Ours, Theirs), (OursBelow, TheirsBelow)])
def test_it_takes_the_same_arguments(ours, theirs):
    def parameters(cls):
        return [
            (one.name, one.kind, one.annotation, one.default is inspect.Parameter.empty)
            for one in inspect.signature(cls).parameters.values()
        ]

    assert parameters(theirs) == parameters(ours)


@pytest.mark.parametrize(
    ("positional", "named"),
    [((), {}), ((1,), {}), ((1, (3,)), {"third": {"a": 1}}), ((1, 2, 3, 4), {}), ((), {"x": 1})],
)
def test_it_makes_the_same_of_them(positional, named):
    def outcome(cls):
        try:
            made = cls(*positional, **named)
        except TypeError:
            return TypeError
        return made.first, made.second, made.third

    assert outcome(Theirs) == outcome(Ours)


def test_fields_of_a_class_above_are_set():
    made = OursBelow(1, own="x")

    assert (made.first, made.second, made.third, made.own, made.last) == (1, (2,), {}, "x", 5)


def test_no_two_share_a_made_default():
    assert Ours(1).third is not Ours(1).third


def test_nothing_can_be_set_later():
    made = Ours(1)

    with pytest.raises(FrozenInstanceError):
        made.first = 2


def test_values_are_compared_copied_and_pickled_as_such():
    made = Ours(1, (3,))

    assert made == pickle.loads(pickle.dumps(made))
    assert Ours(7, (3,)) == replace(made, first=7)
    assert repr(made) == "Ours(first=1, second=(3,), third={})"


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        (Ours(1), {}),
        (Ours(1, third={"a": 1}), {"second": ()}),
        (OursBelow(1, own="x"), {"own": "y", "first": 3}),
        (Theirs(1), {"first": 2}),
    ],
)
def test_a_copy_has_the_changes_and_everything_else(given, changes):
    assert replace_fields(given, **changes) == replace(given, **changes)
    assert type(replace_fields(given, **changes)) is type(given)


def test_a_copy_shares_its_values_and_leaves_the_original_alone():
    given = Ours(1, third={"a": 1})

    made = replace_fields(given, first=2)

    assert (given.first, made.first) == (1, 2)
    assert made.third is given.third


def test_a_field_that_a_class_lacks_cannot_be_changed():
    with pytest.raises(TypeError, match="colour"):
        replace_fields(Ours(1), colour=2)
