"""An error's list of tools is read to its end, also below a line break, and in a line that repeats the error."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.evidence import read_evidence, show_evidence

WORDS = "Model tried to call unavailable tool 'notes:find_note'."
LIST = " Available tools: look, run, \n<... others ...>\nmcp__Notes__add_note, mcp__Notes__find_note."


def said(text: str) -> str:
    trace = asyncio.run(show_evidence(read_evidence(text)))
    return " ".join(f"{one.title} {one.detail} {one.fix}" for one in trace.findings)


@pytest.mark.parametrize("text", [f"{WORDS}{LIST}", f"The client says: {WORDS}\n\n`{WORDS}{LIST}`\n"])
def test_a_tool_in_a_list_below_a_line_break_is_named(text):
    assert "`notes:find_note` is the available tool `mcp__Notes__find_note`" in said(text)


def test_what_a_person_wrote_in_place_of_tools_is_no_tool():
    assert "is the available tool" not in said(f"{WORDS} Available tools: look, \n<... find_note ...>\nrun.")


def test_prose_below_a_list_is_not_part_of_it():
    assert "is the available tool" not in said(f"{WORDS} Available tools: look, run.\nmcp__Notes__find_note is mine.")
