"""What is asked again where the run itself does not show its output, and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import JSON, Basis, Completeness, JSONObject
from prompt_debugger.core.complete import Gathered, ServerClient, gather
from tests.core.complete.faulty_server import Behaviour, FaultyServer, answer, faulty_server, in_turn
from tests.core.complete.test_evidence import BEHAVIOURS, FAILURE, LOCAL, SERVER

CHAT = "/v1/chat/completions"
RENDER = "/v1/chat/completions/render"
WITH_IDS: JSONObject = {
    "choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop", "token_ids": [7]}],
    "usage": {"completion_tokens": 1, "prompt_tokens": 1},
    "prompt_token_ids": [1],
}
DECODED: dict[str, Behaviour] = {"/detokenize": answer(200, {"prompt": "hi"})}


async def run(changes: dict[str, Behaviour], body: JSONObject, *features: str) -> tuple[Gathered, FaultyServer]:
    known = replace(SERVER, features=frozenset(features))
    async with faulty_server({**BEHAVIOURS, **changes}) as server, ServerClient(server.base_url) as client:
        found = await gather(client, known, {"model": "m", "temperature": 0, **body}, local_prompt=LOCAL)
    return found, server


def bodies(server: FaultyServer, path: str) -> list[JSONObject]:
    return [one.json for one in server.received if one.path == path and isinstance(one.json, dict)]


def listed(*alternatives: float) -> JSONObject:
    """Return an answer whose listed token is not in its text and, at temperature 0, less likely than its rivals."""
    top: list[JSON] = [{"token": f"h{index}", "logprob": value} for index, value in enumerate(alternatives)]
    entries: list[JSON] = [{"token": "zz", "logprob": -3.0, "top_logprobs": top}]
    choice: JSON = {
        "index": 0,
        "message": {"content": "hi"},
        "finish_reason": "stop",
        "logprobs": {"content": entries},
    }
    return {"choices": [choice], "usage": {"completion_tokens": 1, "prompt_tokens": 1}}


async def test_a_stream_without_ids_is_read_by_the_same_request_asked_whole() -> None:
    found, _ = await run({CHAT: answer(200, WITH_IDS), **DECODED}, {"stream": True}, "detokenize")

    assert found.raw is not None
    assert (found.evidence, found.raw.token_ids, found.raw.text) == (Basis.OWN_RENDER, (7,), "hi")
    assert found.raw.completeness is Completeness.WHOLE
    assert "the same request, asked without `stream`" in found.why


async def test_a_stream_that_fails_is_not_called_the_request_without_streaming() -> None:
    found, _ = await run(
        {CHAT: answer(200, WITH_IDS), f"{CHAT}#stream": FAILURE, **DECODED}, {"stream": True}, "detokenize"
    )

    assert found.raw is not None
    assert found.why.startswith("The chat request with `stream` got no answer")
    assert found.why.endswith("the same request, asked without `stream`.")


async def test_a_whole_answer_that_fails_next_to_a_stream_is_reported() -> None:
    found, _ = await run({CHAT: FAILURE}, {"stream": True})

    assert found.chat == found.chat_stream
    notes = [note for note in found.notes if note.startswith("Our additional request without `stream` failed: ")]
    assert len(notes) == 1
    assert "EngineCore died" in notes[0]


async def test_log_probabilities_that_contradict_themselves_are_asked_for_without_alternatives() -> None:
    doubtful = answer(200, listed(-0.1, -0.2))
    no_raw = {"/v1/completions": answer(404, {"error": {"message": "no such endpoint"}})}
    body: JSONObject = {"logprobs": True, "top_logprobs": 2}

    found, server = await run({CHAT: in_turn(doubtful, answer(200, WITH_IDS)), **DECODED, **no_raw}, body, "detokenize")

    whole = [one for one in bodies(server, CHAT) if not one.get("stream")]
    assert [one.get("top_logprobs") for one in whole] == [2, None]
    assert found.raw is not None
    assert (found.raw.token_ids, found.evidence) == ((7,), Basis.OWN_RENDER)
    assert "the same request, asked without `top_logprobs`" in found.why


async def test_what_there_was_stays_where_asking_without_alternatives_fails() -> None:
    found, server = await run(
        {CHAT: in_turn(answer(200, listed(-0.1, -0.2)), FAILURE)}, {"logprobs": True, "top_logprobs": 2}
    )

    assert len([one for one in bodies(server, CHAT) if not one.get("stream")]) == 2
    assert found.raw is not None
    assert (found.raw.token_ids, found.evidence) == ((7,), Basis.OWN_RENDER)


@pytest.mark.parametrize("changes", [{}, {"temperature": 1}, {"temperature": 1, "seed": 3}])
async def test_what_cannot_show_more_is_not_asked_for_again(changes: JSONObject) -> None:
    """The raw completion is whole already, or two runs would differ by chance."""
    whole = {"/v1/completions": answer(200, {"choices": [{"index": 0, "text": "hi<|im_end|>", "token_ids": [7, 8]}]})}
    features = () if changes else ("detokenize",)

    _, server = await run(
        {CHAT: answer(200, listed(-0.1, -0.2)), **DECODED, **whole},
        {"logprobs": True, "top_logprobs": 2, **changes},
        *features,
    )

    assert len([one for one in bodies(server, CHAT) if not one.get("stream")]) == 1


async def test_one_alternative_is_not_asked_for_again() -> None:
    found, server = await run({CHAT: answer(200, listed(-0.1))}, {"logprobs": True, "top_logprobs": 1})

    assert len([one for one in bodies(server, CHAT) if not one.get("stream")]) == 1
    assert found.raw is not None


RENDERED = answer(
    200,
    {
        "token_ids": [1],
        "sampling_params": {"structured_outputs": {"regex": "h.*"}},
        "reasoning_parser_kwargs": {"chat_template_kwargs": {"thinking": False}},
    },
)


async def test_a_run_without_alternatives_is_under_the_grammar_of_the_render() -> None:
    no_raw = {"/v1/completions": answer(404, {"error": {"message": "no such endpoint"}})}
    shown = {CHAT: in_turn(answer(200, listed(-0.1, -0.2)), answer(200, WITH_IDS)), RENDER: RENDERED}

    found, _ = await run({**shown, **DECODED, **no_raw}, {"logprobs": True, "top_logprobs": 2}, "render", "detokenize")

    assert "asked without `top_logprobs`" in found.why
    assert found.raw is not None
    assert found.raw.constraint == '{"regex": "h.*"}'


async def test_what_the_server_says_of_its_own_render_is_kept() -> None:
    found, server = await run({RENDER: RENDERED, CHAT: answer(200, WITH_IDS), **DECODED}, {}, "render", "detokenize")

    assert len(bodies(server, RENDER)) == 1
    assert found.template_kwargs == {"thinking": False}
    assert found.raw is not None
    assert found.raw.constraint == '{"regex": "h.*"}'
    assert found.grammar is not None
    assert found.grammar.constraint == '{"regex": "h.*"}'
