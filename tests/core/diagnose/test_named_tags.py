r"""An element with the name of a tool is a call where the name, the request and what it holds leave no doubt."""

from __future__ import annotations

import time

import pytest

from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from prompt_debugger.core.diagnose.calls.named_tags import find_named_tag

WRITTEN = '<get_weather>{"city": "Oslo"}</get_weather>'
NESTED = "<create_event>\n  <title>Lunch</title>\n  <day>Monday</day>\n</create_event>"


@pytest.mark.parametrize("text", [WRITTEN, f"Let me look. {WRITTEN}\nOne moment.", f"So:\n{NESTED}\n"])
def test_a_name_that_says_what_a_tool_does_needs_no_request(text):
    found = find_client_call(text)

    assert found is not None
    assert found.notation is Notation.TOOL_TAG
    assert text[slice(*found.span)].startswith(f"<{found.name}>")


@pytest.mark.parametrize("text", ['<look city="Oslo" />', '<look>{"a": 1}</look>', "<look><a>1</a></look> Done."])
def test_any_name_is_a_call_if_the_request_offers_it(text):
    assert find_named_tag(text, ["look"]) is not None
    assert find_named_tag(text, ["see"]) is None
    assert find_named_tag(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '<user_profile>{"city": "Oslo"}</user_profile>',
        '<get_weather_response>{"city": "Oslo"}</get_weather_response>',
        '<get_weather>{"type": "object", "properties": {}}</get_weather>',
        "<get_weather>the weather of a city</get_weather>",
        f"{NESTED}\nis what the service sends.",
        f"<?xml version='1.0'?>\n{NESTED}",
        "The tag <get_weather> holds a city.",
        '<get_weather>{"city": "Os',
    ],
)
def test_an_element_that_may_be_something_else_is_left(text):
    assert find_named_tag(text) is None


@pytest.mark.parametrize("piece", ["<get_a>", "<get_a>{</get_a>", "<get_a><b>", '<a b="c" ', "<", "<get_a><b></b>"])
def test_floods_are_read_in_time(piece):
    started = time.monotonic()
    find_named_tag(piece * (200_000 // len(piece)), ["get_a", "a"])
    assert time.monotonic() - started < 5
