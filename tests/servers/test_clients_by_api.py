"""The official clients of OpenAI and Anthropic, helpers and streams included, through capture, watch and all APIs."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.apis import ApiRuns, run_by_all
from tests.core.tools.capture.capturing import capturing
from tests.core.tools.watch.watching import Watching, watching
from tests.servers.scenarios import body_of
from tests.servers.test_capture_clients import _run as run_client

pytestmark = [pytest.mark.lab, pytest.mark.servers]

_CLIENTS = """
import json, sys, anthropic, openai
from typing import Literal
from pydantic import BaseModel

class City(BaseModel):
    city: Literal["Rome"]

base_url, key, body = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
system, asked = body["messages"]
functions = [tool["function"] for tool in body["tools"]]
chats = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)
known = {"model": "lab-model", "temperature": 0}

said = {**known, "messages": body["messages"], "tools": body["tools"], "max_completion_tokens": 100, "seed": 1}
chats.chat.completions.create(**said, tool_choice="auto", user="bob", metadata={"a": "b"})
with chats.chat.completions.stream(**said) as stream:
    print(stream.get_final_completion().choices[0].message.tool_calls[0].function.arguments)
chats.chat.completions.parse(**known, messages=[system, asked], response_format=City, max_tokens=60)

tools = [{"type": "function", "strict": False, **one} for one in functions]
said = {**known, "instructions": system["content"], "input": [asked], "tools": tools, "max_output_tokens": 100}
chats.responses.create(**said, store=False, reasoning={"effort": "low"}, include=["reasoning.encrypted_content"])
with chats.responses.stream(**said) as stream:
    print(stream.get_final_response().output[0].arguments)
chats.responses.parse(**known, input="hi", text_format=City, max_output_tokens=60)

client = anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), api_key=key, max_retries=0)
tools = [{"name": one["name"], "input_schema": one["parameters"]} for one in functions]
block = {"type": "text", "text": system["content"], "cache_control": {"type": "ephemeral"}}
said = {"model": "lab-model", "max_tokens": 100, "system": [block], "messages": [asked], "tools": tools}
said["extra_body"] = {"temperature": 0}
client.messages.create(**said, metadata={"user_id": "u"}, stop_sequences=["nothing"])
with client.messages.stream(**said, tool_choice={"type": "auto"}) as stream:
    print(json.dumps(stream.get_final_message().content[0].input))
"""
_ARGUMENTS = '{"city": "Paris"}'
_COUNT = 8


async def _recorded(lab_url: str, out: Path) -> tuple[list[str], list[dict[str, Any]]]:
    async with capturing(lab_url, out) as capture:
        printed = await asyncio.to_thread(run_client, sys.executable, _CLIENTS, capture.base_url, body_of("healthy"))
        await capture.outcome(_COUNT - 1)
    return printed, [json.loads(path.read_text("utf-8")) for path in sorted(capture.out.iterdir())]


async def _by_all(lab_url: str, tokenizer: Path, lines: list[dict[str, Any]]) -> list[ApiRuns]:
    target = Target(base_url=lab_url, tokenizer=tokenizer)
    return [await run_by_all(read_request(json.dumps(line)), target, None) for line in lines]


def test_what_the_clients_send_goes_through_all_apis_and_what_differs_has_its_cause(
    lab_url: str, lab_model_dir: Path, tmp_path: Path
) -> None:
    printed, lines = asyncio.run(_recorded(lab_url, tmp_path / "out"))

    ran = asyncio.run(_by_all(lab_url, lab_model_dir, lines))

    assert printed == [_ARGUMENTS] * 3
    assert [line["captured"]["problems"] for line in lines] == [[]] * _COUNT
    apis = [line["captured"]["path"].rpartition("/v1/")[2] for line in lines]
    assert apis == ["chat/completions"] * 3 + ["responses"] * 3 + ["messages"] * 2
    for line, done in zip(lines, ran, strict=True):
        assert [one for one in done.differences if one.cause is None] == []
        assert done.problems == {}
        asked = read_request(json.dumps(line))
        native = done.runs[asked.api]
        assert native is not None
        assert native.verdict is not None
        assert native.verdict.dropped_calls == 0
        if native.sent_native is not None:
            assert line["request"].items() <= native.sent_native.items()


def test_a_watch_reads_what_the_clients_send(lab_url: str, tmp_path: Path) -> None:
    async def watch() -> tuple[list[str], Watching]:
        async with watching(lab_url, tmp_path / "watch.sqlite") as watched:
            printed = await asyncio.to_thread(
                run_client, sys.executable, _CLIENTS, watched.base_url, body_of("healthy")
            )
            await watched.until(lambda counts: counts.read == _COUNT)
        return printed, watched

    printed, watched = asyncio.run(watch())

    assert printed == [_ARGUMENTS] * 3
    assert watched.problems == []
    assert watched.alarms == []
    assert watched.counts.total.with_errors == 0
