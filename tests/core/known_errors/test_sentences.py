"""The tables of known sentences: each is found by its example, by nothing else, and says what it is for."""

from __future__ import annotations

import json
import re

import pytest

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors import KNOWN_ERRORS, Cause, KnownError, recognise_error
from prompt_debugger.core.known_errors.base import pattern_of
from tests.attacks.growth import grows_linearly

ALL = [(maker, error) for maker, errors in KNOWN_ERRORS.items() for error in errors]


def test_every_maker_has_sentences() -> None:
    assert len(ALL) >= 200
    assert all(KNOWN_ERRORS.values())
    assert len({error.says for _, error in ALL}) == len(ALL)


def test_each_example_is_recognised_as_its_sentence() -> None:
    found = {error.says: recognise_error(error.sample) for _, error in ALL}

    recognised = {says: one and (one.maker, one.error) for says, one in found.items()}
    assert recognised == {error.says: (maker, error) for maker, error in ALL}


def test_each_is_recognised_within_other_words_and_over_broken_lines() -> None:
    found = {}
    for _, error in ALL:
        broken = error.sample.replace(" ", "\n   ", 3)
        found[error.says] = recognise_error(f"BadRequestError: Error code: 400 - oh no. {broken} (request id 12)")

    assert {says: one and one.error for says, one in found.items()} == {error.says: error for _, error in ALL}


def test_half_a_sentence_is_another_one() -> None:
    found = {}
    for _, error in ALL:
        longest = max(error.literals, key=len).strip()
        half = error.sample.replace(longest, longest[: len(longest) // 2])
        found[error.says] = recognise_error(half)

    assert [error.says for _, error in ALL if (one := found[error.says]) and one.error is error] == []


def test_each_says_what_it_means_in_our_words() -> None:
    for _, error in ALL:
        for text in (error.means, error.remedy):
            assert text == text.strip(), error.says
            assert not text or (text[0].isupper() or text[0] == "`"), error.says
            assert not text or text.endswith("."), error.says
            assert not re.search(r"\b(?:is none of|behind)\b", text), error.says
        assert error.means, error.says
        assert error.source, error.says


def test_each_field_is_a_path_of_the_sentence_s_own_parts() -> None:
    for _, error in ALL:
        parts = set(re.findall(r"\{([a-z_]+)\}", error.field))

        assert parts <= set(pattern_of(error.says).groupindex), error.says
        assert re.fullmatch(r"(?:[A-Za-z_{}]+(?:\[[\d{}a-z]*\])*(?:\.|$))*", error.field), error.says


def test_a_sentence_with_variable_parts_has_an_example_of_them() -> None:
    for _, error in ALL:
        has_parts = bool(pattern_of(error.says).groupindex)

        assert not has_parts or error.example, error.says
        assert not re.search(r"\{[a-z_]+(?::int|:word)?\}", error.sample), error.says


PROSE = [
    "Hello, how can I help you today?",
    "The weather in Paris is fine, and the model says so.",
    "def render(messages):\n    raise ValueError('no messages')",
    json.dumps({"messages": [{"role": "user", "content": "Which tools does llama.cpp support?"}]}),
    "TypeError: 'NoneType' object is not subscriptable",
    "AttributeError: 'dict' object has no attribute 'items_'",
    "tool_choice",
    "",
]


@pytest.mark.parametrize("text", PROSE)
def test_other_texts_say_nothing_that_is_known(text: str) -> None:
    assert recognise_error(text) is None


def test_parts_fill_the_field() -> None:
    found = recognise_error("Missing `reasoning_content` field in the assistant message at message index 5. See there.")

    assert found is not None
    assert found.field == "messages[5].reasoning_content"


def test_of_two_sentences_that_fit_the_longer_one_is_meant() -> None:
    found = recognise_error("After the optional system message, conversation roles must alternate user/assistant/...")

    assert found is not None
    assert found.error.says.startswith("After the optional")


def test_the_sentence_is_cut_out_of_what_is_around_it() -> None:
    text = "rpc error: code = 3 desc = \n---\nError: Jinja Exception: System message must be at the beginning. Bye."

    found = recognise_error(text)

    assert found is not None
    assert found.sentence == "System message must be at the beginning"


def test_stages_suggest_a_cause() -> None:
    error = KnownError("a", Stage.PARSE, "b", "c", "d")

    assert (error.is_about, error.link, error.sample) == (Cause.OUTPUT, None, "a")


HOSTILE = sorted({error.says.split("{")[0] for _, error in ALL if "{" in error.says and not error.says.startswith("{")})


@pytest.mark.slow
@pytest.mark.parametrize("start", HOSTILE)
def test_a_sentence_that_begins_forever_is_searched_in_linear_time(start: str) -> None:
    assert grows_linearly(lambda size: recognise_error(start * size), first=50, tries=2, doublings=6)


def test_what_it_says_begins_with_the_quotation_that_it_is_in() -> None:
    found = recognise_error("jinja2.exceptions.UndefinedError: 'list object' has no attribute 'strip'")

    assert found is not None
    assert found.sentence == "'list object' has no attribute 'strip'"
