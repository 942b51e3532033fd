"""llama-cpp-python's server as it answered (0.3.36): how it is known, what it is asked, and what its count shows."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import JSON, Basis, Completeness, Completion, JSONObject, Prompt
from prompt_debugger.core.complete import ENGINES, Gathered, ServerClient, gather
from prompt_debugger.core.complete.client import chat_fields
from prompt_debugger.core.render.tokenizers import load_tokenizer
from tests.conftest import ROOT
from tests.core.complete.faulty_server import Behaviour, answer, chunk, faulty_server, stream

BODY: JSONObject = {"messages": [], "temperature": 0}
TEXT = 'functions.get_weather:0{"city": "Paris"}'
TOKENIZER = load_tokenizer(ROOT / "assets" / "lab-model")
PROMPT_LENGTH = len(TOKENIZER.encode("hello"))
ENGINE = ENGINES["llama-cpp-python"]


def described(title: str) -> Behaviour:
    return answer(200, {"openapi": "3.1.0", "info": {"title": title, "version": "0.3.36"}, "paths": {"/v1/models": {}}})


def whole(counted: int, listed: JSON = None) -> Behaviour:
    message: JSON = {"role": "assistant", "content": TEXT}
    choice: JSON = {"index": 0, "message": message, "logprobs": listed, "finish_reason": "stop"}
    return answer(200, {"choices": [choice], "usage": {"prompt_tokens": PROMPT_LENGTH, "completion_tokens": counted}})


def server(counted: int = 20, listed: JSON = None, title: str = "🦙 llama.cpp Python API") -> dict[str, Behaviour]:
    pieces = [chunk(delta={"content": TEXT}, finish_reason=None), chunk(delta={}, finish_reason="stop")]
    raw: JSON = {"choices": [{"index": 0, "text": TEXT, "finish_reason": "stop"}]}
    return {
        "/v1/models": answer(200, {"data": [{"id": "lab.gguf", "owned_by": "me"}]}),
        "/openapi.json": described(title),
        "/v1/chat/completions": whole(counted, listed),
        "/v1/chat/completions#stream": stream(*pieces, b"data: [DONE]\n\n"),
        "/v1/completions": answer(200, raw),
    }


@pytest.mark.parametrize(
    ("title", "kind"),
    [("🦙 llama.cpp Python API", "llama-cpp-python"), ("Models of the house", "openai-compatible")],
)
async def test_it_is_known_by_what_its_api_is_called(title: str, kind: str) -> None:
    async with faulty_server(server(title=title)) as running, ServerClient(running.base_url) as client:
        assert (await client.probe()).kind == kind


def test_it_is_asked_for_one_alternative_where_the_request_settles_nothing() -> None:
    assert chat_fields(ENGINE, {}) == {"logprobs": True, "top_logprobs": 1}
    assert chat_fields(ENGINE, {"logprobs": True, "top_logprobs": 5}) == {}
    assert chat_fields(ENGINE, {"logprobs": True}) == {"top_logprobs": 1}
    assert chat_fields(ENGINE, {"logprobs": False}) == {}


def test_a_stream_is_left_as_it_is() -> None:
    assert ENGINE.own_fields.stream == {}
    assert not ENGINE.takes_several


async def gathered(behaviours: dict[str, Behaviour], body: JSONObject = BODY) -> Gathered:
    async with faulty_server(behaviours) as running, ServerClient(running.base_url) as client:
        probed = await client.probe()

        local = Prompt("local", "hello", (), None)
        return await gather(client, probed, body, tokenizer=TOKENIZER, local_prompt=local)


def _raw(found: Gathered) -> Completion:
    assert found.raw is not None
    return found.raw


async def test_a_token_without_text_is_a_control_token_that_it_does_not_show() -> None:
    texts = ["", "", "functions", ".", "get_weather:0", "", '{"city": "Paris"}', "", ""]
    listed: JSON = {"content": [{"token": text, "logprob": 0.0, "bytes": None} for text in texts]}

    found = await gathered(server(9, listed))

    assert (found.evidence, _raw(found).completeness) == (Basis.SAME_RUN, Completeness.STRIPPED)


async def test_a_second_run_without_a_count_is_judged_by_that_of_the_answer_with_the_same_text() -> None:
    length = len(TOKENIZER.encode(TEXT))
    found = await gathered(server(length + 5))

    assert (found.evidence, _raw(found).completeness) == (Basis.TEXT_ONLY, Completeness.STRIPPED)
    assert f"counted {length + 5} tokens, and the text has {length}" in _raw(found).completeness_reason


async def test_an_answer_with_another_text_counts_for_nothing() -> None:
    other = answer(200, {"choices": [{"index": 0, "text": "Something else.", "finish_reason": "stop"}]})
    found = await gathered({**server(20), "/v1/completions": other})

    assert _raw(found).completeness is Completeness.UNKNOWN


async def test_nor_does_one_that_was_drawn_at_random() -> None:
    found = await gathered(server(20), {"messages": []})

    assert _raw(found).completeness is Completeness.UNKNOWN
