"""Outputs that copying changed: a person's sentence below a call that breaks off."""

from __future__ import annotations

import time

import pytest

from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of
from prompt_debugger.core.evidence.copying.raw_output import BELOW, as_written

CUT = '<tool_call>\n{"name": "get_weather", "arguments": {'


def codes(text: str) -> set[str]:
    return {finding.code for finding in diagnose_trace(trace_of(read_evidence(text)))}


@pytest.mark.parametrize("end", ["", '"city": "Oslo", ', '"city": '])
def test_a_sentence_below_a_cut_call_is_not_its_arguments(end: str) -> None:
    evidence = read_evidence(f"{CUT}{end}\n\nHas anybody seen this? It worked last week.\n")

    assert evidence.raw == f"{CUT}{end}".rstrip()
    assert BELOW in evidence.notes
    assert "PD308" not in codes(f"{CUT}{end}\n\nHas anybody seen this? It worked last week.\n")


@pytest.mark.parametrize(
    "raw",
    [
        f'{CUT}"text": "Dear all,\n\nThis is the letter that was promised.',  # within a value
        f'{CUT}"city": "Oslo"}}}}\n</tool_call>\n\nThe weather will be looked up now.',  # after a whole call
        f'{CUT}\n\n  "city": "Oslo"',
        f"{CUT}\nHas anybody seen this?",
        "<think>\nI look.\n\nThe weather is fine today.",
    ],
)
def test_what_may_be_the_model_s_own_words_stays(raw: str) -> None:
    assert as_written(raw) == (raw, ())


def test_a_flood_takes_no_longer() -> None:
    started = time.process_time()
    for piece in ('\n{"a": {', "\n\n", "words and words ", '>{"name": '):
        as_written(piece * (200_000 // len(piece)) + "\n\nHas anybody seen this?")

    assert time.process_time() - started < 3
