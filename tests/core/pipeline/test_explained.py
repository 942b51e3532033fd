"""What a template says when it refuses a request is explained where its words are known."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.pipeline import render_case

REFUSES = "{{ raise_exception('%s') }}"
IDS = "Tool call IDs should be alphanumeric strings with length 9!"
ORDER = "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
CALL: JSONObject = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": {}}}
BODY: JSONObject = {
    "messages": [
        {"role": "user", "content": "x"},
        {"role": "user", "content": "y"},
        {"role": "assistant", "content": "", "tool_calls": [{**CALL, "id": "abcdefgh1"}, CALL]},
    ]
}


def hint_of(said: str) -> str:
    with pytest.raises(RenderError) as caught:
        render_case({"request": BODY, "chat_template": REFUSES % said})
    return caught.value.hint


def test_a_known_sentence_names_the_place_and_what_helps() -> None:
    hint = hint_of(IDS)

    assert "`messages[2].tool_calls[1].id` is `call_1`: 6 characters" in hint
    assert "tool_calls[0]" not in hint
    assert "Give each call an id of nine letters or digits" in hint


def test_the_order_of_roles_is_named_once() -> None:
    hint = hint_of(ORDER)

    assert hint.count("messages[0]") == 1
    assert "Join consecutive messages of one role into one message." in hint


def test_words_that_are_not_known_are_left_as_they_are() -> None:
    assert hint_of("I do not like this") == "It calls `raise_exception` itself at this place."
