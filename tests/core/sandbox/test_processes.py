"""Processes of a sandbox: how they start, what replaces one that ended, and that none is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.sandbox import Sandbox, close_sandboxes, sandbox_of
from prompt_debugger.core.sandbox.forkserver import sandbox_forkserver
from tests.conftest import ROOT
from tests.core.sandbox import hostile
from tests.core.sandbox.waiting import error_of, is_gone, wait_until_busy
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("enough_memory")]


def test_a_hostile_working_directory_has_no_say(tmp_path):
    for name in ("prompt_debugger", "json", "jsonschema"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the folder of the user was imported')")
    program = (
        "import sys; sys.path = [p for p in sys.path if p not in ('', sys.argv[1])]; sys.path.insert(0, sys.argv[2])\n"
        "from prompt_debugger.core.sandbox import sandbox_of; from tests.core.sandbox import hostile\n"
        "import os; os.chdir(sys.argv[1]); sys.path.insert(0, '')\n"
        "print(sandbox_of().call(hostile.echo, 'fine'))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)} | {"PYTHONSAFEPATH": "1"},
        timeout=PATIENCE_S,
    )

    assert (done.stdout.strip(), done.returncode) == ("fine", 0), done.stderr


@pytest.mark.usefixtures("cold_sandboxes")
@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_processes_start_isolated_from_environment_and_working_directory(sandbox):
    sandbox.call(hostile.look_around)

    assert all("-I" in Path(f"/proc/{pid}/cmdline").read_text().split("\0") for pid in sandbox.pids)
    assert sandbox.pids


def test_a_process_that_cannot_start_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    sandbox = Sandbox(most=1)

    error = error_of(sandbox, hostile.echo, "x")

    assert error.limit == "start"
    assert isinstance(error, DebuggerError)
    sandbox.close()


def test_shared_sandboxes_begin_anew_after_they_were_closed():
    first = sandbox_of()
    assert sandbox_of() is first
    assert first.call(hostile.echo, 1) == 1

    close_sandboxes()

    assert sandbox_of() is not first
    assert sandbox_of().call(hostile.echo, 2) == 2


def test_a_process_that_was_ended_is_replaced_without_new_imports(sandbox):
    sandbox.call(hostile.echo, "warm")
    forkserver = sandbox._forkserver
    for _ in range(3):
        assert error_of(sandbox, hostile.crash).limit == "crash"

    assert sandbox.call(hostile.echo, "fine") == "fine"
    assert sandbox._forkserver is forkserver


@pytest.mark.usefixtures("cold_sandboxes")
def test_a_signal_to_end_that_goes_to_all_processes_ends_no_work(sandbox):
    """A service that is stopped has it sent to each of its processes: what is under way is finished first."""
    sandbox.call(hostile.echo, "warm")
    forkserver = sandbox._forkserver
    before = sandbox.pids
    for pid in (*before, forkserver._process.pid):
        os.kill(pid, signal.SIGTERM)

    assert sandbox.call(hostile.echo, "fine") == "fine"
    assert sandbox.pids == before
    assert forkserver.is_running


@pytest.mark.usefixtures("cold_sandboxes")
def test_a_forkserver_that_was_killed_is_replaced(sandbox):
    sandbox.call(hostile.echo, "warm")
    [pid] = sandbox.pids
    forkserver = sandbox._forkserver
    forkserver._process.kill()
    forkserver._process.wait()

    assert sandbox.call(hostile.echo, "fine") == "fine"
    assert sandbox._forkserver is not forkserver
    assert pid not in sandbox.pids


LEAVES = """
import ctypes, json, os, signal, sys, threading
from pathlib import Path
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # whoever loses their parent becomes ours, as in a container
from prompt_debugger.core.sandbox import Sandbox
from prompt_debugger.core.sandbox.fairness import Fairness
from prompt_debugger.core.sandbox.forkserver import Forkserver
from tests.core.sandbox import hostile
is_watched = sys.argv[2] == "watched"
if not is_watched:
    Forkserver._await_end = lambda self: None
def lives(pid):
    if is_watched:
        return Path(f"/proc/{pid}").exists()
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
sandbox = Sandbox(most=2)
sandbox.warm_up(is_all=True)
one, other = (worker.process for worker in sandbox._workers.all)
sandbox.call(hostile.echo, "warm")
while one.pid is None or other.pid is None:
    threading.Event().wait(0.01)
forkserver = sandbox._forkserver._process.pid
left = {forkserver, one.pid, other.pid}
os.kill(forkserver, signal.SIGKILL)
print(json.dumps(sorted(left)), flush=True)
for _ in range(int(sys.argv[1])):
    left = {pid for pid in left if lives(pid)}
    if not left:
        break
    threading.Event().wait(0.01)
print(json.dumps(sorted(left)), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
@pytest.mark.parametrize("end", ["watched", "by the kernel alone"])
def test_a_forkserver_that_was_killed_leaves_no_process_and_no_zombie(end):
    """Also where no one asks anything any more, and orphans become children of the program."""
    done = subprocess.run(
        [sys.executable, "-c", LEAVES, str(PATIENCE_S * 50), end],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )

    before, after = map(json.loads, done.stdout.splitlines())
    assert len(before) == 3
    assert after == []


def test_a_worker_that_came_as_its_caller_left_goes_to_the_next():
    sandbox = Sandbox(most=1)
    workers = sandbox._workers
    held = workers.take()
    leaving, waiting = workers.take(), workers.take()
    assert held.done()
    assert not leaving.done()

    workers.give_up(held)  # it had come already
    assert leaving.done()
    assert not waiting.done()
    workers.give_up(leaving)

    assert waiting.done()
    workers.give_up(waiting)
    assert workers.take().done()
    sandbox.close()


@pytest.mark.usefixtures("cold_sandboxes")
def test_a_forkserver_that_still_imports_holds_up_no_end(monkeypatch):
    """A program that is ended just after its start has asked for processes that are not there yet."""
    monkeypatch.setattr("prompt_debugger.core.sandbox.forkserver._END_S", PATIENCE_S * 100)
    forkserver = sandbox_forkserver("importing", ["tests.core.sandbox.never_imported"])
    children = [forkserver.fork(is_slow=False) for _ in range(2)]

    for child in children:
        child.close()
    forkserver.close(PATIENCE_S * 100)

    assert not forkserver.is_running
    assert [child.pid for child in children] == [None, None]


def test_what_works_ends_with_the_program_that_asked():
    program = (
        "import sys, threading; from prompt_debugger.core.sandbox import sandbox_of;"
        "from tests.core.sandbox import hostile\n"
        "sandbox = sandbox_of(); sandbox.call(hostile.echo, 'warm')\n"
        "print(sandbox.pids[0], flush=True); sandbox.call(hostile.search_for_ever)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    wait_until_busy(pid)

    process.kill()
    process.wait()
    process.stdout.close()

    assert is_gone(pid)
