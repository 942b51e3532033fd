"""NVIDIA Dynamo as its frontend 1.6.1 answers: known by its metrics, asked for the ids of the run in its own field."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.types import JSON, Basis, JSONObject, Request, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.render import load_tokenizer
from prompt_debugger.core.tools.lab import LabPool
from tests.core.complete.faulty_server import Behaviour, FaultyServer, answer, faulty_server, in_turn, stream
from tests.servers.running_servers import LAB_MODEL
from tests.servers.scenarios import body_of
from tests.servers.wire_shapes import TRUTHS, Truth

ENTRY: JSONObject = {"id": "lab-model", "object": "model", "owned_by": "nvidia", "context_window": 2048}
WANTED: JSON = {"extra_fields": ["completion_token_ids", "prompt_token_ids"]}
PROMPT_IDS: list[JSON] = [6, 398, 7, 5, 309, 7]
REFUSED = answer(400, {"message": "Validation: unknown extra field", "type": "Bad Request", "code": 400})


def ids_of(truth: Truth) -> list[JSON]:
    return [*load_tokenizer(LAB_MODEL).encode(truth.raw)]


def whole(truth: Truth, **more: JSON) -> Behaviour:
    choice: JSON = {"index": 0, "message": truth.message, "finish_reason": truth.finish_reason, "logprobs": None}
    head: JSONObject = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "lab-model"}
    usage: JSON = {"prompt_tokens": 122, "completion_tokens": len(ids_of(truth)), "total_tokens": 150}
    return answer(200, {**head, "choices": [choice], "usage": usage, **more})


def streamed(truth: Truth) -> Behaviour:
    """Return events with the ids that came since the event before."""
    first, *rest = ids_of(truth)
    said: list[tuple[JSONObject, JSON, list[JSON]]] = [
        ({"role": "assistant", "content": truth.content}, None, [first]),
        ({}, truth.finish_reason, rest),
    ]
    events: list[JSONObject] = [
        {
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
            "nvext": {"completion_token_ids": ids, "prompt_token_ids": PROMPT_IDS},
        }
        for delta, reason, ids in said
    ]
    return stream("".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + b"data: [DONE]\n\n")


def shown(truth: Truth) -> JSONObject:
    return {"nvext": {"completion_token_ids": ids_of(truth), "prompt_token_ids": PROMPT_IDS}}


def run(
    whole_answer: Behaviour, stream_answer: Behaviour, *, knows_tokenizer: bool = True, **asked: JSON
) -> tuple[Trace, FaultyServer]:
    async def go() -> tuple[Trace, FaultyServer]:
        behaviours = {
            "/v1/models": answer(200, {"object": "list", "data": [ENTRY]}),
            "/metrics": answer(200, b"# HELP dynamo_frontend_active_requests Number\n", "text/plain"),
            "/v1/chat/completions": whole_answer,
            "/v1/chat/completions#stream": stream_answer,
            "*": answer(404),
        }
        async with faulty_server(behaviours) as server:
            target = Target(base_url=server.base_url, tokenizer=str(LAB_MODEL) if knows_tokenizer else None)
            body = body_of("healthy", model="lab-model", **asked)
            return await pipeline.run(Request(body=body, text=""), target, LabPool(max_running=0)), server

    return asyncio.run(go())


def chats_of(server: FaultyServer) -> list[JSONObject]:
    bodies = [one.json for one in server.received if one.path.endswith("/chat/completions")]
    return [body for body in bodies if isinstance(body, dict) and body.get("messages")]


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", ["words", "a dropped call"])
def test_the_ids_of_the_very_run_are_asked_for_and_read(name: str, *, is_stream: bool) -> None:
    truth = TRUTHS[name]

    trace, server = run(whole(truth, **shown(truth)), streamed(truth), stream=is_stream)

    assert trace.server is not None
    assert trace.server.kind == "dynamo"
    assert all(body["nvext"] == WANTED for body in chats_of(server))
    assert (trace.evidence, trace.raw is not None and trace.raw.text) == (Basis.SAME_RUN, truth.raw)
    assert trace.verdict is not None
    assert trace.verdict.dropped_calls == truth.dropped


def test_what_a_request_sets_in_the_field_itself_is_sent_as_it_is() -> None:
    own: JSON = {"annotations": ["query_instance_id"]}

    _, server = run(whole(TRUTHS["words"]), streamed(TRUTHS["words"]), nvext=own)

    assert all(body["nvext"] == own for body in chats_of(server))


def test_a_release_that_refuses_the_field_is_asked_without_it() -> None:
    truth = TRUTHS["words"]

    trace, server = run(in_turn(REFUSED, whole(truth)), in_turn(REFUSED, streamed(truth)))

    assert trace.refusal is None
    assert any("nvext" not in body for body in chats_of(server))
    assert any("The server refuses `nvext`" in note for note in trace.notes)


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
def test_ids_that_nothing_here_can_decode_end_no_run(*, is_stream: bool) -> None:
    truth = TRUTHS["words"]

    trace, _ = run(whole(truth, **shown(truth)), streamed(truth), knows_tokenizer=False, stream=is_stream)

    assert trace.prompt is None
    assert trace.verdict is not None
    assert trace.verdict.stage is None
    assert "Nothing lost" not in trace.verdict.sentence
