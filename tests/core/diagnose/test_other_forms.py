"""Answers in the form of another API are told by what makes each that form, and by nothing less."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.diagnose.other_forms import other_form

MESSAGES: list[JSONObject] = [
    {"type": "message", "content": []},
    {"type": "message_start", "message": {"role": "assistant"}},
]
RESPONSES: list[JSONObject] = [
    {"object": "response", "output": []},
    {"type": "response.created", "response": {"id": "r"}},
]
WORKERS_AI: list[JSONObject] = [{"result": {"response": "Hi."}, "success": True}]
NEITHER: list[JSONObject] = [
    {"result": {"answer": "Hi."}, "success": True},
    {"type": "message", "content": "Hi."},
    {"type": "message_start"},
    {"type": "message_stop", "message": {}},
    {"object": "response", "output": "Hi."},
    {"object": "list", "output": []},
    {"type": "response.created"},
    {"type": "message", "content": [], "error": {"message": "no"}},
    {},
]


@pytest.mark.parametrize(
    ("bodies", "api"), [(MESSAGES, "Messages"), (RESPONSES, "Responses"), (WORKERS_AI, "Workers AI")]
)
def test_each_body_of_an_api_is_told_as_its_answer(bodies: list[JSONObject], api: str) -> None:
    shown = {other_form(json.dumps(body)) for body in bodies}

    assert len(shown) == 1
    assert api in str(shown.pop())


@pytest.mark.parametrize("body", NEITHER, ids=json.dumps)
def test_half_of_a_form_is_none(body: JSONObject) -> None:
    assert other_form(json.dumps(body)) is None
