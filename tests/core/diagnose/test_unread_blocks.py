"""Markers of a call around what is none: found where a model wrote them, not where a text speaks of them."""

from __future__ import annotations

import pytest

from prompt_debugger.core.diagnose.calls.unread_blocks import find_unread_block
from tests.attacks.growth import grows_linearly

BLOCKS = {
    "<tool_call>lamp_on(room=hall)</tool_call>": "lamp_on(room=hall)",
    "Ok.<|tool_call>lamp_on<tool_call|>": "lamp_on",
    "So:\n<|tool_call_start|>lamp on<|tool_call_end|>": "lamp on",
    "<start_function_call>call:call:<end_function_call>": "call:call:",
}


@pytest.mark.parametrize(("text", "inner"), BLOCKS.items())
def test_a_block_that_holds_no_call_is_found(text, inner):
    block = find_unread_block(text)

    assert block is not None
    assert block.inner == inner
    assert text[slice(*block.span)] == f"{block.begins}{inner}{block.ends}"


@pytest.mark.parametrize(
    "text",
    [
        "Calls begin with <tool_call> and end with </tool_call>.",
        "So:\n<tool_call>\nNAME\n</tool_call> is what it writes.",
        "<tool_call>{{ call }}</tool_call>",
        "<tool_call>...</tool_call>",
        "<tool_call>\n\n</tool_call>",
        "<tool_call>lamp_on(room=hall)",
        "`<tool_call>`lamp`</tool_call>`",
        "<tool_call>" + "a " * 1_500 + "</tool_call>",
    ],
)
def test_mentions_templates_and_open_blocks_are_not(text):
    assert find_unread_block(text) is None


@pytest.mark.parametrize("unit", ["<tool_call>", "<tool_call>a</tool_call> b", "   \n", "<|tool_call>a"])
def test_a_flood_takes_linear_time(unit):
    assert grows_linearly(lambda size: find_unread_block(unit * size), first=500)
