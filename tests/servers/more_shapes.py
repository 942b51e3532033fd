"""Further shapes of answers, as in `shapes`: what the documentation and trackers of more servers and gateways show.

Perplexity's two modes of streaming, DeepSeek's and oMLX's ways to keep a connection open, filters that speak after the
end, and what TensorRT-LLM, xAI, Databricks and Writer put beside an answer.
"""

from __future__ import annotations

import json

from prompt_debugger.core.base.types import JSON, JSONObject
from tests.core.complete.faulty_server import Behaviour, answer, stream
from tests.servers.shapes import DONE, USAGE, Shape, call, event, message, prose

_HEAD: JSONObject = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
_WORDS = ("It is ", "sunny ", "in Paris.")
_NOTHING: JSONObject = {"index": 0, "delta": {"role": "assistant", "content": ""}}


def _said(text: str, **fields: JSON) -> JSONObject:
    return {"index": 0, "delta": {"role": "assistant", "content": text}, **fields}


def _events(*choices: JSONObject, **fields: JSON) -> bytes:
    return b"".join(event({"choices": [choice], **fields}) for choice in choices)


def _in_pieces() -> bytes:
    return _events(*map(_said, _WORDS))


def _ended(reason: str = "stop", **fields: JSON) -> bytes:
    return event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], **fields})


def _so_far() -> bytes:
    """Perplexity's full mode: each event has the message so far beside what is new."""
    told = [prose("".join(_WORDS[: at + 1])) for at in range(len(_WORDS))]
    found: JSONObject = {"citations": ["https://example.org/a"], "usage": dict(USAGE)}
    return b"".join(
        event({"choices": [_said(word, message=one)], **found}) for word, one in zip(_WORDS, told, strict=True)
    ) + event({"choices": [_said("", message=told[-1], finish_reason="stop")], **found})


def _by_kind() -> bytes:
    """Perplexity's concise mode: events of other kinds before and after, and the whole message in the last."""
    steps: JSON = [{"type": "web_search", "thought": "I look."}]
    thinks = _said("", message=message("", reasoning_steps=steps))
    ended = _said("", message=prose(), finish_reason="stop")
    return (
        _events(thinks, object="chat.reasoning.done", usage=dict(USAGE))
        + _in_pieces()
        + _events(ended, object="chat.completion.done", usage=dict(USAGE))
    )


def _after_empty_lines(body: JSONObject) -> Behaviour:
    return answer(200, b"\n" * 12 + json.dumps(body).encode())


_OFFSETS: JSONObject = {
    "index": 0,
    "finish_reason": None,
    "content_filter_offsets": {"check_offset": 4, "start_offset": 4, "end_offset": 20},
    "content_filter_results": {"hate": {"filtered": False}},
}
_THOUGHT: JSON = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "They ask."}]}
_TOLD: JSON = {"type": "text", "text": "It is sunny in Paris."}
_NULLS: JSONObject = dict.fromkeys(("stop_reason", "disaggregated_params", "mm_embedding_handle", "token_ids"))

MORE_HEALTHY: dict[str, Shape] = {
    "Perplexity, the message so far in each event": Shape(prose(), "stop", streamed=stream(_so_far())),
    "Perplexity, events of several kinds": Shape(prose(), "stop", streamed=stream(_by_kind())),
    "DeepSeek, empty lines before the document": Shape(
        reply=_after_empty_lines({**_HEAD, "choices": [{"index": 0, "message": prose(), "finish_reason": "stop"}]}),
        streamed=stream(b": keep-alive\n\n" * 4 + _in_pieces() + _ended() + DONE),
    ),
    "oMLX, comments between all events": Shape(
        prose(), "stop", streamed=stream((_in_pieces() + _ended()).replace(b"\n\n", b"\n\n: keep-alive\n\n") + DONE)
    ),
    "Azure, a filter that speaks after the end": Shape(
        prose(), "stop", streamed=stream(_in_pieces() + _ended() + _events(_OFFSETS) + DONE)
    ),
    "Databricks, reasoning as a part": Shape(
        message([_THOUGHT, _TOLD]),
        "stop",
        streamed=stream(
            _events({"index": 0, "delta": {"role": "assistant", "content": [_THOUGHT]}})
            + _in_pieces()
            + _ended()
            + DONE
        ),
    ),
    "Writer, a message beside each delta": Shape(
        prose(graph_data={"sources": None}),
        "stop",
        streamed=stream(_events(*(_said(word, message=message("")) for word in _WORDS)) + _ended() + DONE),
    ),
    "xAI, reasoning besides the counted output": Shape(
        usage={
            **USAGE,
            "total_tokens": 378,
            "completion_tokens_details": {"reasoning_tokens": 316},
            "num_sources_used": 0,
        }
    ),
    "TensorRT-LLM, nulls": Shape(
        message("", call(id="chatcmpl-tool-1"), reasoning=None, reasoning_content=None), choice=dict(_NULLS)
    ),
    "as many tokens as max_tokens, most of them hidden": Shape(
        prose(), "stop", usage={"prompt_tokens": 50, "completion_tokens": 128, "total_tokens": 178}
    ),
    "llama-swap, words of its own while a model loads": Shape(
        prose(),
        "stop",
        streamed=stream(
            _events({"index": 0, "delta": {"role": "assistant", "reasoning_content": "loading the model\n"}})
            + _in_pieces()
            + _ended()
            + DONE
        ),
    ),
}

