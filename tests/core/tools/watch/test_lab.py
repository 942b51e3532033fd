"""A real vLLM watched: the official client gets what it gets without, and what is counted is what was lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.base.types import Api
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.report.wire import trace_from_json
from prompt_debugger.core.request import to_api
from prompt_debugger.core.tools.verify import Journal
from tests.conftest import ROOT
from tests.core.tools.capture.capturing import patient_client
from tests.core.tools.watch.watching import watching

pytestmark = pytest.mark.lab


def _example(name: str) -> Any:
    return json.loads((ROOT / "assets" / "examples" / f"{name}.json").read_text("utf-8"))["request"]


async def _ask(base_url: str, body: Any) -> Any:
    """Ask with the official client, whole and streamed; return what it made of both, ids and times left out."""
    import openai  # who reads the tests that start no server does not wait for it

    async with openai.AsyncOpenAI(base_url=base_url, api_key="EMPTY", max_retries=0) as client:
        body = {"model": "lab-model", **body}
        more = {name: body.pop(name) for name in tuple(body) if name not in ("model", "messages", "tools", "stream")}
        whole = await client.chat.completions.create(**body, extra_body=more)
        parts = [part async for part in await client.chat.completions.create(**body, extra_body=more, stream=True)]
    streamed = [_comparable(part.model_dump(exclude_unset=True)) for part in parts]
    assert not any(choice.get("token_ids") for event in streamed for choice in event["choices"])
    ends = [_fields(event) for event in (streamed[0], streamed[-1])]
    return _comparable(whole.model_dump(exclude_unset=True)), ends, _message(streamed)


def _fields(event: Any) -> Any:
    """Return the names of an event's fields; how many tokens its delta holds is chance."""
    return list(event), [list(choice) for choice in event["choices"]]


def _message(events: list[Any]) -> Any:
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    calls = [call["function"] for delta in deltas for call in delta.get("tool_calls") or []]
    texts = ["".join(delta.get("content") or "" for delta in deltas)]
    texts += ["".join(call.get(name) or "" for call in calls) for name in ("name", "arguments")]
    return texts, [choice.get("finish_reason") for event in events[-1:] for choice in event["choices"]]


def _comparable(value: Any) -> Any:
    """Return an answer without what differs from one run to the next."""
    if isinstance(value, dict):
        return {name: _comparable(one) for name, one in value.items() if name not in ("id", "created")}
    return [_comparable(one) for one in value] if isinstance(value, list) else value


async def test_clients_get_the_same_and_the_dropped_call_is_counted(lab_url: str, tmp_path: Path) -> None:
    bodies = [_example(name) for name in ("healthy-call", "dropped-call")]
    store, target = tmp_path / "watch.sqlite", Target(base_url=lab_url, tokenizer=ROOT / "assets" / "lab-model")
    async with watching(lab_url, store, evidence=True, target=target) as watch, patient_client() as client:
        direct = [await _ask(lab_url, body) for body in bodies]
        through = [await _ask(watch.base_url, body) for body in bodies]
        raw = {"model": "lab-model", "prompt": "Hello", "max_tokens": 4, "temperature": 0}
        texts = [(await client.post(f"{url}/completions", json=raw)).json() for url in (lab_url, watch.base_url)]

    assert through == direct
    assert _comparable(texts[0]) == _comparable(texts[1])
    calls = watch.counts.total.calls
    assert (calls["written"], calls["returned"], calls["dropped"]) == (4, 2, 2)
    assert [alarm.counts for alarm in watch.alarms] == [{"dropped": 1}, {"dropped": 1}]
    assert watch.counts.total.evidence["same-run"] == 4


async def test_without_evidence_nothing_is_asked_and_bytes_are_the_same(lab_url: str, tmp_path: Path) -> None:
    body = {"model": "lab-model", **_example("healthy-call")}
    async with watching(lab_url, tmp_path / "watch.sqlite") as watch, patient_client() as client:
        got = [await client.post(f"{url}/chat/completions", json=body) for url in (lab_url, watch.base_url)]

    assert _comparable(got[0].json()) == _comparable(got[1].json())
    assert watch.alarms == []
    assert watch.counts.total.calls["returned"] == 1


async def test_a_grammar_of_a_stream_is_in_force_once_a_whole_answer_has_shown_the_server(
    lab_url: str, tmp_path: Path
) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [1]}}, "required": ["a"], "additionalProperties": False}
    body: Any = {
        "model": "lab-model", "temperature": 0, "max_tokens": 60, "messages": [{"role": "user", "content": "Hello"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    }  # fmt: skip
    target = Target(base_url=lab_url, tokenizer=ROOT / "assets" / "lab-model")
    async with (
        watching(lab_url, tmp_path / "watch.sqlite", evidence=True, target=target) as watch,
        patient_client() as client,
    ):
        for number, is_stream in enumerate((True, False, True), 1):
            await client.post(f"{watch.base_url}/chat/completions", json={**body, "stream": is_stream})
            await watch.until(lambda counts, number=number: counts.read == number)  # type: ignore[misc]

    assert watch.counts.grammars == {"unknown": 1, "in-force": 2}


async def test_by_responses_the_dropped_call_is_counted_too_and_clients_see_nothing_of_it(
    lab_url: str, tmp_path: Path
) -> None:
    chat = {"model": "lab-model", **_example("dropped-call")}
    body = {**to_api(chat, Api.RESPONSES).body, "stream": False}
    store, target = tmp_path / "watch.sqlite", Target(base_url=lab_url, tokenizer=ROOT / "assets" / "lab-model")
    got, streamed = [], []
    async with watching(lab_url, store, evidence=True, target=target) as watch, patient_client() as client:
        for url in (lab_url, watch.base_url):
            got.append((await client.post(f"{url}/responses", json=body)).json())
            streamed.append((await client.post(f"{url}/responses", json={**body, "stream": True})).text)

    assert got[1].keys() == got[0].keys()
    assert [one.get("output_messages") for one in got] == [None, None]
    assert '"tokens":[' not in streamed[1].replace(" ", "")
    assert all("event: response.completed" in text for text in streamed)
    assert watch.counts.total.evidence["same-run"] == 2
    assert watch.counts.total.calls["dropped"] == 2


@pytest.mark.parametrize(
    ("said", "codes"),
    [
        ({"input": "hi"}, set()),
        ({"input": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "hi"}]}, {"PD210"}),
    ],
)
async def test_by_responses_the_prompt_that_the_answer_shows_is_the_one_that_is_judged(
    lab_url: str, tmp_path: Path, said: Any, codes: set[str]
) -> None:
    body = {"model": "lab-model", "temperature": 0, "max_output_tokens": 30, **said}
    store, target = tmp_path / "watch.sqlite", Target(base_url=lab_url, tokenizer=ROOT / "assets" / "lab-model")
    async with watching(lab_url, store, evidence=True, target=target) as watch, patient_client() as client:
        await client.post(f"{watch.base_url}/responses", json=body)
        await client.post(f"{watch.base_url}/responses", json={**body, "stream": True})

    with Journal(store, is_shared=True) as kept:
        documents = [kept.trace(0, number) for number in (1, 2)]
    for document in documents:
        trace = trace_from_json(document)
        assert {finding.code for finding in trace.findings} == codes
        assert trace.prompt is not None
        assert trace.prompt.token_ids is not None
        assert trace.chat is not None
        assert trace.chat.usage is not None
        assert len(trace.prompt.token_ids) == trace.chat.usage.prompt_tokens
