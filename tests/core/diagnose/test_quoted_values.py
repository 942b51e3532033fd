"""A refusal that quotes a value and names no field, as those of programs in Rust do: which field is meant."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Refusal, Request, Trace
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.diagnose.refusals.quoted_values import place_of_quoted
from tests.attacks.growth import grows_linearly

WORDS = "Failed to deserialize the JSON body into the target type: invalid type: {}, expected {} at line 1 column 9"
TOOL: JSON = {"type": "function", "function": {"name": "find", "strict": "yes"}}
ASKED: JSONObject = {
    "model": "m",
    "messages": [{"role": "user", "content": "How warm is it?"}],
    "temperature": "warm",
    "seed": 1.5,
    "n": 1,
    "stream": True,
    "tools": [TOOL],
}


@pytest.mark.parametrize(
    ("quoted", "place"),
    [
        ('string "warm"', "temperature"),
        ('string "yes"', "tools[0].function.strict"),
        ("floating point `1.5`", "seed"),
        ("integer `1`", "n"),
        ("boolean `true`", "stream"),
        ('string "cold"', None),
        ("map", None),
        ("integer `2`", None),
    ],
)
def test_the_only_field_with_a_quoted_value_is_meant(quoted: str, place: str | None) -> None:
    assert place_of_quoted(ASKED, WORDS.format(quoted, "f32")) == place


@pytest.mark.parametrize("other", [{"user": "warm"}, {"stop": ["warm"]}])
def test_of_several_with_the_value_none_is_named(other: JSONObject) -> None:
    assert place_of_quoted({**ASKED, **other}, WORDS.format('string "warm"', "f32")) is None


def test_the_fix_names_it() -> None:
    refusal = Refusal(400, WORDS.format('string "warm"', "f32"))

    (found,) = (one for one in diagnose_trace(Trace(Request(ASKED, ""), refusal=refusal)) if one.code == "PD100")
    (other,) = (
        one for one in diagnose_trace(Trace(Request({"model": "m"}, ""), refusal=refusal)) if one.code == "PD100"
    )

    assert "Send `temperature` in the type" in str(found.fix)
    assert "`temperature`" not in str(other.fix)


def test_long_words_and_bodies_are_looked_at_once() -> None:
    assert grows_linearly(lambda size: place_of_quoted(ASKED, 'invalid type: string "' + "\\a" * size), first=2_000)
    assert grows_linearly(
        lambda size: place_of_quoted({"stop": ["a"] * size}, WORDS.format('string "b"', "f32")), first=500
    )
