"""Outputs between lines that a script prints around them."""

from __future__ import annotations

import pytest

from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.reports.ruled_sections import has_sections, section_at
from tests.attacks.growth import grows_linearly

OPEN_LIST = '[{"name": "find_rooms", "arguments": {"day": "Friday"}}'
PAGE = f"""I ran it twice:

```
=====================
CASE one
=====================

--- Model Output ---
{OPEN_LIST}
--- End Output ---

Took 0.8 seconds

--- Model Output ---
[{{"name": "book_room", "arguments": {{"id": 4}}}}
--- End Output ---
```
"""


@pytest.mark.parametrize("text", [PAGE, PAGE.replace("```", "")])
async def test_the_first_of_several_outputs_is_read_and_how_many_there_are_is_noted(text):
    evidence = read_evidence(text)
    trace = await show_evidence(evidence)

    assert evidence.raw == OPEN_LIST
    assert any("2 raw outputs" in note for note in evidence.notes)
    assert [finding.code for finding in trace.findings] == ["PD463"]


@pytest.mark.parametrize(
    "lines",
    [
        ["--- Model Output ---", "It rains in Oslo.", "--- End ---"],
        ["--- Model Output ---", OPEN_LIST],
        ["--- Input ---", OPEN_LIST, "--- End ---"],
        ["--- End Output ---", OPEN_LIST, "--- End ---"],
        ["Model Output:", OPEN_LIST, "---"],
    ],
    ids=["prose", "no end", "an input", "an end", "no rule"],
)
def test_what_is_no_named_section_with_markup_stays_prose(lines):
    assert section_at(lines, 0) is None


def test_looking_for_sections_takes_time_in_proportion_to_the_text():
    assert grows_linearly(lambda size: has_sections("--- Output ---\n" * size), first=500)
    assert grows_linearly(lambda size: has_sections("-" * size), first=2_000)
