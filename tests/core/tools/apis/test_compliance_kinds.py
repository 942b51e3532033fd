"""The kinds of requests that Open Responses' compliance suite sends, by Responses to a real vLLM: none is misjudged."""

import asyncio
import json

import pytest

from prompt_debugger.core.base.types import Api
from prompt_debugger.core.pipeline import Target, run
from prompt_debugger.core.request import read_request

pytestmark = pytest.mark.lab

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
DOT = "data:image/png;base64,iVBORw0KGgo="


def said(role: str, content: object) -> dict[str, object]:
    return {"type": "message", "role": role, "content": content}


KINDS = {
    "basic": {"input": [said("user", "Greet me in three words.")]},
    "streamed": {"input": [said("user", "Count to five.")], "stream": True},
    "system": {"input": [said("system", "Answer as a sailor would."), said("user", "Greet me.")]},
    "tools": {"input": [said("user", "What is the weather in Paris?")], "tools": [TOOL]},
    "tools, streamed": {"input": [said("user", "What is the weather in Paris?")], "tools": [TOOL], "stream": True},
    "several turns": {
        "input": [said("user", "I am Bob."), said("assistant", "Hello, Bob."), said("user", "Who am I?")],
    },
}
IMAGE = {
    "input": [said("user", [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": DOT}])]
}


def sent(body: dict[str, object], lab_url: str, lab_model_dir: str):
    target = Target(base_url=lab_url, tokenizer=lab_model_dir, api=Api.RESPONSES)
    return asyncio.run(run(read_request(json.dumps({**body, "temperature": 0})), target))


@pytest.mark.parametrize("body", KINDS.values(), ids=KINDS.keys())
def test_nothing_is_found_where_nothing_is_wrong(lab_url, lab_model_dir, body):
    trace = sent(body, lab_url, lab_model_dir)

    assert [finding.code for finding in trace.findings] == []
    assert trace.verdict.stage is None
    assert bool(trace.chat.message.get("tool_calls")) == ("tools" in body)


def test_an_image_is_refused_by_a_model_of_text_and_the_request_is_told_so(lab_url, lab_model_dir):
    trace = sent(IMAGE, lab_url, lab_model_dir)

    assert {"PD100", "PD215"} == {finding.code for finding in trace.findings}
