"""What goes by is read, counted and kept, and clients notice nothing."""

from __future__ import annotations

import json
import socket
import sqlite3
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from prompt_debugger.core.base.errors import MachineError, RequestError
from prompt_debugger.core.tools.verify.making import Made, make_dataset
from prompt_debugger.core.tools.verify.stored import open_stored
from prompt_debugger.core.tools.watch import open_watched
from prompt_debugger.core.tools.watch.kept import Bounds, WatchJournal
from prompt_debugger.core.tools.watch.reading_process import ReadingProcess
from prompt_debugger.core.tools.watch.serve import UNWRITTEN
from tests.core.complete.faulty_server import answer, faulty_server, stream
from tests.core.tools.capture.capturing import patient_client
from tests.core.tools.watch.watching import watching

KEY = "planted-credential-0123456789"
TOOL: Any = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": "Weather in Oslo?"}], "tools": [TOOL]}
CALL: Any = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
LEAKED = '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>'


def _chat(message: Any, finish_reason: str) -> Any:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


HEALTHY = _chat({"content": None, "tool_calls": [CALL]}, "tool_calls")
LEAKS = _chat({"content": LEAKED}, "stop")


async def test_a_full_disk_is_reported_once_and_every_exchange_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def keep(self: ReadingProcess, raw: Any) -> Any:
        raise MachineError("The disk is full.", "Free some space.", kind="disk-full")

    monkeypatch.setattr(ReadingProcess, "keep", keep)
    async with (
        faulty_server({"/v1/chat/completions": answer(200, HEALTHY)}) as server,
        watching(server.base_url, tmp_path / "watch.sqlite") as watch,
        patient_client() as client,
    ):
        got = [await client.post(f"{watch.base_url}/chat/completions", json=ASKED) for _ in range(3)]
        await watch.until(lambda counts: counts.unread[UNWRITTEN] == 3)

    assert [one.json() for one in got] == [HEALTHY] * 3
    assert watch.problems == ["The disk is full. Free some space."]


