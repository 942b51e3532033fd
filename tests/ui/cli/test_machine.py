"""Commands on a machine that lacks something: exit status 2, one line on stderr, no traceback, nothing lost."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from prompt_debugger.core.base.descriptors import ENOUGH, raise_descriptor_limit, require_descriptors
from prompt_debugger.core.base.errors import MachineError
from prompt_debugger.core.tools.capture import Outcome
from prompt_debugger.core.tools.capture.exchange import Exchange, Held
from prompt_debugger.core.tools.verify.journal import Journal
from prompt_debugger.ui.cli import inspect
from prompt_debugger.ui.cli.capture import outcome_line
from prompt_debugger.ui.cli.main import main
from tests.conftest import ROOT
from tests.core.tools.verify.counting_server import CountingServer, body
from tests.core.tools.verify.running import Verification
from tests.patience import PATIENCE_S
from tests.threads import serving
from tests.warm.program import warm_environment


def run(*arguments: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "app.py", *arguments], cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, text=True,
        timeout=PATIENCE_S, env=warm_environment(), check=False,
    )  # fmt: skip


def request_file(folder: Path) -> str:
    file = folder / "request.json"
    file.write_text('{"messages": [{"role": "user", "content": "hi"}]}')
    return str(file)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_standard_output_on_a_full_disk(more: tuple[str, ...], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = run("inspect", request_file(tmp_path), *more, stdout=full.fileno())

    assert done.returncode == 2
    assert "MachineError: The disk is full." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_device_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "/dev/zero", "--json"]) == 2

    said = capsys.readouterr()
    assert "device" in json.loads(said.out)["error"]["message"]
    assert len(said.err.splitlines()) == 1


def test_lines_from_a_device_are_refused_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--cases", "/dev/zero"]) == 2
    assert "device" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(MemoryError(), "memory"), (OSError(24, "Too many open files"), "descriptors"), (OSError(28, "x"), "disk-full")],
)
def test_a_fault_of_the_machine_in_any_command(
    fault: Exception, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(inspect, "gather_evidence", fail)

    assert main(["inspect", request_file(tmp_path), "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["error"] == json.loads(said.out)["error"] | {"type": "MachineError", "kind": kind}
    assert "Traceback" not in said.err


def test_a_defect_of_this_program_is_not_the_status_of_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("a key sk-abcdefghijklmnopqrstuvwx")

    monkeypatch.setattr(inspect, "gather_evidence", fail)

    assert main(["inspect", request_file(tmp_path), "--json"]) == 2
    said = capsys.readouterr()
    assert "This program failed: KeyError" in json.loads(said.out)["error"]["message"]
    assert "test_machine.py" in said.err, "where it failed is for the bug report"
    assert "sk-abcdefghij" not in said.out + said.err


def test_a_page_on_a_taken_port_says_so_before_anything_is_imported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = run("--no-lab", "--port", str(other.getsockname()[1]))

    assert done.returncode == 2
    assert done.stderr.startswith("MachineError: Another program is already listening on 127.0.0.1:")
    assert len(done.stderr.splitlines()) == 1


def test_a_page_with_too_few_descriptors_is_not_announced() -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    done = subprocess.run(
        [sys.executable, "app.py", "--no-lab", "--port", "0"], cwd=ROOT, capture_output=True, text=True,
        timeout=PATIENCE_S, preexec_fn=few, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "Only 64 files and connections" in done.stderr
    assert "http://" not in done.stderr


def test_a_limit_that_can_be_raised_is_raised() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    low = 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (low, hard))
    try:
        assert raise_descriptor_limit() == (ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard))
        with pytest.raises(MachineError, match="Only"):
            require_descriptors(1 << 40)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_verification_on_a_full_disk_ends_as_not_run_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    "The journal may have so many pages; what was answered earlier is not asked again."
    before = Journal.__init__

    def small(self: Journal, path: Path) -> None:
        before(self, path)
        self._db.execute("PRAGMA max_page_count=16")

    bodies = [body(f"call {index} {os.urandom(1500).hex()}") for index in range(40)]
    verification = Verification(tmp_path / "v", bodies, ["--concurrency", "2"])
    server = CountingServer()
    with serving(server):
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "__init__", small)
            status = verification.run(server.base_url)
        said = capsys.readouterr().err
        kept = server.answered.total()
        again = verification.run(server.base_url)

    assert status == 2
    assert "MachineError: The disk is full." in said
    assert "Traceback" not in said
    assert "the same command continues from there" in said
    assert again in (0, 1)
    assert len(verification.rows) == 40
    assert 0 < kept < 40
    assert server.answered.total() < 40 + kept, "answers that were kept are not asked for again"


def test_a_line_end_in_a_captured_path_stays_on_its_line() -> None:
    held = Held()
    exchange = Exchange.begin(0, None, "GET", "/v1/a\nhttp://evil.example 200\x1b[2J", (), held)
    exchange.end()

    line = outcome_line(Outcome(exchange))

    assert len(line.splitlines()) == 1
    assert "\x1b" not in line
