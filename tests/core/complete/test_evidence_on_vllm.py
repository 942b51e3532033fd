"""The ladder of evidence on a real vLLM."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import (
    Basis,
    JSONObject,
)
from prompt_debugger.core.complete import ENGINES, Gathered, OutputToParse, ServerClient, gather
from prompt_debugger.core.render import pieces_of_reported
from prompt_debugger.core.render.tokenizers import load_tokenizer
from prompt_debugger.core.tools.lab import LabPool, LabSpec
from tests.conftest import ROOT

BODY: JSONObject = json.loads((ROOT / "assets" / "examples" / "healthy-call.json").read_text())["request"]


@pytest.fixture
async def client(lab_url: str) -> AsyncIterator[ServerClient]:
    async with ServerClient(lab_url) as found:
        await found.probe()
        yield found


@pytest.fixture
async def reasoning_client(reasoning_lab_url: str) -> AsyncIterator[ServerClient]:
    async with ServerClient(reasoning_lab_url) as found:
        await found.probe()
        yield found


async def run(client: ServerClient, body: JSONObject, features: frozenset[str] | None = None) -> Gathered:
    server = client.server
    assert server is not None
    return await gather(client, server if features is None else replace(server, features=features), body)


@pytest.mark.lab
async def test_a_run_on_vllm_rests_on_its_own_ids(client: ServerClient) -> None:
    texts: dict[str, list[str]] = {"raw": [], "chat": []}
    assert client.server is not None

    found = await gather(
        client, client.server, {**BODY, "max_tokens": 60},
        on_raw_text=texts["raw"].append, on_chat_text=texts["chat"].append,
    )  # fmt: skip

    assert found.raw is not None
    assert found.raw_again is not None
    assert found.chat is not None
    assert found.chat_stream is not None
    assert (found.evidence, found.notes, found.refusal) == (Basis.SAME_RUN, (), None)
    assert found.raw.token_ids == found.chat.token_ids == found.chat_stream.token_ids == found.raw_again.token_ids
    assert found.raw.text == found.raw_again.text
    assert found.raw.text.endswith("<|im_end|>")
    assert "<|tool_call_begin|>functions.get_weather:0" in found.raw.text
    assert (found.raw.finish_reason, found.chat.finish_reason) == ("stop", "tool_calls")
    assert found.prompt_text is not None
    assert found.prompt_text.endswith("<|im_assistant|>assistant<|im_middle|>")
    assert found.chat.prompt_token_ids == found.prompt_token_ids
    assert found.sent == {**BODY, "max_tokens": 60, "return_token_ids": True, "return_prompt_text": True}
    assert texts["raw"][-1] + "<|im_end|>" == found.raw.text
    assert all(after.startswith(before) for before, after in pairwise(texts["raw"]))
    assert len(found.chat_stream.deltas) > 1  # a busy server sends many tokens in one
    assert texts["chat"] == []  # a call alone shows no text


@pytest.mark.lab
async def test_the_sampler_says_length_where_chat_says_tool_calls(client: ServerClient) -> None:
    found = await run(client, {**BODY, "max_tokens": 12})

    assert found.raw is not None
    assert found.chat is not None
    assert (found.chat.finish_reason, found.raw.finish_reason) == ("tool_calls", "length")


@pytest.mark.lab
async def test_a_stream_that_is_cut_is_judged_by_its_own_word_and_ids(client: ServerClient) -> None:
    found = await run(client, {**BODY, "stream": True, "max_tokens": 12})

    assert found.raw is not None
    assert found.chat is not None
    assert found.chat_whole is not None
    assert found.chat == found.chat_stream
    assert found.chat.deltas
    assert (found.evidence, found.raw.token_ids, len(found.raw.token_ids or ())) == (
        Basis.SAME_RUN, found.chat.token_ids, 12,
    )  # fmt: skip
    assert found.raw.finish_reason == "length"
    assert not found.chat_whole.deltas
    assert found.notes == ()


@pytest.mark.lab
@pytest.mark.parametrize(
    "fields",
    [{"tool_choice": "required"}, {"parallel_tool_calls": False}, {"response_format": {"type": "json_object"}}],
)
async def test_raw_completion_runs_under_the_same_grammar(client: ServerClient, fields: JSONObject) -> None:
    found = await run(client, {**BODY, **fields, "max_tokens": 40})

    assert found.raw is not None
    assert found.raw_again is not None
    assert found.raw.token_ids == found.raw_again.token_ids
    assert found.raw.constraint == found.raw_again.constraint
    assert found.raw.constraint is not None
    assert ("structural_tag" if "response_format" not in fields else "json_object") in found.raw.constraint


@pytest.mark.lab
async def test_without_the_render_endpoint_the_ids_come_from_the_stream(client: ServerClient) -> None:
    found = await run(client, {**BODY, "max_tokens": 20}, frozenset({"detokenize"}))

    assert found.evidence is Basis.SAME_RUN
    assert found.raw_again is not None
    assert found.raw_again.token_ids == (found.raw.token_ids if found.raw else None)


@pytest.mark.lab
async def test_a_grammar_that_cannot_be_seen_is_reported(client: ServerClient) -> None:
    found = await run(client, {**BODY, "tool_choice": "required", "max_tokens": 20}, frozenset({"detokenize"}))

    assert [note for note in found.notes if "grammar" in note]


@pytest.mark.lab
async def test_hidden_reasoning_costs_a_level(reasoning_client: ServerClient) -> None:
    found = await run(reasoning_client, {**BODY, "include_reasoning": False, "max_tokens": 40})

    assert found.evidence is Basis.OWN_RENDER
    assert found.raw is not None
    assert found.raw.token_ids
    assert found.raw_again is None
    assert "`include_reasoning: false`" in found.why
    assert found.notes[0] == found.why


@pytest.mark.lab
async def test_an_answer_shows_whether_there_is_a_reasoning_parser(
    client: ServerClient, reasoning_client: ServerClient
) -> None:
    without, with_it = await run(client, BODY), await run(reasoning_client, BODY)

    assert without.server is not None
    assert with_it.server is not None
    assert (without.server.has_reasoning_parser, with_it.server.has_reasoning_parser) == (False, True)
    assert with_it.template_kwargs is not None


@pytest.mark.lab
async def test_without_a_tokenizer_the_server_reports_its_tokens(client: ServerClient, lab_model_dir: Path) -> None:
    tokenizer = load_tokenizer(str(lab_model_dir))
    found = await run(client, BODY)
    assert found.raw is not None

    for ids, shown, text in (
        (found.raw.token_ids, found.raw_pieces, found.raw.text),
        (found.prompt_token_ids, found.prompt_pieces, found.prompt_text),
    ):
        assert ids is not None
        assert shown is not None
        assert text is not None
        assert pieces_of_reported(shown, text) == tuple(token.piece for token in tokenizer.tokens_of_ids(ids)[1])


@pytest.mark.lab
async def test_several_choices_are_reported(client: ServerClient) -> None:
    found = await run(client, {**BODY, "n": 2, "temperature": 1, "seed": 1, "max_tokens": 4})

    assert found.evidence is Basis.SAME_RUN
    assert any("only the first is examined" in note for note in found.notes)


@pytest.mark.lab
@pytest.mark.parametrize(
    ("fields", "field"), [({"messages": "x"}, "messages"), ({"stop_token_ids": [999_999]}, "stop_token_ids")]
)
async def test_a_refused_request_is_a_refusal(client: ServerClient, fields: JSONObject, field: str) -> None:
    found = await run(client, {**BODY, **fields})

    assert found.refusal is not None
    assert (found.refusal.status, found.refusal.field) == (400, field)
    assert (found.chat, found.raw, found.evidence) == (None, None, None)


@pytest.mark.lab
async def test_an_unknown_model_is_a_refusal(client: ServerClient) -> None:
    found = await run(client, {**BODY, "model": "nobody"})

    assert found.refusal is not None
    assert (found.refusal.status, found.refusal.field) == (404, "model")
    assert "`nobody` does not exist" in found.refusal.message


@pytest.mark.lab
async def test_vllm_renders_tokenizes_and_parses_on_request(client: ServerClient) -> None:
    rendered = await client.render({**BODY, "stream": True})

    assert rendered.token_ids == await client.tokenize_chat(BODY)
    assert rendered.max_tokens == BODY["max_tokens"]
    assert "chat_template" in await client.tokenizer_info()

    parsers = ENGINES["vllm"].own_parsers
    assert parsers is not None
    given = OutputToParse("", request=BODY, token_ids=rendered.token_ids[:3], model="lab-model")
    answered = await client.run_parser(parsers, "derender", given)
    assert (answered.error, answered.content is not None) == (None, True)


@pytest.mark.lab
async def test_text_is_completed_without_adding_tokens(client: ServerClient) -> None:
    rendered = await client.render(BODY)
    text = await client.detokenize(rendered.token_ids)

    on_ids = await client.complete(rendered.token_ids, {"temperature": 0, "max_tokens": 9, "logprobs": 1})
    on_text = await client.complete(text, {"temperature": 0, "max_tokens": 9})

    assert on_ids.token_ids == on_text.token_ids
    assert on_ids.usage == on_text.usage
    assert on_ids.logprobs is not None
    assert len(on_ids.logprobs) == 9


@pytest.mark.lab
async def test_cancelling_stops_the_generation(client: ServerClient) -> None:
    body: JSONObject = {**BODY, "max_tokens": 1500, "ignore_eos": True}
    begun = asyncio.Event()
    assert client.server is not None
    before = await _metric(client, "generation_tokens_total")
    task = asyncio.create_task(gather(client, client.server, body, on_raw_text=lambda text: begun.set()))
    await begun.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    while await _metric(client, "num_requests_running"):
        pass
    assert await _metric(client, "generation_tokens_total") - before < 3 * 1500


@pytest.mark.lab
async def test_a_server_that_dies_midway_is_one_clear_failure() -> None:
    labs = LabPool()
    try:
        lab = await labs.get(LabSpec(max_model_len=1536))
        begun = asyncio.Event()
        async with ServerClient(lab.base_url) as client:
            server = await client.probe()
            body: JSONObject = {**BODY, "max_tokens": 1300, "ignore_eos": True}
            task = asyncio.create_task(gather(client, server, body, on_raw_text=lambda text: begun.set()))
            await begun.wait()
            assert lab.pid is not None

            # The whole group at once: a server that is only asked to end may finish this answer first.
            os.killpg(lab.pid, signal.SIGKILL)

            with pytest.raises(BackendError) as caught:
                await task
    finally:
        await asyncio.to_thread(labs.stop_all)
    assert lab.base_url in caught.value.message


async def _metric(client: ServerClient, name: str) -> float:
    async with httpx.AsyncClient() as http:
        text = (await http.get(client.base_url.removesuffix("/v1") + "/metrics")).text
    return sum(float(value) for value in re.findall(rf"(?m)^vllm:{name}{{.*}} (\S+)$", text))
