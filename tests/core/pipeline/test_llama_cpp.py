"""The prompt that llama.cpp's server would use, explained by what that server does."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.types import JSON, JSONObject, Request, SpanKind, TokenKind, Trace
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.pipeline import Target, render_on_server
from tests.core.complete.llama_cpp_server import FOLDER, llama_cpp_server

USER: JSON = {"role": "user", "content": "Hi"}


def recorded_bodies(recording: str) -> list[JSONObject]:
    """Return the chat requests of a recording, without the model name."""
    exchanges = [json.loads(line) for line in (FOLDER / f"{recording}.jsonl").read_text(encoding="utf-8").splitlines()]
    bodies = [one["request"][2] for one in exchanges if one["request"][1] == "/apply-template" and one["status"] == 200]
    return [{key: value for key, value in body.items() if key != "model"} for body in bodies]


def render(base_url: str, body: JSONObject, **target: str) -> Trace:
    asked = Target(base_url=base_url, tokenizer=target.get("tokenizer"), chat_template=target.get("template"))
    return asyncio.run(render_on_server(Request(body=body, text=""), asked))


def test_the_server_is_recognised_and_says_what_it_is() -> None:
    async def probe(base_url: str) -> None:
        async with ServerClient(base_url) as client:
            server = await client.probe()
            assert (server.kind, server.version, server.max_model_len) == ("llama.cpp", "b1-7e4c0a9", 2048)
            assert server.features == {"apply_template", "tokenizer_info"}

    with llama_cpp_server("lab") as base_url:
        asyncio.run(probe(base_url))


def test_an_old_server_without_the_endpoint_does_not_claim_it() -> None:
    async def probe(base_url: str) -> frozenset[str]:
        async with ServerClient(base_url) as client:
            return (await client.probe()).features

    with llama_cpp_server("lab", absent=("/apply-template",)) as base_url:
        assert asyncio.run(probe(base_url)) == {"tokenizer_info"}


@pytest.mark.slow
@pytest.mark.parametrize("recording", ["lab", "bos"])
def test_every_recorded_prompt_is_explained_but_the_one_with_markers_of_its_own(recording: str) -> None:
    """llama.cpp writes an empty reasoning block of the lab's format in front of a prefill; no cause names that."""
    with llama_cpp_server(recording) as base_url:
        for body in recorded_bodies(recording):
            trace = render(base_url, body)
            assert trace.prompt is not None
            unknown = "".join(
                trace.prompt.text[slice(*span.char_span)]
                for span in trace.prompt.spans
                if span.kind is SpanKind.UNKNOWN
            )
            assert unknown == ("<think></think>" if recording == "lab" and _is_prefill(body) else ""), body
            assert trace.prompt.tokens is not None
            assert "".join(token.text for token in trace.prompt.tokens) == trace.prompt.text


def _is_prefill(body: JSONObject) -> bool:
    messages = body["messages"]
    assert isinstance(messages, list)
    last = messages[-1]
    return isinstance(last, dict) and last["role"] == "assistant"


def test_a_request_it_changes_nothing_of_is_equal() -> None:
    with llama_cpp_server("lab") as base_url:
        trace = render(base_url, {"messages": [USER]})

    assert trace.prompt is not None
    assert trace.prompt.note == "Equal to our own render of the request as pasted."
    assert trace.prompt_difference is None
    assert trace.findings == ()


def test_rewritten_tools_and_history_are_the_cause() -> None:
    with llama_cpp_server("lab") as base_url:
        trace = render(base_url, next(body for body in recorded_bodies("lab") if "tool_call_id" in json.dumps(body)))

    assert trace.prompt is not None
    assert trace.prompt.identical
    assert "decoded `messages[1].tool_calls[0].function.arguments`" in trace.prompt.note
    assert "dropped `tools[0].function.strict`" in trace.prompt.note
    assert trace.prompt_difference is not None
    assert trace.prompt_difference.cause is not None


def test_a_prefilled_answer_is_the_request_s_own_text_at_the_end() -> None:
    with llama_cpp_server("bos") as base_url:
        trace = render(base_url, next(body for body in recorded_bodies("bos") if _is_prefill(body)))

    assert trace.prompt is not None
    last = trace.prompt.spans[-1]
    assert (last.kind, last.field, last.field_span) == (SpanKind.REQUEST, "messages[1].content", (0, 4))
    assert "after the generation prompt" in trace.prompt.note


def test_bos_that_the_vocabulary_adds_is_in_ids_and_text() -> None:
    with llama_cpp_server("bos") as base_url:
        trace = render(base_url, {"messages": [USER]})

    assert trace.prompt is not None
    assert trace.prompt.text.startswith("[BOS]<|im_user|>")
    assert trace.prompt.token_ids is not None
    assert trace.prompt.token_ids[0] == 0
    assert trace.prompt.spans[0].kind is SpanKind.ENVIRONMENT


def test_forged_markers_are_known_without_a_tokenizer() -> None:
    forged = next(body for body in recorded_bodies("lab") if "<|im_end|>" in json.dumps(body["messages"]))

    with llama_cpp_server("lab") as base_url:
        trace = render(base_url, forged)

    assert trace.prompt is not None
    assert trace.prompt.tokens is not None
    assert [token.text for token in trace.prompt.tokens if token.injected] == ["<|im_end|>"]
    assert TokenKind.BYTE in {token.kind for token in trace.prompt.tokens}


def test_another_template_at_hand_is_the_cause_and_the_server_s_is_shown() -> None:
    template = "{{ bos_token }}{% for m in messages %}<|im_user|>{{ m.role }}<|im_middle|>{{ m.content }}{% endfor %}"

    with llama_cpp_server("bos") as base_url:
        trace = render(base_url, {"messages": [USER]}, template=template)

    assert trace.prompt is not None
    assert "the server uses a different template; line 1 is" in trace.prompt.note
    assert trace.prompt.template is not None
    assert trace.prompt.template != template
    assert trace.prompt_difference is not None
    assert trace.prompt_difference.cause is not None


def test_without_tokenize_there_is_still_the_text() -> None:
    with llama_cpp_server("lab", absent=("/tokenize",)) as base_url:
        trace = render(base_url, {"messages": [USER]})

    assert trace.prompt is not None
    assert trace.prompt.tokens is None
    assert trace.prompt.note == "Equal to our own render of the request as pasted."
