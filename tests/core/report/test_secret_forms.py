"""A key is found however it is written, what only looks like one is left, and text stays what it was around it."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.report.redact import redact_json, redact_text
from prompt_debugger.core.report.secret_forms import odd_secrets
from prompt_debugger.core.report.secret_places import PLACES
from prompt_debugger.core.report.secret_shapes import SHAPES
from prompt_debugger.ui.report.mask import mask_text
from tests.core.report.odd_secrets import KEY
from tests.core.report.written_secrets import LIKE, ODD, shows


def test_there_are_many() -> None:
    assert len(ODD) >= 140


@pytest.mark.parametrize("name", ODD)
def test_a_key_written_oddly_is_removed(name: str) -> None:
    for text in (ODD[name], f"before {ODD[name]} after", f"one\ntwo {ODD[name]}\nthree"):
        assert not shows(redact_text(text)), redact_text(text)


@pytest.mark.parametrize("name", ODD)
def test_it_is_covered_character_by_character(name: str) -> None:
    text = f"before {ODD[name]} after"

    masked = mask_text(text)

    assert len(masked) == len(text)
    assert not shows(masked)
    assert masked.startswith("before ")
    assert masked.endswith(" after")


@pytest.mark.parametrize("name", ODD)
def test_json_that_holds_it_stays_json(name: str) -> None:
    value: JSON = {"messages": [{"content": ODD[name]}], "n": 1}

    assert not shows(json.dumps(redact_json(value), ensure_ascii=False))
    assert json.loads(mask_text(json.dumps(value)))["n"] == 1


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
    spans = odd_secrets(text, (*PLACES, *SHAPES))

    assert spans == sorted(spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
