"""Families are asked only about texts that show a sign of them, and that changes no score."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS, TextFormat, pick_format, read_scored, score_formats
from prompt_debugger.core.formats._detect import Detector
from tests import strategies
from tests.core.formats.scenarios import written

MARKERS = sorted({text for one in FORMATS.values() for text in (*one.cut_texts, *(mark.text for mark in one.marks))})
TAILS = ("", "<think>\n", "<|im_assistant|>assistant<|im_middle|>", "<|start|>assistant", "<seed:think>", "◁think▷")
DETECTOR = Detector(FORMATS)
TAIL_PIECES = sorted({"<|im_end|>", "\n", "user", *(text for one in FORMATS.values() for text in one.tail_texts)})
KIMI = '<|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"q": "x"}<|tool_call_end|>'


def scored_one_by_one(raw, context):
    scores = {name: one.match(raw, context) for name, one in FORMATS.items()}
    return sorted(scores.items(), key=lambda item: (-item[1].score, item[0]))


def halves():
    """Build beginnings of markers."""
    return st.sampled_from(MARKERS).flatmap(lambda text: st.integers(1, len(text)).map(lambda size: text[:size]))


@settings(deadline=None)
@given(
    raw=st.tuples(strategies.raw_texts(), st.just("") | halves()).map("".join),
    tail=st.sampled_from(TAILS),
    finish=st.sampled_from([None, "stop", "length"]),
)
def test_all_at_once_gives_the_scores_of_one_by_one(raw, tail, finish):
    context = ReadContext((), tail, finish)

    assert list(score_formats(raw, context).items()) == scored_one_by_one(raw, context)


@pytest.mark.parametrize("marker", MARKERS)
def test_half_a_marker_is_found_as_one_by_one(marker):
    for size in range(1, len(marker) + 1):
        for finish in ("stop", "length"):
            context = ReadContext(finish_reason=finish)
            raw = f"Let me see. {marker[:size]}"
            assert list(score_formats(raw, context).items()) == scored_one_by_one(raw, context)


@pytest.mark.slow
def test_the_reading_is_that_of_the_best_format():
    for case in written():
        context = ReadContext(case.tools, finish_reason="stop")
        scores, reading = read_scored(case.raw, context)
        assert reading == pick_format(case.raw, context).read(case.raw, context)
        assert reading.format == next(iter(scores))


def asked(monkeypatch, raw):
    """Return which formats were weighed, and which read the text, in order."""
    weighed, readers = [], []
    weigh, read = TextFormat.weigh, TextFormat.read

    def note_weigh(self, *arguments):
        weighed.append(self.name)
        return weigh(self, *arguments)

    def note_read(self, *arguments):
        readers.append(self.name)
        return read(self, *arguments)

    monkeypatch.setattr(TextFormat, "weigh", note_weigh)
    monkeypatch.setattr(TextFormat, "read", note_read)
    read_scored(raw, ReadContext(finish_reason="stop"))
    return weighed, readers


def test_only_families_with_a_sign_are_asked(monkeypatch):
    weighed, readers = asked(monkeypatch, f"Let me look.{KIMI}")

    assert "kimi_k2" in weighed
    assert len(weighed) == len(set(weighed)) < 5
    assert readers == ["kimi_k2"]


def test_prose_asks_no_one(monkeypatch):
    assert asked(monkeypatch, "It is sunny in Oslo, and it stays so.") == ([], ["generic"])


def test_a_call_without_marks_is_read_once_by_its_family(monkeypatch):
    _, readers = asked(monkeypatch, json.dumps({"name": "search", "parameters": {"q": "x"}}))

    assert readers == ["llama3_json"]


@given(st.lists(st.sampled_from(TAIL_PIECES), max_size=5).map("".join))
def test_the_end_of_a_prompt_is_looked_up_as_family_by_family(tail):
    one_by_one = {name for name, one in FORMATS.items() if one.tail_in(tail) is not None}

    assert set(DETECTOR._list_by_tail(tail)) == one_by_one
