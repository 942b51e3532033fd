"""A key is found however it is written, what only looks like one is left, and text stays what it was around it."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.report.redact import redact_json, redact_text
from prompt_debugger.core.report.secret_forms import disguised_secrets
from prompt_debugger.core.report.secret_places import PLACES
from prompt_debugger.core.report.secret_shapes import SHAPES
from prompt_debugger.ui.report.mask import mask_text
from tests.core.report.odd_secrets import KEY
from tests.core.report.written_secrets import LIKE, ODD, shows


def test_there_are_many() -> None:
    assert len(ODD) >= 140


def test_a_key_written_oddly_is_removed() -> None:
    for name, odd in ODD.items():
        for text in (odd, f"before {odd} after", f"one\ntwo {odd}\nthree"):
            assert not shows(redact_text(text)), (name, redact_text(text))


def test_it_is_covered_character_by_character() -> None:
    for name, odd in ODD.items():
        text = f"before {odd} after"

        masked = mask_text(text)

        assert len(masked) == len(text), name
        assert not shows(masked), name
        assert masked.startswith("before "), name
        assert masked.endswith(" after"), name


def test_json_that_holds_it_stays_json() -> None:
    for name, odd in ODD.items():
        value: JSON = {"messages": [{"content": odd}], "n": 1}

        assert not shows(json.dumps(redact_json(value), ensure_ascii=False)), name
        assert json.loads(mask_text(json.dumps(value)))["n"] == 1, name


@pytest.mark.parametrize("text", LIKE)
def test_what_only_looks_like_one_is_left(text: str) -> None:
    assert redact_text(text) == text


def test_what_surrounds_it_is_left() -> None:
    assert (
        redact_text(f"> my key\n> {KEY[:12]}\n> {KEY[12:]}\n> thanks") == "> my key\n> [removed]\n> [removed]\n> thanks"
    )
    assert redact_text(f"the key {KEY}\nand then") == "the key [removed]\nand then"
    assert redact_text(f'"{KEY[:12]}" + "{KEY[12:]}"') == '"[removed]" + "[removed]"'


def test_what_is_covered_is_not_covered_again() -> None:
    for text in ODD.values():
        once = redact_text(text)
        assert redact_text(once) == once


def test_places_are_in_order_and_apart() -> None:
    text = " ".join(ODD.values())
    spans = disguised_secrets(text, (*PLACES, *SHAPES))

    assert spans == sorted(spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
