"""The command `capture` as its users start it: real processes, signals, the official client, planted keys."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from prompt_debugger.ui.cli.main import main
from tests.conftest import ROOT
from tests.core.complete.faulty_server import FaultyServer, answer, chunk, hang, stream
from tests.patience import PATIENCE_S
from tests.threads import in_thread
from tests.warm.program import cold_environment, warm_environment

pytestmark = pytest.mark.slow

KEY = "planted-credential-0123456789"
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
CALL: Any = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
MESSAGE = {"role": "assistant", "content": f"you said {KEY}", "tool_calls": [CALL]}
CHAT: Any = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"}],
}
PARTS = [
    chunk(delta={"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}),
    chunk(delta={}, finish_reason="tool_calls"),
    b"data: [DONE]\n\n",
]
MESSAGES: Any = [{"role": "user", "content": "hi"}]


class Captured:
    """A capture in a process of its own, or another command that is a proxy."""

    def __init__(
        self,
        upstream: str,
        out: Path,
        *options: str,
        command: str = "capture",
        place: str = "--out",
        within: tuple[str, ...] = (),
    ) -> None:
        words = [*within, sys.executable, "app.py", command, "--upstream", upstream, "--port", "0", place, str(out)]
        self.process = subprocess.Popen(
            [*words, *options], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=cold_environment() if within else warm_environment(),  # one that was there before has other limits
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # one thread
        )  # fmt: skip
        self.lines: list[str] = []
        self.guard = threading.Timer(PATIENCE_S, self.process.kill)
        self.guard.start()
        found = re.search(r"http://127\.0\.0\.1:\d+/v1", self.line())
        assert found is not None, self.lines
        self.base_url = found[0]

    def line(self) -> str:
        """Return the next line that it prints."""
        assert self.process.stdout is not None
        self.lines.append(self.process.stdout.readline())
        return self.lines[-1]

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Tell it to end; its status, and all that it printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate()
        self.guard.cancel()
        return self.process.returncode, "".join(self.lines) + out, err


@contextmanager
def captured(upstream: str, out: Path, *options: str) -> Iterator[Captured]:
    capture = Captured(upstream, out, *options)
    try:
        yield capture
    finally:
        capture.guard.cancel()
        with suppress(ProcessLookupError):
            capture.process.kill()
        capture.process.communicate()


def _server() -> FaultyServer:
    return FaultyServer("", {"/v1/chat/completions": answer(200, CHAT), "/v1/models": answer(200, {"data": []})})


def test_the_official_client_gets_its_answer_and_its_key_is_nowhere(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with in_thread(_server()) as url, captured(url, out) as capture:
        with openai.OpenAI(base_url=capture.base_url, api_key=KEY, max_retries=0) as client:
            got = client.chat.completions.create(model="m", messages=MESSAGES, extra_query={"token": f"{KEY}-2"})
        printed = capture.line()
        status, stdout, stderr = capture.end()

    (file,) = out.iterdir()
    written = json.loads(file.read_text("utf-8"))
    assert status == 0
    assert got.choices[0].message.tool_calls is not None
    assert got.choices[0].message.content == MESSAGE["content"]
    assert re.fullmatch(
        rf"POST /v1/chat/completions 200 in \d+\.\d\d s, 1 tool call, {re.escape(str(file))}\n", printed
    )
    assert written["request"] == {"model": "m", "messages": MESSAGES}
    assert written["response"]["choices"][0]["message"]["tool_calls"] == [CALL]
    assert KEY not in file.read_text("utf-8") + stdout + stderr


def test_the_official_client_streams(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    server = FaultyServer("", {"*": stream(*PARTS)})
    with in_thread(server) as url, captured(url, file, "--json") as capture:
        with openai.OpenAI(base_url=capture.base_url, api_key=KEY, max_retries=0) as client:
            got = [
                part.choices[0].finish_reason
                for part in client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
            ]
        shown = json.loads(capture.line())
        status, stdout, _ = capture.end()

    assert (status, got) == (0, [None, "tool_calls"])
    assert (shown["tool_calls"], shown["file"], shown["status"], shown["id"]) == (1, str(file), 200, 1)
    first, second = map(json.loads, stdout.splitlines())
    assert (first["base_url"], second) == (capture.base_url, shown)
    (line,) = file.read_text("utf-8").splitlines()
    assert json.loads(line)["response"]["choices"][0]["message"]["tool_calls"] == [CALL]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_nothing_is_lost_when_it_is_told_to_end_in_the_middle_of_a_stream(
    number: signal.Signals, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    begun = SSE_HEAD + chunk(delta={"role": "assistant", "content": "He"})
    with in_thread(FaultyServer("", {"*": hang(begun)})) as url, captured(url, out) as capture:
        body = {"model": "m", "messages": MESSAGES, "stream": True}
        with httpx.stream("POST", f"{capture.base_url}/chat/completions", json=body, timeout=PATIENCE_S) as got:
            pieces = got.iter_raw()
            next(pieces)
            status, stdout, _ = capture.end(number)
            with pytest.raises(httpx.RemoteProtocolError):
                next(pieces)

    (file,) = out.iterdir()
    written = json.loads(file.read_text("utf-8"))
    assert status == 0
    assert "the capture was ended before the end of the answer" in stdout
    assert written.get("request") == body, written["captured"]
    assert written["partial"]["choices"][0]["message"]["content"] == "He"


def test_an_answer_that_breaks_off_is_one_line(tmp_path: Path) -> None:
    cut = stream(PARTS[0], is_closed_properly=False)
    with in_thread(FaultyServer("", {"*": cut})) as url, captured(url, tmp_path / "out") as capture:
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(f"{capture.base_url}/chat/completions", json={"messages": MESSAGES}, timeout=PATIENCE_S)
        printed = capture.line()
        status, _, err = capture.end()

    assert status == 0
    assert "broke off" in printed
    assert len(err.splitlines()) == 1  # what it said when it began


def test_what_cannot_be_written_is_reported_and_ends_in_status_2(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with in_thread(_server()) as url, captured(url, out) as capture:
        out.rmdir()
        out.write_text("in the way", encoding="utf-8")
        body = {"model": "m", "messages": MESSAGES}
        got = httpx.post(f"{capture.base_url}/chat/completions", json=body, timeout=PATIENCE_S)
        capture.line()
        status, _, err = capture.end()

    assert (status, got.status_code) == (2, 200)
    assert "Cannot write exchanges to" in err
    assert "1 exchange could not be written" in err


@pytest.mark.parametrize("options", [["--upstream", "ftp://x"], ["--upstream", "http://u:pw@localhost/v1"]])
def test_an_address_that_is_none_is_one_clear_line(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capture", *options]) == 2

    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert "pw" not in err


def test_a_port_that_is_taken_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = ["capture", "--upstream", "http://localhost:1/v1", "--port", port, "--out", str(tmp_path), "--json"]
        assert main(command) == 2

    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["field"] == "--port"
    assert "--port" in err


def test_a_reader_that_leaves_does_not_end_the_capture(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with in_thread(_server()) as url, captured(url, out) as capture:
        assert capture.process.stdout is not None
        capture.process.stdout.close()
        for _ in range(2):
            httpx.post(f"{capture.base_url}/chat/completions", json={"messages": MESSAGES}, timeout=PATIENCE_S)
        capture.process.send_signal(signal.SIGTERM)
        status = capture.process.wait()
        capture.process.stdout = None

    assert status == 0
    assert len(list(out.iterdir())) == 2


def test_a_captured_request_of_the_greatest_length_opens_although_its_file_is_longer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the file each letter of another alphabet is an escape of six characters."""
    body = {"messages": [{"role": "user", "content": "\u4f60" * 400_000}]}
    file = tmp_path / "one.json"
    file.write_text(json.dumps({"id": 1, "captured": {}, "request": body}), encoding="utf-8")
    template = tmp_path / "short.jinja"
    template.write_text("{{ messages | length }}", encoding="utf-8")

    assert main(["render", str(file), "--chat-template", str(template), "--json"]) in (0, 1)

    assert json.loads(capsys.readouterr().out)["text"] == "1"
