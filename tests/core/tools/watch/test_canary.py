"""Known requests beside the traffic: an answer of another class than before is an alarm, the same class is none."""

from __future__ import annotations

import asyncio
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from prompt_debugger.core.pipeline import Target
from prompt_debugger.ui.cli.main import main
from tests.core.complete.faulty_server import FaultyServer, answer, faulty_server
from tests.core.tools.watch.test_watch import ASKED, HEALTHY, LEAKS
from tests.core.tools.watch.watching import watching
from tests.patience import PATIENCE_S
from tests.threads import in_thread


def _ask_once(tmp_path: Path, said: Any, *more: str) -> int:
    file = tmp_path / "canary.jsonl"
    file.write_text(json.dumps(ASKED) + "\n", encoding="utf-8")
    with in_thread(FaultyServer("", {"/v1/chat/completions": answer(200, said), "*": answer(404)})) as url:
        words = ["watch", "--upstream", url, "--canary", str(file), "--store", str(tmp_path / "canary.sqlite")]
        return main([*words, "--junit", str(tmp_path / "junit.xml"), *more])


def test_an_answer_of_another_class_is_a_failure_for_cron(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    statuses = [_ask_once(tmp_path, said) for said in (HEALTHY, HEALTHY, LEAKS)]
    shown = capsys.readouterr()
    (suite,) = ET.parse(tmp_path / "junit.xml").iter("testsuite")

    assert statuses == [0, 0, 1]
    assert 'Canary 1: the class of the answer has changed: `finish_reason` was "tool_calls", is "stop"' in shown.out
    assert "1 known requests: 1 whose answer changed class" in shown.err
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert _ask_once(tmp_path, LEAKS) == 0  # it is told once


def test_a_server_that_is_gone_is_another_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _ask_once(tmp_path, HEALTHY)
    words = ["watch", "--upstream", "http://127.0.0.1:9/v1", "--canary", str(tmp_path / "canary.jsonl")]
    capsys.readouterr()

    status = main([*words, "--store", str(tmp_path / "canary.sqlite"), "--json"])

    (said,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert status == 1
    assert said["changed"] is True
    assert said["after"] == {"answer": "failed", "kind": "unreachable"}


def test_a_file_without_a_request_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "canary.jsonl"
    file.write_text('{"no": "messages"}\n', encoding="utf-8")

    store = ["--store", str(tmp_path / "canary.sqlite")]

    assert main(["watch", "--upstream", "http://127.0.0.1:9/v1", "--canary", str(file), *store]) == 2
    assert "cannot be used as a canary" in capsys.readouterr().err


async def test_beside_the_traffic_a_change_is_an_alarm_and_a_metric(tmp_path: Path) -> None:
    file = tmp_path / "canary.jsonl"
    file.write_text(json.dumps(ASKED) + "\n", encoding="utf-8")
    async with faulty_server({"/v1/chat/completions": answer(200, HEALTHY), "*": answer(404)}) as server:
        target = Target(base_url=server.base_url, asks_once=True)
        store = tmp_path / "watch.sqlite"
        more: Any = {"canary": file, "every_s": 0.01, "canary_target": target}
        async with watching(server.base_url, store, **more) as watch:
            async with asyncio.timeout(PATIENCE_S):
                while not any(asked.path.endswith("/chat/completions") for asked in server.received):
                    server.got_request.clear()
                    await server.got_request.wait()
            server.behaviour_by_path["/v1/chat/completions"] = answer(200, LEAKS)
            await watch.until_a_class_changes()

    assert {change.after["finish_reason"] for change in watch.changes} <= {"stop", "tool_calls"}
    assert watch.counts.canary_changes == len(watch.changes) > 0
    assert watch.counts.exchanges == 0  # they are no traffic
