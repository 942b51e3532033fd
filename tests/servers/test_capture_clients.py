"""Clients that no one here wrote, through a capture before a real vLLM: each gets its answer, and each is kept."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.evidence import Form, read_evidence
from prompt_debugger.core.request import read_request
from tests.core.tools.capture.capturing import Capturing, capturing
from tests.patience import PATIENCE_S
from tests.servers.running_servers import LITELLM_PYTHON
from tests.servers.scenarios import body_of

pytestmark = [pytest.mark.lab, pytest.mark.servers]

KEY = "planted-credential-0123456789"
_LITELLM = """
import json, sys, litellm
base_url, key, body = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
known = {"model": "openai/lab-model", "api_base": base_url, "api_key": key, "temperature": 0}
whole = litellm.completion(**known, messages=body["messages"], tools=body["tools"])
print([call.function.arguments for call in whole.choices[0].message.tool_calls])
parts = list(litellm.completion(**known, messages=body["messages"], tools=body["tools"], stream=True))
whole = litellm.stream_chunk_builder(parts)
print([call.function.arguments for call in whole.choices[0].message.tool_calls])
"""
_OTHER_APIS = """
import json, sys, anthropic, openai
base_url, key, body = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
functions = [tool["function"] for tool in body["tools"]]
tools = [{"name": one["name"], "input_schema": one["parameters"]} for one in functions]
said = {"model": "lab-model", "max_tokens": 100, "messages": body["messages"], "tools": tools}
said["extra_body"] = {"temperature": 0}  # the client of today has no word for it
client = anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), api_key=key, max_retries=0)
print([block.input for block in client.messages.create(**said).content if block.type == "tool_use"])
with client.messages.stream(**said) as stream:
    print([block.input for block in stream.get_final_message().content if block.type == "tool_use"])
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)
said = {"model": "lab-model", "input": "Who are you?", "max_output_tokens": 100, "temperature": 0}
print(client.responses.create(**said).status)
print([event.type for event in client.responses.create(**said, stream=True)][-1])
"""
# Each API, whole, streamed, and streamed up to the first event, after which the client leaves. What it leaves goes on
# for long: no end token ends it, or (Messages have no word for that) a schema asks for a long text.
_EACH_API = """
import json, sys, anthropic, openai
base_url, key, body = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
functions = [tool["function"] for tool in body["tools"]]
asked = {"model": "lab-model", "temperature": 0}
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)
other = anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), api_key=key, max_retries=0)

def of_chat(**more):
    return client.chat.completions.create(**asked, messages=body["messages"], tools=body["tools"], **more)

def of_responses(**more):
    tools = [{"type": "function", "strict": False, **one} for one in functions]
    return client.responses.create(**{**asked, "max_output_tokens": 100, **more}, input=body["messages"], tools=tools)

def of_messages(**more):
    tools = [{"name": one["name"], "input_schema": one["parameters"]} for one in functions]
    said = {"model": "lab-model", "max_tokens": 100, "messages": body["messages"], "tools": tools}
    return other.messages.create(**{**said, "extra_body": {"temperature": 0}, **more})

endless = {"extra_body": {"ignore_eos": True}}
long = {"type": "object", "properties": {"text": {"type": "string", "minLength": 900}}, "required": ["text"]}
wordy = {"extra_body": {"temperature": 0, "output_config": {"format": {"type": "json_schema", "schema": long}}}}
left = {
    of_chat: {"max_tokens": 1500, **endless},
    of_responses: {"max_output_tokens": 1500, **endless},
    of_messages: {"max_tokens": 900, **wordy},
}
for ask in (of_chat, of_responses, of_messages):
    ask()
    list(ask(stream=True))
    with ask(stream=True, **left[ask]) as stream:
        next(iter(stream))
print("done")
"""


def _run(python: str, script: str, base_url: str, body: Any) -> list[str]:
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [python, "-c", script, base_url, KEY, json.dumps(body)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


async def _captured(lab_url: str, out: Path, python: str, script: str, count: int) -> tuple[Capturing, list[str]]:
    async with capturing(lab_url, out) as capture:
        printed = await asyncio.to_thread(_run, python, script, capture.base_url, body_of("healthy"))
        await capture.outcome(count - 1)
    return capture, printed


def _texts(capture: Capturing) -> list[str]:
    texts = [path.read_text("utf-8") for path in sorted(capture.out.iterdir())]
    assert not any(KEY in text for text in texts)
    return texts


def test_litellm(lab_url: str, tmp_path: Path) -> None:
    if not LITELLM_PYTHON.exists():
        pytest.skip("LiteLLM is not installed: `make .venv-litellm/.ready`, which `make test` does")

    capture, printed = asyncio.run(_captured(lab_url, tmp_path / "out", str(LITELLM_PYTHON), _LITELLM, 2))

    assert [line for line in printed if line.startswith("[")] == ['[\'{"city": "Paris"}\']'] * 2
    assert sorted(str(outcome.n_calls) for outcome in capture.outcomes) == ["1", "1"]
    for text in _texts(capture):
        intake = read_evidence(text)
        assert intake.form is Form.EXCHANGE
        assert intake.chat is not None
        assert intake.chat.finish_reason == "tool_calls"
        assert list(read_request(text).tools) == body_of("healthy")["tools"]


def test_clients_of_other_apis(lab_url: str, tmp_path: Path) -> None:
    capture, printed = asyncio.run(_captured(lab_url, tmp_path / "out", sys.executable, _OTHER_APIS, 4))

    assert printed == ["[{'city': 'Paris'}]", "[{'city': 'Paris'}]", "completed", "response.completed"]
    texts = _texts(capture)
    assert [json.loads(text)["captured"]["problems"] for text in texts] == [[], [], [], []]
    assert [json.loads(text)["captured"]["streamed"] for text in texts] == [False, True, False, True]
    calls = [
        intake.chat.message.get("tool_calls") for text in texts if (intake := read_evidence(text)).chat is not None
    ]
    assert [len(one) if isinstance(one, list) else 0 for one in calls] == [1, 1, 0, 0]
    assert all(read_request(text).messages for text in texts)


def test_each_api_whole_streamed_and_left_by_the_client(lab_url: str, tmp_path: Path) -> None:
    capture, printed = asyncio.run(_captured(lab_url, tmp_path / "out", sys.executable, _EACH_API, 9))

    assert printed == ["done"]
    written = [json.loads(text) for text in _texts(capture)]
    assert [one["captured"]["streamed"] for one in written] == [False, True, True] * 3
    left = ["the client disconnected before the end of the answer"]
    assert [one["captured"]["problems"] for one in written] == [[], [], left] * 3
    assert ["response" in one for one in written] == [True, True, False] * 3
    arguments: list[Any] = []
    for text in _texts(capture):
        message: Any = {} if (chat := read_evidence(text).chat) is None else chat.message
        arguments.append([json.loads(call["function"]["arguments"]) for call in message.get("tool_calls") or []])
    assert [*arguments[:2], *arguments[3:5], *arguments[6:8]] == [[{"city": "Paris"}]] * 6
