"""Outputs that errors and logs quote, to their end and without what the log puts around them."""

from __future__ import annotations

import pytest

from tests.core.evidence.pasted import codes, said, shown

BLOCK = "<tool_call>\n<function=write>\n<parameter=text>\nfirst\n\nsecond\n</parameter>\n</function>\n</tool_call>"
REFUSED = (
    '{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format"}}'
)


def raw_of(text: str) -> str:
    """Return the raw output that was read in a text."""
    raw = shown(text).raw
    return "" if raw is None else raw.text


def test_blank_lines_are_part_of_a_quoted_block_of_tags():
    trace = shown(f"Failed to parse input at pos 40: {BLOCK}\n")

    assert raw_of(f"Failed to parse input at pos 40: {BLOCK}\n") == BLOCK
    assert trace.parse is not None
    assert [call.status.value for call in trace.parse.parsed.calls] == ["complete"]


def test_a_paragraph_below_a_quoted_output_is_not_part_of_it():
    quoted = "<tool_call>{</tool_call>"

    assert raw_of(f"Failed to parse input at pos 40: {quoted}\n\nHow can I see more?\n") == quoted


@pytest.mark.parametrize("level", ["W ", ""])
def test_an_unparsed_output_ends_at_the_next_line_of_the_log(level):
    log = (
        f"{level}common_chat_peg_parse: unparsed peg-native output: <think>\n"
        f"{level}srv  operator(): got exception: {REFUSED}\n"
    )

    assert raw_of(log) == "<think>"
    assert codes(log) == ["PD445"]


def test_the_port_of_a_child_is_no_part_of_an_output():
    lines = ["138.47.694.043 W common_chat_peg_parse: unparsed peg-native output: x", *BLOCK.split("\n")]
    log = "\n".join(f"[56885] {line}" for line in lines if line) + "\n"

    assert "[56885]" not in raw_of(log)
    assert "stray text" not in said(log)


@pytest.mark.parametrize("comma", [",", ""])
def test_what_a_decoder_says_of_an_output_is_no_part_of_it(comma):
    said_of_it = said(f'error parsing tool call: raw=\'{{"city": "Oslo"\'{comma} err=unexpected end of JSON input')

    assert "the text ends while the JSON is still open" in said_of_it
    assert "breaks off" not in said_of_it
