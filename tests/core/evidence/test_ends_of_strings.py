"""Pieces cut from the middle of JSON: the end of a string is read as one, and nothing is said of what came before."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.comparable import NO_BEGINNING
from prompt_debugger.core.evidence import read_evidence, show_evidence, trace_of
from prompt_debugger.core.evidence.copying.broken_json import end_of_string, is_part
from tests.attacks.growth import grows_linearly

CALLS = "".join(
    f'<|tool_call_begin|>functions.{name}:{at}<|tool_call_argument_begin|>{{"day": "Friday"}}<|tool_call_end|>'
    for at, name in enumerate(("find_room", "book_room", "send_mail"))
)
PAIR = json.dumps(
    {"raw": f"<|tool_calls_section_begin|>{CALLS}", "message": {"role": "assistant", "content": ""}}, indent=1
)


async def findings(text):
    return {one.code: one for one in (await show_evidence(read_evidence(text))).findings}


async def test_of_a_string_that_was_cut_the_calls_after_the_first_are_shown():
    text = PAIR[PAIR.index("room:0") :]

    found = await findings(text)

    assert read_evidence(text).raw == CALLS[CALLS.index("room:0") :]
    assert trace_of(read_evidence(text)).raw.completeness_reason == NO_BEGINNING
    assert {*found} == {"PD463"}
    assert "2 calls (`book_room`, `send_mail`) as a model writes them" in found["PD463"].title


async def test_what_is_missing_before_a_marker_that_was_cut_is_not_said_to_be():
    for text in (f"|{CALLS.partition('|')[2]}", CALLS.partition("_")[2]):
        assert "before it is missing" not in " ".join(one.title for one in (await findings(text)).values())


@pytest.mark.parametrize(
    "text",
    [
        r'": null, "tool_calls": [{"id": "functions.f:0<|tool_call_argument_begin|>{\"day\": 4}<|tool_call_end|>"}]',
        r"<parameter=day>4</parameter>\\n</function>\\n</tool_call>\\n<tool_call>\\n<function=find>",
        r'n<tool_call>\n<function=f>\n<parameter=d>\n4\n</parameter>\n</function>\n</tool_call>"',
    ],
    ids=["the end of a key", "a string within a string", "up to the quote"],
)
def test_other_pieces_of_strings_are_no_output(text):
    assert is_part(text)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "send", "arguments": {"to": "<b>you</b>", "content": "Hi"}}\n</tool_call>',
        '<function=send>\n<parameter=text>\nHe said "now", and left.\n</parameter>\n</function>',
        'I call it.\n<tool_call>\n{"name": "say", "arguments": {"text": "a\\nb", "type": "x"}}\n</tool_call>',
        'ame": "get_room", "arguments": {"day": 4}}\n</tool_call>',
    ],
    ids=["members of arguments", "a quotation", "escapes in arguments", "the rest of a call"],
)
def test_an_output_with_quotes_is_one(text):
    assert end_of_string(text) is None
    assert not is_part(text)


def test_the_escapes_of_line_breaks_between_tags_are_decoded():
    call = "<function=find>\\n<parameter=day>\\n4\\n</parameter>\\n</function>\\n</tool_call>"

    assert read_evidence(f"<tool_call>\\n{call}").raw == f"<tool_call>\n{call}".replace("\\n", "\n")
    assert read_evidence("<tool_call>\n<function=f>\n<parameter=t>a\\n</parameter>\n</function>").raw.count("\\n") == 1


def test_looking_for_the_first_quote_takes_time_in_proportion_to_the_text():
    assert grows_linearly(lambda size: is_part("\\a<" * size), first=2_000)
    assert grows_linearly(lambda size: is_part('a"' + ", " * size), first=2_000)
