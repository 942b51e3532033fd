"""Objects that a program builds are no output: a test's source shows answers that never came."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import Part, read_evidence
from prompt_debugger.core.evidence.no_errors.built_objects import is_built
from tests.attacks.growth import grows_linearly

PRINTED = (
    "Choice(finish_reason='length', index=0, logprobs=None, "
    "message=ChatCompletionMessage(content='', role='assistant', tool_calls=None))"
)
WRITTEN = 'Choice(finish_reason="length", index=0, message=ChatCompletionMessage(role="assistant", content=""))'


@pytest.mark.parametrize(
    "text",
    [
        f"    answer = completion_of([{PRINTED}])\n    client.create.return_value = answer\n",
        f"    choices.append({PRINTED})\n",
        f"        return {PRINTED}\n",
        f"choice = {WRITTEN}\nassert ends(choice)\n",
        f"    choice = (\n        {WRITTEN}\n    )\n",
        f"        {WRITTEN},\n    ],\n",
        f"    make(Choice(finish_reason=REASON, message={PRINTED}))\n",
    ],
    ids=["argument", "appended", "returned", "assigned", "in brackets", "role first", "of variables"],
)
def test_what_a_program_builds_is_no_answer(text):
    with pytest.raises(RequestError):
        read_evidence(text)


@pytest.mark.parametrize(
    "text",
    [
        PRINTED,
        f"answer = {PRINTED}",
        f"The calls return {PRINTED}",
        f"Raw answer: {PRINTED}",
        f"INFO:worker:got [{PRINTED}]",
        'Choice(finish_reason="length", message=Message(content="", tool_calls=[]))',
        f"    known = answer_of([{WRITTEN}])\n\nIt printed\n\n{PRINTED}\n",
    ],
    ids=["alone", "named", "in a sentence", "labelled", "logged", "typed by a person", "printed below"],
)
def test_what_was_printed_is_one(text):
    assert Part.MESSAGE in read_evidence(text).holds


def test_looking_for_it_takes_time_in_proportion_to_the_text():
    assert grows_linearly(lambda size: is_built("a." * size + "b(" + "[" * size, 2 * size + 2), first=2_000)
    assert grows_linearly(lambda size: is_built('Choice(role="' + "a" * size, 0), first=2_000)
