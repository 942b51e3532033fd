"""Answers as client libraries recorded them of hosted models (cassettes of Pydantic AI, fixtures of Vercel's AI SDK).

What is true of each was written down before it was asked; here are the shapes alone, with texts of our own.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Stage, Trace
from tests.core.complete.faulty_server import Behaviour, answer, stream
from tests.servers.test_hosted_shapes import event, events, run, whole
from tests.servers.truth import returned_calls

THOUGHT: JSON = {"type": "thinking", "thinking": [{"type": "text", "text": "They ask of 2 and 2."}]}
TOLD: JSON = {"type": "text", "text": "It is 4."}
USED: JSON = {"prompt_tokens": 10, "completion_tokens": 46, "total_tokens": 56}
UNFIT = "Tool call validation failed: parameters for tool get_weather did not match schema: errors: [missing: 'city']"
COUNTED: JSONObject = {"error": {"code": 400, "message": "Token limit reached"}}


def completions(*texts: str) -> Behaviour:
    """Return a stream of the raw completions API."""
    parts: list[JSONObject] = [{"index": 0, "text": text, "finish_reason": None} for text in texts]
    parts.append({"index": 0, "text": "", "finish_reason": "length"})
    data = "".join(f"data: {json.dumps({'object': 'text_completion', 'choices': [part]})}\n\n" for part in parts)
    return stream(f"{data}data: [DONE]\n\n".encode())


def responses() -> Behaviour:
    """Return a stream of the Responses API, ended as a chat's is."""
    made: list[JSONObject] = [
        {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}},
        {"type": "response.output_text.delta", "delta": "Hi"},
    ]
    return stream("".join(f"data: {json.dumps(one)}\n\n" for one in made).encode() + b"data: [DONE]\n\n")


class Recorded(NamedTuple):
    """A stream, and what is said of it."""

    sent: Behaviour
    codes: tuple[str, ...]
    stage: Stage | None = None
    says: str = ""


STREAMS = {
    "Mistral, thinking and text as parts, an empty text at the end": Recorded(
        events(event({"content": [THOUGHT]}), event({"content": [TOLD]}), event({"content": ""}, "stop", usage=USED)),
        (),
    ),
    "Mistral, a text before the parts": Recorded(
        events(event({"role": "assistant", "content": ""}), event({"content": [TOLD]}), event({}, "stop", usage=USED)),
        (),
    ),
    "raw completions on the route of chats": Recorded(
        completions("It", " is"), ("PD310",), Stage.COMPLETE, "raw completions API"
    ),
    "Responses on the route of chats": Recorded(responses(), ("PD310",), Stage.COMPLETE, "Responses API"),
    "Groq, a call that the API refuses, within a stream": Recorded(
        events(event({"reasoning": "I call."}), {"error": {"message": UNFIT, "code": "tool_use_failed"}}),
        ("PD310",),
        Stage.CONTRACT,
        "did not match schema",
    ),
    "OpenRouter, a limit that is told as an error": Recorded(
        events(event({"content": "It is"}, "length"), {**COUNTED, **event({"content": ""})}),
        ("PD310",),
        Stage.COMPLETE,
        "Token limit reached",
    ),
}


def _content(trace: Trace) -> JSON:
    assert trace.chat is not None
    return trace.chat.message.get("content")


@pytest.mark.parametrize("name", STREAMS)
def test_what_is_said_of_a_stream_is_true(name: str) -> None:
    sent, codes, stage, says = STREAMS[name]
    trace = run(sent, is_stream=True)

    assert trace.verdict is not None
    assert {one.code for one in trace.findings} == {*codes}
    assert (trace.verdict.stage, returned_calls(trace)) == (stage, [])
    assert says in trace.verdict.sentence
    assert not any(str(one.fix).startswith("Run again") for one in trace.findings)


def test_parts_that_were_streamed_are_all_there() -> None:
    trace = run(STREAMS["Mistral, thinking and text as parts, an empty text at the end"].sent, is_stream=True)

    assert _content(trace) == [THOUGHT, TOLD]


def test_a_call_that_the_model_did_not_make_is_told_from_one_that_does_not_fit() -> None:
    said = "Tool choice is required, but model did not call a tool"
    refused: JSON = {"error": {"message": said, "code": "tool_use_failed", "failed_generation": "maybe"}}
    trace = run(answer(400, refused))

    assert trace.verdict is not None
    assert trace.verdict.stage is Stage.CONTRACT
    assert "call was refused" not in trace.verdict.sentence


def test_a_name_that_is_listed_and_refused_is_not_proposed() -> None:
    said = "The model `lab-model` does not exist or you do not have access to it."
    trace = run(answer(404, {"error": {"message": said, "code": "model_not_found"}}))

    assert "`lab-model`" not in str(trace.findings[0].fix)


@pytest.mark.parametrize(("wanted", "codes"), [("parsed", {"PD409"}), ("raw", set())])
def test_reasoning_that_was_asked_for_within_content_is_not_leaked(wanted: str, codes: set[str]) -> None:
    content = "<think>\nThey ask.\n</think>\n\nIt is sunny."
    trace = run(whole({"content": content}, "stop"), reasoning_format=wanted)

    assert {one.code for one in trace.findings} & {"PD409"} == codes
