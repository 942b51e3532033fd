"""Jobs that do what no job should: the sandbox must end each of them."""

from __future__ import annotations

import gc
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, Finding, Span, Trace
from prompt_debugger.core.sandbox import Limits, job

SHORT = Limits(cpu_s=0.3, wall_s=600.0, memory_mb=256, answer_mb=1)


@job("echoing a value", Limits())
def echo(value: JSON | Trace | tuple[Span, ...]) -> JSON | Trace | tuple[Span, ...]:
    return value


@job("counting", SHORT)
def count(to: int) -> Iterator[int]:
    yield from range(to)


@job("counting without end", Limits(cpu_s=600.0, wall_s=600.0))
def count_for_ever() -> Iterator[int]:
    number = 0
    while True:
        yield number
        while True:
            number += 1


@job("counting, except in a process that is to be ended", Limits(cpu_s=600.0, wall_s=600.0))
def count_unless_first(doomed: list[int], to: int) -> Iterator[int]:
    if os.getpid() in doomed:
        search_for_ever()
    yield from range(to)


@job("working, for ever in a process that is to be ended", Limits(cpu_s=600.0, wall_s=600.0))
def work_unless_first(doomed: list[int], cpu_s: float) -> int:
    if os.getpid() in doomed:
        search_for_ever()
    work_for(cpu_s)
    return os.getpid()


@job("searching a pattern", SHORT, hint="Look at the pattern.")
def search(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


@job("searching a pattern for long", Limits(cpu_s=600.0, wall_s=600.0))
def search_for_ever() -> bool:
    return re.search("^(a+)+$", "a" * 60 + "!") is not None


@job("sleeping", Limits(cpu_s=5.0, wall_s=0.2))
def sleep() -> None:
    threading.Event().wait(600)


@job("working", Limits(cpu_s=20.0))
def work_for(cpu_s: float) -> None:
    until_s = time.process_time() + cpu_s
    while time.process_time() < until_s:
        pass


@job("waiting", Limits())
def rest_for(seconds: float) -> None:
    threading.Event().wait(seconds)


@job("eating memory", Limits(cpu_s=20.0, memory_mb=256))
def eat_memory(size: int) -> int:
    return len(bytearray(size))


@job("keeping memory", Limits(cpu_s=20.0, memory_mb=2048))
def keep_memory(size: int) -> int:
    KEPT.append(bytearray(size))
    return len(KEPT)


KEPT: list[bytearray] = []


class _Cycle:
    """Something that holds itself, and so goes only when it is looked for."""

    def __init__(self, size: int) -> None:
        self.me = self
        self.bulk = bytearray(size)


_served: list[int] = []


@job("leaving cycles", Limits(cpu_s=20.0, memory_mb=256))
def leave_cycles(count: int, size: int) -> tuple[int, int]:
    """Return which job of this process it is, and how much the ones before have left."""
    _served.append(count)
    left = sum(type(one) is _Cycle for one in gc.get_objects())
    for _ in range(count):
        _Cycle(size)
    return len(_served), left


@job("answering at length", SHORT)
def answer_at_length() -> str:
    return "x" * (3 << 20)


@job("crashing", SHORT)
def crash() -> None:
    os.abort()


@job("running out of memory as libraries do", SHORT)
def abort_for_memory(pieces: tuple[str, ...]) -> None:
    """Write last words piece by piece, as compiled libraries do, and abort."""
    for piece in pieces:
        os.write(2, piece.encode())
        threading.Event().wait(0.01)  # the reader takes each piece by itself
    os.abort()


@job("failing", SHORT)
def fail(*, ours: bool) -> None:
    raise RequestError("this field", "Give one.", field="a", line=3) if ours else ZeroDivisionError("by zero")


@job("answering what may not travel", SHORT)
def answer_with_code() -> object:
    return os.system


@job("looking around", SHORT)
def look_around() -> JSON:
    return {
        "environment": [*sorted(os.environ)],
        "path": [*sys.path],
        "folder": str(Path.cwd()),
        "pid": os.getpid(),
    }


def _read_passwd() -> None:
    Path("/etc/passwd").read_text()


def _write_file() -> None:
    Path("written-by-a-job").write_text("x")


def _open_socket() -> None:
    socket.create_connection(("127.0.0.1", 9), timeout=1)


def _make_socket() -> None:
    socket.socket()


def _look_up() -> None:
    socket.getaddrinfo("localhost", 80)


def _start_process() -> None:
    subprocess.run(["true"], check=False)


def _become_another_program() -> None:
    os.execv("/bin/true", ["true"])


def _open_to_write() -> None:
    os.open("/dev/null", os.O_WRONLY)


def _open_to_read() -> None:
    os.open("/dev/null", os.O_RDONLY)


def _fork() -> None:
    os.fork()


def _remove() -> None:
    Path("pyproject.toml").unlink()


def _kill() -> None:
    os.kill(os.getppid(), 0)


def _list_folder() -> None:
    os.listdir("/")  # noqa: PTH208 - the event that this one raises


DEEDS = {
    deed.__name__.strip("_"): deed
    for deed in (
        _read_passwd, _write_file, _open_socket, _make_socket, _look_up, _start_process, _become_another_program,
        _open_to_write, _open_to_read, _fork, _remove, _kill,
        _list_folder,
    )
}  # fmt: skip


@job("a forbidden deed", SHORT)
def do_forbidden(name: str) -> str:
    try:
        DEEDS[name]()
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    return "done"


@job("making findings", SHORT)
def hold(findings: tuple[Finding, ...]) -> int:
    return len(findings)
