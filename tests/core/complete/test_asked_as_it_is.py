"""The request goes out as it was asked: nothing that is added for evidence hides that the server refuses it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSONObject, Server
from prompt_debugger.core.complete import ServerClient, gather
from tests.core.complete.faulty_server import Behaviour, FaultyServer, Received, answer, chunk, stream
from tests.threads import in_thread

WHOLE = answer(200, {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]})
STREAM = stream(chunk(delta={"role": "assistant", "content": "hi"}, finish_reason="stop"), b"data: [DONE]\n\n")
NEEDED = {"stream_options": "stream", "top_logprobs": "logprobs"}


class Strict(FaultyServer):
    """Refuses, as vLLM and OpenAI do, a field whose other half is not set."""

    def _behaviour_of(self, request: Received) -> Behaviour:
        body = request.json
        if not isinstance(body, dict) or not request.path.endswith("/chat/completions"):
            return answer(404)
        for field, other in NEEDED.items():
            if field in body and not body.get(other):
                return answer(400, {"error": {"message": f"'{field}' is only allowed when '{other}' is enabled"}})
        return STREAM if body.get("stream") else WHOLE


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"stream_options": {"include_usage": True}, "stream": True}, None),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"top_logprobs": 3, "stream": True}, "top_logprobs"),
        ({"top_logprobs": 3, "logprobs": None}, "top_logprobs"),
        ({"top_logprobs": 3, "logprobs": True}, None),
        ({"logprobs": None}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("kind", ["vllm", "mlx-lm", "llama-cpp-python", "unknown"])
async def test_a_field_without_its_other_half_is_refused(kind: str, fields: JSONObject, refused: str | None) -> None:
    with in_thread(Strict("", {})) as base_url:
        server = Server(base_url, kind=kind, model="m")
        async with ServerClient(base_url) as client:
            client.server = server
            found = await gather(client, server, {"model": "m", "messages": [], "temperature": 0, **fields})

    if refused is None:
        assert found.refusal is None
        assert found.chat is not None
        assert found.chat.message["content"] == "hi"
    else:
        assert found.refusal is not None
        assert refused in found.refusal.message
        assert found.chat is None