async def test_a_server_that_is_away_is_the_reason_that_is_told_and_the_requests_are_kept(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    with socket.socket() as ignoring:
        ignoring.bind(("127.0.0.1", 0))  # no one else can have the port, and no one listens on it
        upstream = f"http://127.0.0.1:{ignoring.getsockname()[1]}/v1"
        async with watching(upstream, store) as watch, patient_client() as client:
            got = [await client.post(f"{watch.base_url}/chat/completions", json=ASKED) for _ in range(2)]

    assert [one.status_code for one in got] == [502, 502]
    ((reason, count),) = watch.counts.unread.items()
    assert count == 2
    assert "no connection" in reason
    assert "JSON" not in reason
    with WatchJournal(store, "") as kept:
        line = kept.line(1)
    assert line is not None
    assert json.loads(line)["request"] == ASKED
    assert len(json.loads(line)["captured"]["problems"]) == 1


async def test_a_leaked_call_is_an_alarm_a_row_and_a_metric(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    async with (
        faulty_server({"/v1/chat/completions": answer(200, LEAKS), "/hook": answer(204)}) as server,
        watching(
            server.base_url, store, metrics_port=0, webhook=server.base_url.removesuffix("/v1") + "/hook"
        ) as watch,
        patient_client() as client,
    ):
        headers = {"authorization": f"Bearer {KEY}", "user-agent": f"Shop/2 {KEY}"}
        got = await client.post(f"{watch.base_url}/chat/completions", json=ASKED, headers=headers)
        await watch.until(lambda counts: counts.read == 1)
        metrics = (await client.get(watch.metrics)).text
        elsewhere = await client.get(watch.metrics, headers={"host": "evil.example"})

    (alarm,) = watch.alarms
    assert got.json() == LEAKS
    assert alarm.counts == {"leaked": 1}
    assert "1 call left in the text" in alarm.line
    assert 'prompt_debugger_calls_total{outcome="leaked",model="m"} 1' in metrics
    assert 'prompt_debugger_exchanges_total{code="PD426"} 1' in metrics
    assert elsewhere.status_code == 403
    (hook,) = [asked for asked in server.received if asked.path == "/hook"]
    assert hook.json == alarm.to_json()
    counts: Any = open_watched(str(store)).document()
    assert "api" not in counts["counts"]  # one watch reads several APIs
    assert (counts["exchanges"], counts["read"], counts["unread"]) == (1, 1, 0)
    assert list(counts["by_client"]) == ["Shop/2 [removed]"]
    assert KEY.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    trace = open_stored(str(store))[0].trace(1)
    assert trace is not None
    assert KEY not in json.dumps(trace)
    assert store.stat().st_mode & 0o777 == 0o600


async def test_a_healthy_call_is_not_an_alarm_and_makes_a_dataset(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    async with (
        faulty_server(answer(200, HEALTHY)) as server,
        watching(server.base_url, store) as watch,
        patient_client() as client,
    ):
        for _ in range(2):
            await client.post(f"{watch.base_url}/chat/completions", json=ASKED)
        await client.get(f"{watch.base_url}/models")  # passed on, not counted

    assert watch.alarms == []
    assert (watch.counts.exchanges, watch.counts.read) == (2, 2)
    assert watch.counts.total.valid == 2
    assert list(make_dataset([store], Made())) == [ASKED]


async def test_what_is_not_read_is_kept_and_counted(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    async with (
        faulty_server(answer(200, HEALTHY)) as server,
        watching(server.base_url, store, most_waiting=0) as watch,
        patient_client() as client,
    ):
        await client.post(f"{watch.base_url}/chat/completions", json=ASKED)

    counts = open_watched(str(store)).document()
    assert watch.counts.unread.total() == 1
    assert (counts["exchanges"], counts["read"], counts["unread"]) == (1, 0, 1)
    assert counts["unread_because"] == {"too many were waiting to be read": 1}
    assert list(make_dataset([store], Made())) == [ASKED]


async def test_a_broken_answer_and_a_refusal_are_reported(tmp_path: Path) -> None:
    refusal = answer(
        400, {"error": {"message": "max_tokens must be at least 1", "type": "BadRequestError", "code": 400}}
    )
    async with (
        faulty_server({"/v1/chat/completions": refusal, "/v1/completions": stream(is_closed_properly=False)}) as server,
        watching(server.base_url, tmp_path / "watch.sqlite") as watch,
        patient_client() as client,
    ):
        assert (await client.post(f"{watch.base_url}/chat/completions", json=ASKED)).status_code == 400
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(f"{watch.base_url}/completions", json={"model": "m", "prompt": "a", "stream": True})

    assert watch.counts.total.failure == 1
    assert watch.counts.unread.total() == 1


async def test_responses_and_messages_are_read(tmp_path: Path) -> None:
    arguments = {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"}
    responses: Any = {"id": "r", "object": "response", "status": "completed", "output": [arguments]}
    used = {"type": "tool_use", "id": "t", "name": "get_weather", "input": {}}
    messages: Any = {"id": "a", "type": "message", "role": "assistant", "content": [used], "stop_reason": "tool_use"}
    async with (
        faulty_server({"/v1/responses": answer(200, responses), "/v1/messages": answer(200, messages)}) as server,
        watching(server.base_url, tmp_path / "watch.sqlite") as watch,
        patient_client() as client,
    ):
        await client.post(f"{watch.base_url}/responses", json={"model": "m", "input": "Weather?"})
        body = {"model": "m", "max_tokens": 9, "messages": ASKED["messages"]}
        await client.post(f"{watch.base_url}/messages", json=body)

    rows = list(open_stored(str(tmp_path / "watch.sqlite"))[0].rows())
    assert [row["debugger"]["returned"] for row in rows] == [1, 1]  # type: ignore[index,call-overload]


def test_the_oldest_leave_when_it_is_full_or_old(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    with WatchJournal(store, "http://one/v1") as journal:
        for _ in range(3):
            journal.write(journal.take_number(), "chat-completions", "{}")
        assert list(journal.waiting()) == [1, 2, 3]
    with WatchJournal(store, "http://one/v1", Bounds(most_age_s=-1.0)) as journal:
        assert journal.take_number() == 4
        journal.leave()
        assert list(journal.waiting()) == []
    with WatchJournal(store, "http://one/v1", Bounds(most_bytes=1)) as journal:
        journal.write(journal.take_number(), "chat-completions", "{}")
        journal.leave()
        assert list(journal.waiting()) == []
        assert journal.fact("left") == 4


@pytest.mark.parametrize("hours", [10_000, -10_000])
def test_none_leaves_because_the_clock_was_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    with WatchJournal(tmp_path / "watch.sqlite", "http://one/v1") as journal:
        journal.write(journal.take_number(), "chat-completions", "{}")
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + hours * 3_600.0)
        journal.leave()
        journal.write(journal.take_number(), "chat-completions", "{}")
        monkeypatch.setattr(time, "time", lambda: now)
        journal.leave()

        assert list(journal.waiting()) == [1, 2]


def test_two_watches_do_not_share_a_file_nor_take_a_verification_for_one(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    with WatchJournal(store, "http://one/v1"), pytest.raises(RequestError, match="Another `watch`"):
        WatchJournal(store, "http://one/v1")
    with pytest.raises(RequestError, match="does not end in"):
        WatchJournal(tmp_path / "watch.txt", "http://one/v1")
    other = sqlite3.connect(tmp_path / "verify.sqlite")
    other.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    other.execute("INSERT INTO meta VALUES ('identity', '{}')")
    other.commit()
    other.close()
    with pytest.raises(RequestError, match="journal of a verification"):
        WatchJournal(tmp_path / "verify.sqlite", "http://one/v1")


async def test_a_grammar_that_was_not_in_force_is_an_alarm_and_a_metric(tmp_path: Path) -> None:
    form = {"response_format": {"type": "json_object"}}
    async with (
        faulty_server(answer(200, _chat({"content": "Here you are."}, "stop"))) as server,
        watching(server.base_url, tmp_path / "watch.sqlite") as watch,
        patient_client() as client,
    ):
        for more in (form, {}):
            await client.post(f"{watch.base_url}/chat/completions", json={**ASKED, "tools": [], **more})
        await watch.until(lambda counts: counts.read == 2)

    (alarm,) = watch.alarms
    assert alarm.lacks_grammar
    assert "the grammar that it asks for was never in force" in alarm.line
    assert watch.counts.grammars == {"never": 1}
    assert 'prompt_debugger_grammars_total{status="never"} 1' in watch.counts.metrics()
