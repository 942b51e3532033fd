"""A server that leaves the call in content as long as the request has the schema type `str`; one that stalls."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from prompt_debugger.core.base.types import JSON
from tests.core.complete.faulty_server import FaultyServer, answer

_CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>'
REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Weather in Paris?"}],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "str"}}}},
        }
    ],
}


class DroppingServer(FaultyServer):
    """Answers chat completions alone, never streamed."""

    def _behaviour_of(self, request: Any) -> Any:
        if not request.path.endswith("/chat/completions"):
            return _models_or_nothing(request)
        message: JSON = {"role": "assistant", "content": _CALL}
        if '"str"' not in request.body.decode():
            function: JSON = {"name": "f", "arguments": '{"a": "x"}'}
            message = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}
        return answer(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


@dataclass
class StallingServer(FaultyServer):
    """Never answers a chat completion.

    Attributes:
        is_asked: Set when one was asked for.
    """

    is_asked: asyncio.Event = field(default_factory=asyncio.Event)

    def _behaviour_of(self, request: Any) -> Any:
        return self._stall if request.path.endswith("/chat/completions") else _models_or_nothing(request)

    async def _stall(self, _: asyncio.StreamWriter) -> None:
        self.is_asked.set()
        await asyncio.Event().wait()


def _models_or_nothing(request: Any) -> Any:
    if request.path.endswith("/models"):
        return answer(200, {"data": [{"id": "m", "owned_by": "someone"}]})
    return answer(404)
