"""The command `watch` as its users start it: a real process, real signals."""

from __future__ import annotations

import json
import re
import secrets
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from prompt_debugger.core.tools.watch import Counts, open_watched
from prompt_debugger.core.tools.watch.serve import UNWRITTEN
from prompt_debugger.ui.cli.main import main
from prompt_debugger.ui.cli.watch import _show
from tests.core.complete.faulty_server import FaultyServer, answer, chunk, drip
from tests.patience import PATIENCE_S
from tests.threads import in_thread
from tests.ui.cli.test_capture import CHAT, MESSAGES, SSE_HEAD, Captured

pytestmark = pytest.mark.slow

MAX_UNDER_WAY = 1  # of one client that waits for each answer: the last may not be written down yet


def _watched(upstream: str, store: Path, *options: str, within: tuple[str, ...] = ()) -> Captured:
    return Captured(upstream, store, *options, command="watch", place="--store", within=within)


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


# A file that may not grow further, which every system has, and a disk of 1 MB, where one may be mounted.
FULL = {
    "a file's limit": ("prlimit", "--fsize=400000"),
    "a small disk": ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'),
}


@pytest.mark.parametrize("name", FULL)
def test_a_full_disk_is_one_line_and_a_status_and_clients_get_their_answers(name: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    is_mounted = name == "a small disk"
    within = (*FULL[name], str(disk)) if is_mounted else FULL[name]
    if subprocess.run([*within, "true"], capture_output=True, check=False).returncode:
        pytest.skip(f"{name} cannot be had here")
    store = disk / "watch.sqlite"
    with in_thread(FaultyServer("", {"*": answer(200, CHAT)})) as url:
        watch = _watched(url, store, within=within)
        got = [httpx.post(f"{watch.base_url}/chat/completions", json=_long(), timeout=PATIENCE_S) for _ in range(30)]
        status, stdout, stderr = watch.end(signal.SIGTERM)

        assert [one.json() for one in got] == [CHAT] * 30
        assert status == 2
        assert UNWRITTEN in stdout
        shown = [line for line in stderr.splitlines() if "disk" in line and "Forwarding" not in line]
        assert len(shown) == len(set(shown)) <= 2, stderr
        assert all(line.startswith("The disk ") and "another disk" in line for line in shown)
        assert "Traceback" not in stderr
        if is_mounted:
            return  # that disk is gone with the process
        _, stdout, _ = _watched(url, store).end(signal.SIGTERM)  # what was written down before is read now

    kept = open_watched(str(store))
    assert 0 < kept.exchanges < 30
    assert (kept.read, kept.unread.total()) == (kept.exchanges, 0), stdout


def _long() -> Any:
    return {"model": "m", "messages": [{"role": "user", "content": secrets.token_hex(40_000)}]}


def test_proxy_and_reader_killed_together_lose_nothing_that_was_written_down(tmp_path: Path) -> None:
    store, answered = tmp_path / "watch.sqlite", 0
    with in_thread(FaultyServer("", {"*": answer(200, CHAT)})) as url:
        for count in (1, 4, 9):  # one is being written, some are, some are read
            watch = _watched(url, store)
            for _ in range(count):
                httpx.post(f"{watch.base_url}/chat/completions", json={"messages": MESSAGES}, timeout=PATIENCE_S)
            helpers = psutil.Process(watch.process.pid).children()
            for process in (watch.process, *helpers):
                process.kill()
            watch.process.communicate()
            watch.guard.cancel()
            psutil.wait_procs(helpers)
            answered += count
        _, stdout, stderr = _watched(url, store).end(signal.SIGTERM)

    kept = open_watched(str(store))
    assert kept.exchanges >= answered - 3 * MAX_UNDER_WAY, stderr
    assert (kept.read, kept.unread.total()) == (kept.exchanges, 0), stdout


def test_a_client_that_leaves_and_a_stream_that_never_ends_are_counted_and_hold_nothing_up(tmp_path: Path) -> None:
    store = tmp_path / "watch.sqlite"
    piece = chunk(delta={"role": "assistant", "content": "and on "})
    body: Any = {"model": "m", "messages": MESSAGES, "stream": True}
    with in_thread(
        FaultyServer("", {"/v1/chat/completions": drip(SSE_HEAD, piece, 0.001), "*": answer(200, {})})
    ) as url:
        watch = _watched(url, store)
        for _ in range(3):
            with httpx.stream("POST", f"{watch.base_url}/chat/completions", json=body, timeout=PATIENCE_S) as got:
                next(got.iter_raw())
        with httpx.stream("POST", f"{watch.base_url}/chat/completions", json=body, timeout=PATIENCE_S) as got:
            pieces = got.iter_raw()  # closed with its last reference
            next(pieces)
            _, stdout, stderr = watch.end(signal.SIGTERM)  # while it goes on

    assert "4 exchanges, 0 read, 4 not read" in stdout, stderr
    assert "the client disconnected before the end of the answer 3" in stdout
    assert "was ended before the end of the answer 1" in stdout
    assert open_watched(str(store)).unread.total() == 4


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
