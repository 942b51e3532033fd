"""The command `watch` as its users start it: a real process, real signals."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from prompt_debugger.core.tools.watch import Counts, open_watched
from prompt_debugger.core.tools.watch.serve import UNWRITTEN
from prompt_debugger.ui.cli.main import main
from prompt_debugger.ui.cli.watch import _show
from tests.core.complete.faulty_server import FaultyServer, answer
from tests.patience import PATIENCE_S
from tests.threads import in_thread
from tests.ui.cli.test_capture import CHAT, MESSAGES, Captured

pytestmark = pytest.mark.slow


def _watched(upstream: str, store: Path, *options: str) -> Captured:
    return Captured(upstream, store, *options, command="watch", place="--store")


def test_a_watch_that_could_not_write_down_what_went_by_says_so_by_its_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = Counts()
    counts.unread[UNWRITTEN] = 1

    assert _show(counts, as_json=False) == 2
    assert UNWRITTEN in capsys.readouterr().out


def test_a_stop_loses_nothing_that_was_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "watch.sqlite"
    with in_thread(FaultyServer("", {"*": answer(200, CHAT)})) as url:
        watch = _watched(url, store)
        body: Any = {"model": "m", "messages": MESSAGES}
        for _ in range(3):
            httpx.post(f"{watch.base_url}/chat/completions", json=body, timeout=PATIENCE_S)
        status, stdout, stderr = watch.end(signal.SIGTERM)

    assert status in (0, 1), stderr
    assert "3 exchanges, 3 read, 0 not read" in stdout
    main(["watch", "--open", str(store), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert (document["exchanges"], document["read"], document["counts"]["returned"]) == (3, 3, 3)


def test_a_kill_leaves_what_was_written_down(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    with in_thread(FaultyServer("", {"*": answer(200, CHAT)})) as url:
        watch = _watched(url, store, "--json")
        httpx.post(f"{watch.base_url}/chat/completions", json={"messages": MESSAGES}, timeout=PATIENCE_S)
        watch.process.send_signal(signal.SIGKILL)
        watch.process.communicate()
        watch.guard.cancel()
        watch = _watched(url, store)  # the file is free again, and goes on where it was
        status, stdout, stderr = watch.end(signal.SIGTERM)

    assert status in (0, 1), stderr
    assert " 0 not read" in stdout


def test_what_was_answered_outlives_the_proxy(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    with in_thread(FaultyServer("", {"*": answer(200, CHAT)})) as url:
        watch = _watched(url, store)
        for _ in range(5):
            httpx.post(f"{watch.base_url}/chat/completions", json={"messages": MESSAGES}, timeout=PATIENCE_S)
        httpx.get(f"{watch.base_url}/models", timeout=PATIENCE_S)  # by now the last one was handed on
        watch.process.send_signal(signal.SIGKILL)
        watch.process.communicate()
        watch.guard.cancel()
        watch = _watched(url, store)
        _, stdout, stderr = watch.end(signal.SIGTERM)

    assert re.search(r"^\d exchanges, \d read, 0 not read", stdout, re.MULTILINE), stderr
    assert open_watched(str(store)).read == 5


def test_the_process_that_keeps_and_reads_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    with in_thread(FaultyServer("", {"*": answer(200, CHAT)})) as url:
        watch = _watched(url, store)
        for number in range(6):
            if number % 2:
                for helper in psutil.Process(watch.process.pid).children():
                    helper.kill()
            httpx.post(f"{watch.base_url}/chat/completions", json={"messages": MESSAGES}, timeout=PATIENCE_S)
        _, stdout, stderr = watch.end(signal.SIGTERM)

    assert "6 exchanges, 6 read, 0 not read" in stdout, stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--upstream"),
        (["--open", "nowhere.sqlite"], "There is no verification"),
        (["--upstream", "http://localhost:1/v1", "--webhook", "ftp://x"], "not the address of a webhook"),
    ],
)
def test_what_cannot_be_watched_is_one_clear_line(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["watch", *options]) == 2

    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1
