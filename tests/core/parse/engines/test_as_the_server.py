"""The helper gives what a running server gives, for the same output ids: whole and streamed.

High temperatures make the lab model write all kinds of broken output, which is
what the comparison is about.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from prompt_debugger.core.base.types import JSONObject, VllmOutcome
from prompt_debugger.core.parse.engines import RawOutput, VllmEngine
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.lab, pytest.mark.vllm]

TOOLS: list[JSONObject] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Runs {name}.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
    for name in ("get_weather", "search")
]
RUNS = [(0.0, 0), *((temperature, seed) for temperature in (1.1, 1.8) for seed in range(1, 8))]


def body_of_run(temperature: float, seed: int, max_tokens: int) -> JSONObject:
    content = "What is the weather in Brutopia and in Zembla?" if seed % 2 else "Look up the weather in Ruritania."
    return {
        "model": "lab-model",
        "messages": [{"role": "user", "content": content}],
        "tools": [*TOOLS],
        "temperature": temperature,
        "seed": seed,
        "max_tokens": max_tokens,
        "return_token_ids": True,
        "chat_template_kwargs": {"thinking": seed % 3 == 0},
    }


def drop_random_ids(calls: Any) -> list[dict[str, Any]]:
    """Return tool calls without ids that vLLM invented."""
    found = []
    for call in calls or []:
        function = call["function"]
        kept = call["id"] if str(call["id"]).startswith("functions.") else None
        found.append({"id": kept, "name": function.get("name"), "arguments": function.get("arguments")})
    return found


def chat(url: str, body: JSONObject) -> dict[str, Any]:
    answer = httpx.post(f"{url}/chat/completions", json=body, timeout=PATIENCE_S)
    answer.raise_for_status()
    got: dict[str, Any] = answer.json()
    return got


def chat_streamed(url: str, body: JSONObject) -> dict[str, Any]:
    """Return the message that the deltas add up to."""
    message: dict[str, Any] = {"content": "", "reasoning": "", "calls": {}}
    with httpx.stream("POST", f"{url}/chat/completions", json=body | {"stream": True}, timeout=PATIENCE_S) as answer:
        for line in answer.iter_lines():
            if not line.startswith("data: {"):
                continue
            for choice in json.loads(line.removeprefix("data: ")).get("choices", []):
                delta = choice["delta"]
                message["content"] += delta.get("content") or ""
                message["reasoning"] += delta.get("reasoning") or ""
                for part in delta.get("tool_calls") or []:
                    call = message["calls"].setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
                    call["id"] += part.get("id") or ""
                    call["name"] += part["function"].get("name") or ""
                    call["arguments"] += part["function"].get("arguments") or ""
    return message


def detokenize(url: str, token_ids: list[int]) -> str:
    answer = httpx.post(f"{url.removesuffix('/v1')}/detokenize", json={"tokens": token_ids}, timeout=PATIENCE_S)
    return str(answer.json()["prompt"])


@pytest.mark.parametrize(("temperature", "seed"), RUNS)
@pytest.mark.parametrize("max_tokens", [10, 24, 100])
async def test_whole_and_streamed_messages_are_the_servers(
    engine: VllmEngine, reasoning_lab_url: str, lab_model_dir: Path, temperature: float, seed: int, max_tokens: int
) -> None:
    body = body_of_run(temperature, seed, max_tokens)
    answer = chat(reasoning_lab_url, body)
    choice = answer["choices"][0]
    message, token_ids = choice["message"], choice["token_ids"]
    streamed = chat_streamed(reasoning_lab_url, body)

    outcome = (
        await engine.parse_with(
            ["vllm:kimi_k2+kimi_k2"],
            RawOutput(
                detokenize(reasoning_lab_url, token_ids),
                request=body,
                token_ids=token_ids,
                prompt_token_ids=answer["prompt_token_ids"],
                tokenizer=lab_model_dir,
                finish_reason="length" if len(token_ids) >= max_tokens else "stop",
            ),
        )
    )["vllm:kimi_k2+kimi_k2"]

    assert isinstance(outcome, VllmOutcome)
    assert (message["content"], message.get("reasoning")) == (outcome.content, outcome.reasoning)
    assert drop_random_ids(message.get("tool_calls")) == drop_random_ids(outcome.tool_calls)
    assert choice["finish_reason"] == outcome.finish_reason
    same = (streamed["content"], streamed["reasoning"]) == (message["content"] or "", message.get("reasoning") or "")
    calls = [
        {key: streamed["calls"][index][key] for key in ("name", "arguments")} for index in sorted(streamed["calls"])
    ]
    same &= calls == [
        {key: call[key] for key in ("name", "arguments")} for call in drop_random_ids(message.get("tool_calls"))
    ]
    assert same == outcome.usual_stream_equal