_CRASHED: JSON = {"error": {"message": "The model has crashed without additional information. (Exit code: 6)"}}

MORE_FAULTY: dict[str, Shape] = {
    "Aphrodite, a call whose name is empty": Shape(
        message(None, {"id": "a", "type": "function", "function": {"name": "", "arguments": "{}"}}),
        codes=("PD466",),
        said="has no name",
    ),
    "Triton, an error without a reason": Shape(
        reply=answer(500, {"detail": "Exception when generating: unexpected error"}),
        codes=("PD100",),
        said="The server failed on the request",
    ),
    "Kong, an error without a reason": Shape(
        reply=answer(500, {"message": "An unexpected error occurred", "request_id": "1"}),
        codes=("PD100",),
        said="The server failed on the request",
    ),
    "LM Studio, a crash within the stream": Shape(
        streamed=stream(_in_pieces() + b"event: error\ndata: " + json.dumps(_CRASHED).encode() + b"\n\n"),
        codes=("PD310",),
        said="broke off: The model has crashed",
    ),
    "oMLX, kept open and never answered": Shape(
        streamed=stream(b": keep-alive\n\n" * 5), codes=("PD310",), said="ended before it contained anything"
    ),
    "Volcengine, moderated": Shape(
        message(""), "content_filter", ("PD311",), choice={"moderation_hit_type": "violence"}, said="withheld"
    ),
    "Dynamo, no reason at the end": Shape(
        streamed=stream(_in_pieces() + _events(_NOTHING) + DONE), codes=("PD412",), said="has no finish_reason"
    ),
    "mlx-openai-server, a stream that loses its text": Shape(
        prose(),
        "stop",
        ("PD312",),
        streamed=stream(_events(_NOTHING) + _ended(usage={**USAGE, "completion_tokens": 36}) + DONE),
        said="without streaming the same request is answered with a text",
    ),
    "mlx-openai-server, a stream that loses its call": Shape(
        codes=("PD312",),
        streamed=stream(_events(_NOTHING) + _ended(usage={**USAGE, "completion_tokens": 36}) + DONE),
        said="without streaming the same request is answered with a call to `get_weather`",
    ),
    "a gateway that leaves calls and counts out of streams": Shape(
        codes=("PD312",),
        usage=None,
        streamed=stream(_events(_NOTHING) + _ended() + DONE),
        said="without streaming the same request is answered with a call to `get_weather`",
    ),
    "mlx-openai-server, a parser that fails": Shape(
        reply=answer(
            500,
            {
                "error": {
                    "message": "Failed to generate text response: 'NoneType' object has no attribute 'group'",
                    "type": "server_error",
                    "code": "500",
                }
            },
        ),
        codes=("PD100",),
        said="The server's own program failed on the request",
    ),
    "DeepSeek, nothing but empty lines": Shape(
        reply=answer(200, b"\n" * 12), status=200, said="nothing but empty lines Some servers send empty lines"
    ),
    "xAI, a filter that answers 403": Shape(
        reply=answer(403, {"error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}),
        status=403,
        said="A content filter stopped the request",
    ),
}
