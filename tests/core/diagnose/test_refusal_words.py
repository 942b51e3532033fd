"""The words of a refusal as a title has them, the field that they mean, and the place that the request has of it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSONObject, Refusal, Request, Trace
from prompt_debugger.core.diagnose.refusals.fields import Spot
from prompt_debugger.core.diagnose.refusals.understand import understand
from prompt_debugger.core.diagnose.refusals.words import (
    TITLE_CHARS,
    evidence_of,
    field_in_words,
    heading,
    held_path,
    title_words,
    words_of,
)

BODY: JSONObject = {"tools": [{"type": "x", "function": {"name": "f"}}], "top_logprobs": 40, "model": "m"}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("It is\n  too  long.", "It is too long"),
        ("It goes on...", "It goes on..."),
        ("太长。", "太长"),
        ("It is odd. (parameter=top_p, value=7)", "It is odd"),
        ("It is odd (so it is).", "It is odd (so it is)"),
    ],
)
def test_words_are_one_line_without_a_stop(message: str, words: str) -> None:
    assert words_of(Refusal(400, message)) == words


def test_a_heading_has_status_and_field_where_they_are_known() -> None:
    assert heading(Refusal(None, "Zork."), None) == "Its words: Zork."
    assert heading(Refusal(None, "Zork..."), "tools") == "Its words, field `tools`: Zork."
    assert heading(Refusal(422, "Zork."), "tools").endswith(", field `tools`: Zork.")
    assert "422" in heading(Refusal(422, "Zork."), None)


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("Zork at row 3, column 7: {{ x }} ^ at row 9, column 1: y", "Zork at row 3, column 7"),
        ("Zork went odd [type=int_parsing, input_value='a', input_type=str]", "Zork went odd"),
        ("Zork went odd!", "Zork went odd"),
        ("z" * 400, "z" * (TITLE_CHARS - 1) + "…"),
    ],
)
def test_a_title_leaves_out_what_a_validator_or_a_template_quotes(message: str, title: str) -> None:
    assert title_words(understand(Refusal(400, message))) == title


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("Unrecognized request argument supplied: tools", "tools"),
        ("Unknown parameters are the tools", "tools"),
        ("We refuse `tools` here", "tools"),
        ("We refuse 'tools' here", "tools"),
        ("Too large: top_logprobs", "top_logprobs"),
        ("Too large: my_top_logprobs", None),
        ("The model wrote no tools", None),
        ("Unrecognized argument: toolset", None),
        ("We refuse `tools` and `model`", None),
        ("Argument: this is much too far from tools", None),
    ],
)
def test_words_mean_a_field_if_no_prose_reads_like_that(words: str, field: str | None) -> None:
    assert field_in_words(words, BODY) == field
    assert field_in_words(words, {}) is None


@pytest.mark.parametrize(
    ("field", "held"),
    [
        ("tools[0].function.name", "tools[0].function.name"),
        ("tools[0].function.parameters", "tools[0].function"),
        ("tools[1].function", "tools"),
        ("tools.function", "tools"),
        ("top_logprobs[0]", "top_logprobs"),
        ("seed", ""),
        ("", ""),
    ],
)
def test_a_path_is_followed_as_far_as_the_request_goes(field: str, held: str) -> None:
    assert held_path(BODY, field) == held


def test_the_evidence_is_places_of_the_request_and_then_the_servers_words() -> None:
    trace, read = Trace(Request(BODY, "")), understand(Refusal(400, "Zork."))

    def quoted(field: str | None, *spots: Spot) -> list[tuple[str, str | None, str | None]]:
        return [(one.where, one.field, one.quote) for one in evidence_of(trace, read, spots, field)]

    words = ("server", None, "400 Zork")
    assert quoted(None) == [words]
    assert quoted("seed") == [words]
    assert quoted("top_logprobs") == [("request", "top_logprobs", "40"), words]
    assert quoted("tools[0].type") == [("request", "tools[0].type", "x"), words]
    assert quoted("tools[0]") == [("request", "tools[0]", None), words]
    assert quoted("tools", Spot("model", "It is odd.", "m")) == [("request", "model", "m"), words]
    bare = evidence_of(trace, understand(Refusal(None, "Zork.")), (), None)
    assert [one.quote for one in bare] == ["Zork"]
