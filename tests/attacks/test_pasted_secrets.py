"""Secrets that stand in a message, in arguments or in an answer are in nothing that leaves the machine."""

from __future__ import annotations

import json
from dataclasses import replace

from prompt_debugger.core.base.types import ChatResult, Completion, JSONObject
from prompt_debugger.core.request import read_request
from prompt_debugger.ui.report import link_state
from tests.attacks.test_secrets import forms_of, run_of
from tests.core.report.test_secret_places import HEX, LETTERS, LOGIN, NEAR_MISSES, PLACES, SECRET

PARTS = (SECRET[:7], LETTERS[:8], HEX[:12], LOGIN[:10])
ALL = "\n---\n".join(PLACES.values())


def test_none_of_a_message_leaves_the_machine() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": ALL}], "tools": []}
    state, _ = link_state(json.dumps(body), {})
    written = {"link": json.dumps(state), **forms_of(run_of(read_request(json.dumps(body))))}

    assert "smbclient" in written["bundle"]
    assert [(form, part) for form, text in written.items() for part in PARTS if part in text] == []


def test_none_of_an_answer_leaves_the_machine() -> None:
    arguments = json.dumps({"command": ALL})
    call: JSONObject = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    trace = replace(
        run_of(read_request('{"model": "m", "messages": [{"role": "user", "content": "hi"}]}')),
        raw=Completion(f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>', None, "stop"),
        chat=ChatResult({"role": "assistant", "content": ALL, "tool_calls": [call]}, "tool_calls"),
    )
    written = forms_of(trace)

    assert "smbclient" in written["bundle"]
    assert [(form, part) for form, text in written.items() for part in PARTS if part in text] == []


def test_what_is_like_them_is_shown_as_it_is() -> None:
    """A near miss: else no one sees what the model was told."""
    text = " | ".join(NEAR_MISSES).replace("\n", " ")
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    state, _ = link_state(json.dumps(body), {})

    assert json.dumps(text)[1:-1] in forms_of(run_of(read_request(json.dumps(body))))["bundle"]
    assert "[removed]" not in json.dumps(state)
