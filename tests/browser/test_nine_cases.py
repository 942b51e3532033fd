"""The nine worked cases, chosen and run by clicking: badge, sentence, guilty stage, findings."""

from __future__ import annotations

import pytest

from prompt_debugger.core.pipeline import find_example
from tests.browser.page import DebuggerPage

pytestmark = [pytest.mark.browser, pytest.mark.lab]

CASES = {
    "healthy-call": (None, "1 call written, 1 returned. Nothing lost.", None),
    "parallel-calls": (None, "2 calls written, 2 returned. Nothing lost.", None),
    "missing-generation-prompt": ("render", "no generation prompt", "missing-generation-prompt"),
    "polluted-content": ("render", "[{'type': 'text', 'text': ''}]", "content-as-repr"),
    "dropped-call": ("parse", "The model wrote 1 tool call, the server returned none.", "off-pattern-call-id"),
    "truncated-call": ("complete", "cut by max_tokens", "truncated-call"),
    "tutorial-tool-types": ("request", "a token id beyond the vocabulary", "unknown-schema-type"),
    "wrong-parser": ("parse", "The model wrote 1 tool call, the server returned none.", "wrong-parser"),
    "answer-swallowed-as-reasoning": ("parse", "taken for reasoning", "answer-as-reasoning"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_click_on_a_case_and_on_run_gives_the_verdict(lab_page: DebuggerPage, name: str) -> None:
    stage, words, finding = CASES[name]

    lab_page.choose(find_example(name).title)
    lab_page.run()

    sentence = lab_page.sentence()
    assert words in sentence
    assert (f"Guilty stage: {stage}." in sentence) if stage else ("Guilty" not in sentence)
    lab_page.open_stage("findings")
    codes = " ".join(lab_page.finding_codes())
    assert finding in codes if finding else "error" not in codes
