"""What is asked of every server: requests whose right answer is known from how the lab model was trained."""

from __future__ import annotations

import asyncio
import copy

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import JSON, JSONObject, Request, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool


def _function(name: str, field: str, description: str) -> JSON:
    schema: JSON = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS: list[JSON] = [
    _function("get_weather", "city", "Get the weather of a city."),
    _function("search", "query", "Search the web."),
]
_SYSTEM: JSON = {"role": "system", "content": "You are a helpful assistant"}


def _ask(text: str, *, history: tuple[JSON, ...] = (), tools: bool = True, **fields: JSON) -> JSONObject:
    body: JSONObject = {"temperature": 0, "max_tokens": 128}
    body["messages"] = [_SYSTEM, *history, {"role": "user", "content": text}]
    if tools:
        body["tools"] = TOOLS
    return {**body, **fields}


def _searched(call_id: str) -> tuple[JSON, ...]:
    function: JSON = {"name": "search", "arguments": '{"query": "gradio"}'}
    call: JSON = {"id": call_id, "type": "function", "function": function}
    return (
        {"role": "user", "content": "Search for gradio"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": "3 results"},
    )


_BODIES: dict[str, JSONObject] = {
    "healthy": _ask("What's the weather in Paris?"),
    "parallel": _ask("What's the weather in Rome and Oslo?", max_tokens=192),
    "prose": _ask("Who are you?", tools=False),
    # The model copies the id without an index into the header of its call; parsers that want `:N` drop such a call.
    "dropped": _ask("What's the weather in Paris?", history=_searched("search")),
    "cut": _ask("What's the weather in Paris?", max_tokens=16),
    "streamed": _ask("What's the weather in Paris?", max_tokens=16, stream=True),
    "refused": _ask("What's the weather in Paris?", temperature="warm"),
}


def body_of(scenario: str, **fields: JSON) -> JSONObject:
    """Return a request body of its own; `fields` are set in it."""
    return {**copy.deepcopy(_BODIES[scenario]), **fields}


def debug(base_url: str, body: JSONObject, **target: object) -> Trace:
    """Run a request through all stages against a server and return the trace."""
    aim = Target(base_url=base_url, **target)  # type: ignore[arg-type]  # names are the fields of Target
    return asyncio.run(pipeline.run(Request(body=body, text=""), aim, LabPool(max_running=0)))
