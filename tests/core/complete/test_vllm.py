"""vLLM's own endpoints, where they answer otherwise than vLLM does."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete import ENGINES, ServerClient
from tests.core.complete.faulty_server import answer, faulty_server

CALLS: dict[str, Callable[[ServerClient], Awaitable[object]]] = {
    "/v1/chat/completions/render": lambda client: client.render({}),
    "/tokenize": lambda client: client.tokenize_chat({"messages": []}),
    "/detokenize": lambda client: client.detokenize([1]),
}


@pytest.mark.parametrize("path", CALLS)
@pytest.mark.parametrize("body", [{}, [], {"tokens": "x", "prompt": 1, "token_ids": [None]}])
async def test_an_answer_in_another_shape_is_reported(path: str, body: JSON) -> None:
    async with faulty_server(answer(200, body)) as server, ServerClient(server.base_url) as client:
        with pytest.raises(BackendError) as caught:
            await CALLS[path](client)

    assert caught.value.kind == "odd-answer"
    assert path in caught.value.message


async def test_a_grammar_without_anything_in_it_is_none() -> None:
    body: JSON = {"token_ids": [1, 2], "sampling_params": {"structured_outputs": None}}
    async with faulty_server(answer(200, body)) as server, ServerClient(server.base_url) as client:
        found = await client.render({})

    assert (found.token_ids, found.constraint, found.max_tokens) == ((1, 2), None, None)


async def test_what_vllm_keeps_private_of_a_grammar_is_not_sent_back() -> None:
    outputs: JSON = {"json": None, "choice": ["a"], "disable_any_whitespace": False, "_backend": "xgrammar"}
    body: JSON = {"token_ids": [1], "sampling_params": {"structured_outputs": outputs}}
    async with faulty_server(answer(200, body)) as server, ServerClient(server.base_url) as client:
        found = await client.render({})

    assert found.constraint == {"choice": ["a"]}


_ONE_TEXT: JSONObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
_PLAIN: JSONObject = {
    "messages": [{"role": "user", "content": "a\nb", "reasoning": "a\nb"}],
    "tools": [{"function": {"name": "f"}}],
}


def _changed(body: JSONObject) -> list[JSONObject]:
    return [change.apply(copy.deepcopy(body)) for change in ENGINES["vllm"].request_changes]


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ({"messages": [{"role": "assistant", "reasoning": "One.\nTwo."}]}, "One."),
        ({"tools": [{"function": {"parameters": {"properties": {}}}}]}, {"properties": {}, "type": "object"}),
        ({"tools": [{"function": {"name": "f", "parameters": _ONE_TEXT}}]}, "freeform"),
    ],
)
def test_what_it_does_to_requests_of_its_other_apis_is_one_change_each(body: JSONObject, made: JSON) -> None:
    changed = [one for one in _changed(body) if one != body]

    assert len(changed) == 1
    assert json.dumps(made)[1:-1] in json.dumps(changed[0])


@pytest.mark.parametrize("body", [_PLAIN, {}, {"messages": None, "tools": [None, {"function": 3}]}])
def test_what_it_does_to_requests_leaves_others_as_they_are(body: JSONObject) -> None:
    assert all(one == body for one in _changed(body))
