"""Sentences on streams and arguments that say what happened, and those that only sound like it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.diagnose.reported_words import Reported
from prompt_debugger.core.evidence.reports.said_of_calls import reported_calls

HEAD = "# [Bug] it is broken\n\nThis is wrong for every model.\n\n"


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Tool calling fails as soon as the stream is on.", Reported.LOST),
        ("The streming loses the arguments of every tool call.", Reported.LOST),
        ("In the final chunk the tool_call does not have the arguments.", Reported.EMPTY),
        ("The last item of the tool call contains empty `{}` arguments.", Reported.EMPTY),
        ("If the model needs to make two tool calls (one for a file), it concatenates multiple JSON objects.",
         Reported.JOINED),
        ("Its tool-call arguments arrive truncated (parser error: Expected ',' after a value).", Reported.BROKEN),
    ],
)  # fmt: skip
def test_what_happened_is_read(sentence, kind):
    said = [*reported_calls(HEAD + sentence)]

    assert said
    assert all(note.startswith(kind.value) for note in said)


@pytest.mark.parametrize(
    "sentence",
    [
        "Tool calls fail to execute in the sandbox while the stream is on.",
        "The view of a tool call does not have the arguments panel.",
        "If a tool call were split, it concatenates multiple JSON objects.",
        "Tool generation fails on a machine without a compiler.",
        "Without streming the arguments of the tool call should not be lost.",
        "We expect that tool-call arguments arrive truncated.",
    ],
)
def test_what_did_not_happen_is_left_alone(sentence):
    assert [*reported_calls(HEAD + sentence)] == []


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ('Result: `content: ""` and no `tool_calls` in the response.', Reported.NOTHING),
        ('Zero `delta.tool_calls` chunks; `finish_reason="stop"` (should be `tool_calls`).', Reported.LOST),
        ("There are no `tool_calls` deltas in it.", Reported.LOST),
    ],
)
def test_a_result_in_one_line_is_its_own_complaint(sentence, kind):
    said = [*reported_calls(f"It answers:\n\n{sentence}\n")]

    assert said
    assert all(note.startswith(kind.value) for note in said)


@pytest.mark.parametrize(
    "sentence",
    [
        'The result should have `content: ""` and no `tool_calls`.',
        "With no tools there are zero calls in the stream, and the content is empty.",
        "Zero-shot tool calls come in chunks of 3.",
    ],
)
def test_no_calls_where_none_are_wanted_are_no_complaint(sentence):
    assert [*reported_calls(f"It answers:\n\n{sentence}\n")] == []
