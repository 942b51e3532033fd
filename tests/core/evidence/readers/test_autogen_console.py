"""The console of AutoGen's chats: the suggested call is the answer, and a failed one comes before a later one."""

from __future__ import annotations

import pytest

from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.evidence import read_evidence, trace_of

_STARS = "*" * 40


def _turn(name: str, arguments: str, result: str | None = None, *, kind: str = "tool") -> str:
    head = f"assistant (to user_proxy):\n\n***** Suggested {kind} call (call_{name}): {name} *****\nArguments: \n"
    text = f"{head}{arguments}\n{_STARS}\n"
    if result is None:
        return text
    ran = f"\n{'-' * 40}\n\n>>>>>>>> EXECUTING FUNCTION {name}...\nuser_proxy (to assistant):\n\n"
    return f"{text}{ran}***** Response from calling {kind} (call_{name}) *****\n{result}\n{_STARS}\n"


def _codes(text: str) -> list[str]:
    return [finding.code for finding in diagnose_trace(trace_of(read_evidence(text)))]


@pytest.mark.parametrize("kind", ["tool", "function"])
def test_the_whole_call_as_its_arguments_is_named(kind: str) -> None:
    assert _codes(_turn("rate", '{\n  "name": "rate",\n  "arguments": {\n    "base": 1\n  }\n}', kind=kind)) == [
        "PD453"
    ]


def test_arguments_that_end_early_are_named_with_the_call_that_failed() -> None:
    text = _turn("rate", '{"base": 1, "to": ', "Error: Expecting value: line 1 column 18 (char 17)") + _turn(
        "other", "{}"
    )
    evidence = read_evidence(text)
    assert evidence.chat is not None
    assert "PD320" in _codes(text)
    assert "'rate'" in str(evidence.chat.message)
    assert "'other'" not in str(evidence.chat.message)


def test_a_call_that_went_well_has_nothing_wrong_with_it() -> None:
    text = _turn("rate", '{"base": 1}', "112.22")
    assert _codes(text) == []
    assert not any("left out" in note for note in read_evidence(text).notes)


@pytest.mark.parametrize("piece", ["***** Suggested tool call (a): b *****\nArguments: \n{}\n", _STARS + "\n"])
def test_a_flood_is_read_in_time(piece: str) -> None:
    evidence = read_evidence(_turn("rate", "{}") + piece * (40_000 // len(piece)))
    assert evidence.chat is not None
