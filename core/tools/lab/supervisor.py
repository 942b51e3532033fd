"""Run one command for as long as our parent lives, then leave nothing behind.

    app ── stdin pipe ──▶ supervisor ──▶ vLLM API server ──▶ EngineCore, …
        ◀── stdout pipe ── (both write to it)

Owns the death of the lab. Started as its own script, with the standard
library alone, so that it is up in milliseconds and needs no third package.
It must not know what vLLM is.

The pipe on standard input is the leash: no one writes to it, and the kernel
closes it when the parent dies in whatever way, SIGKILL included. Should a fork
of the parent have inherited the other end, the change of the parent's pid tells.
The command runs in its own process group; on Linux the kernel kills it with
us (`PR_SET_PDEATHSIG`), and hands us the orphans among its descendants
(`PR_SET_CHILD_SUBREAPER`), so that one which left the group is found as well.

Standard output carries the command's own output and two lines of ours:
`@lab pid N` before it and, after an empty line, `@lab exit N` after it.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

GRACE_S = 6.0
PID_MARK = "@lab pid "
EXIT_MARK = "@lab exit "

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PARENT_CHECK_S = 1.0
_STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def supervise(scratch: Path, command: list[str]) -> int:
    """Run `command` until it ends, we are asked to stop, or the parent is gone; returns its status."""
    parent_pid = os.getppid()
    wake_reader = _wake_on_signals()
    _process_control(_PR_SET_CHILD_SUBREAPER, 1)
    child = subprocess.Popen(
        command, cwd=scratch, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=_begin_command(os.getpid())
    )
    try:
        _wait_for_end(child, parent_pid, wake_reader)
    finally:
        exit_status = _end(child)
        shutil.rmtree(scratch, ignore_errors=True)
        _say(f"\n{EXIT_MARK}{exit_status}")  # its own last line may lack an end
    return exit_status


def _wait_for_end(child: subprocess.Popen[bytes], parent_pid: int, wake_reader: int) -> None:
    """Return when the command has ended, the leash is cut, or we are asked to stop."""
    while os.getppid() == parent_pid and not _has_ended(child.pid):
        ready, _, _ = select.select([sys.stdin.fileno(), wake_reader], [], [], _PARENT_CHECK_S)
        if sys.stdin.fileno() in ready and not os.read(sys.stdin.fileno(), 4096):
            return
        if wake_reader in ready and set(os.read(wake_reader, 4096)) & _STOP_SIGNALS:
            return


def _end(child: subprocess.Popen[bytes]) -> int:
    """Ask the group to end, wait `GRACE_S`, kill what is left of it, and reap."""
    _signal_group(child.pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while not _has_ended(child.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    # The dead leader is not reaped yet, so its number cannot belong to a stranger.
    _signal_group(child.pid, signal.SIGKILL)
    exit_status = child.wait()
    _kill_adopted()
    return exit_status


def _kill_adopted() -> None:
    """Kill descendants that outlived their parents; the kernel made them ours."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while True:
        try:
            pids = [int(word) for word in children.read_text().split()]
        except OSError:
            return
        if not pids:
            return
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _has_ended(pid: int) -> bool:
    """Return whether a child has ended, without reaping it."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _signal_group(group: int, signal_number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal_number)


def _wake_on_signals() -> int:
    """Turn SIGCHLD and the stop signals into bytes of a pipe; return its reading end."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGCHLD, *_STOP_SIGNALS):
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which the command would inherit
    return reader


def _begin_command(supervisor_pid: int) -> Callable[[], None]:
    """Return what the new process does before it becomes the command: tie its life to ours, say its pid.

    Where memory runs out, the kernel ends the command before the program that serves everyone.
    """

    def begin() -> None:
        _process_control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor_pid:  # we died in between
            os._exit(1)
        with suppress(OSError):  # another system than Linux
            Path("/proc/self/oom_score_adj").write_text("1000")
        _say(f"{PID_MARK}{os.getpid()}")  # here and not in the supervisor, so that it comes before any output

    return begin


def _process_control(option: int, value: int) -> None:
    """Call Linux `prctl`; elsewhere do nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _say(line: str) -> None:
    with suppress(OSError):  # no one listens any more
        os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    sys.exit(min(abs(supervise(Path(sys.argv[1]), sys.argv[2:])), 255))
