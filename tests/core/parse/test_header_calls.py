"""A call that is cut inside its header takes nothing from below a blank line as its arguments."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.types import CallStatus
from prompt_debugger.core.evidence import read_evidence, show_evidence

CUT = "<|tool_calls_section_begin|><|tool_call_begin|>functio"


def calls(text):

    trace = asyncio.run(show_evidence(read_evidence(text)))
    return trace.parse.parsed.calls


def test_an_error_below_a_cut_call_is_not_its_arguments():
    (call,) = calls(f'{CUT}\n\n{{"error": {{"message": "no"}}}}')

    assert call.status is CallStatus.TRUNCATED
    assert call.arguments == ""


@pytest.mark.parametrize("gap", ["", " ", "\n"])
def test_arguments_right_below_a_header_without_its_separator_stay_its_own(gap):
    (call,) = calls(f'<|tool_call_begin|>functions.f:0{gap}{{"a": 1}}<|tool_call_end|>')

    assert call.arguments_json == {"a": 1}
