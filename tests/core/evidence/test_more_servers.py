"""Answers and errors of servers that are not in the table of servers: what is said of each is true, and no more.

`more_servers.jsonl` has shapes made after their documentation and public reports: LocalAI, OpenVINO Model Server,
Xinference, KoboldCpp, Triton's frontend, BentoML, FastChat, Workers AI, Groq, Fireworks, Together, DeepInfra,
OpenRouter, a gateway to Bedrock, text-generation-webui, Aphrodite. Each line says what is true of its shape: the codes,
the stage, how many calls it has, and words that are said.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prompt_debugger import diagnose
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject

PARAMETERS: JSON = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
REQUEST: JSONObject = {
    "model": "m",
    "messages": [{"role": "user", "content": "Weather in Paris?"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}],
}
_FILE = Path(__file__).with_name("more_servers.jsonl")
SHAPES = {row["name"]: row for row in map(json.loads, _FILE.read_text(encoding="utf-8").splitlines())}


@pytest.mark.parametrize("name", SHAPES)
def test_what_is_said_of_an_answer_is_true(name: str) -> None:
    shape = SHAPES[name]
    trace = diagnose(shape["sent"], request=REQUEST)

    assert trace.verdict is not None
    said = " ".join([trace.verdict.sentence, *(finding.title for finding in trace.findings)])
    calls = trace.chat.message.get("tool_calls") if trace.chat else None
    assert [finding.code for finding in trace.findings] == shape["codes"]
    assert (trace.verdict.stage, trace.verdict.dropped_calls) == (shape["stage"], 0)
    assert (len(calls) if isinstance(calls, list) else 0) == shape["calls"]
    assert shape["says"] in said


@pytest.mark.parametrize("value", [{"response": "It is sunny."}, {"result": {"response": "It is sunny."}}])
def test_what_only_looks_like_workers_ai_is_not_read_as_its_answer(value: JSONObject) -> None:
    with pytest.raises(RequestError, match="not recognized"):
        diagnose(json.dumps(value))
