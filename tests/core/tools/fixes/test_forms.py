"""A request in the forms in which people pass it on."""

from __future__ import annotations

import ast
import json

from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.fixes.forms import request_as


def recorded():
    recording = load_recording("dropped-call")
    assert recording is not None
    return recording.trace


def test_json_is_the_request_and_a_shell_command_is_read_again_as_the_same():
    trace = recorded()
    body = {**trace.request.body, "seed": 1, "note": "it's \u202e here"}

    assert json.loads(request_as("json", body, trace)) == body
    assert read_request(request_as("curl", body, trace)).body == body


def test_the_program_contains_the_whole_request_and_is_python():
    trace = recorded()
    body = {**trace.request.body, "top_k": 3, "stream": True}

    source = request_as("python", body, trace)

    assigned = [node.value for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    messages, more = (ast.literal_eval(value) for value in assigned[1:3])
    assert {**more, "model": body["model"], "messages": messages, "stream": True} == body
    assert f"OpenAI(base_url={trace.server.base_url!r}" in source
