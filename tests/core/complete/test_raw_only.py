"""A run that asks for a raw completion alone: what was written is read, and nothing is said of a message."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Conclusion, JSONObject, Trace
from prompt_debugger.core.pipeline import Target, run
from prompt_debugger.core.request import read_request
from tests.core.complete.faulty_server import Behaviour, FaultyServer, answer
from tests.threads import in_thread

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
TOOL: JSONObject = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL], "temperature": 0}
TEMPLATE = "{{ tools }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "
COMPLETED = answer(200, {"choices": [{"index": 0, "text": CALL, "finish_reason": "stop"}]})


def run_raw(completions: Behaviour, template: str | None = TEMPLATE) -> tuple[Trace, list[str]]:
    models = answer(200, {"object": "list", "data": [{"id": "m"}]})
    server = FaultyServer("", {"/v1/models": models, "/v1/completions": completions, "*": answer(404)})
    with in_thread(server) as url:
        target = Target(base_url=f"{url.removesuffix('/v1')}/v1", raw_only=True, chat_template=template)
        trace = asyncio.run(run(read_request(json.dumps(BODY)), target))
    return trace, [one.path for one in server.received]


def test_the_output_is_read_and_no_chat_is_asked() -> None:
    trace, asked = run_raw(COMPLETED)

    assert trace.raw is not None
    assert trace.raw.text == CALL
    assert trace.chat is None
    assert trace.parse is not None
    assert [call.name for call in trace.parse.parsed.calls] == ["get_weather"]
    assert trace.verdict is not None
    assert trace.verdict.conclusion in (Conclusion.UNCHECKED, Conclusion.UNKNOWN)
    assert (trace.verdict.dropped_calls, trace.verdict.stage) == (0, None)
    assert trace.notes[0].startswith("Only a raw completion was requested, on the text of our own render")
    assert not any("chat/completions" in path for path in asked)


def test_without_a_prompt_it_says_what_is_missing() -> None:
    with pytest.raises(BackendError, match=r"gave no raw completion: no prompt is available") as raised:
        run_raw(COMPLETED, template=None)

    assert "tokenizer under Target" in raised.value.hint
