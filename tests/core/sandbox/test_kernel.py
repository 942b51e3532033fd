"""What the kernel keeps of the lock: native code is assumed hostile, and the filter is read as the kernel reads it."""

from __future__ import annotations

import errno
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.sandbox import Sandbox
from prompt_debugger.core.sandbox.kernel import (
    ALLOWED,
    ENDED,
    MACHINES,
    NUMBERS,
    REFUSED,
    X32,
    Kernel,
    Landlock,
    Machine,
    program_for,
    rules_for,
)
from prompt_debugger.core.sandbox.lock_report import report_unlocked
from tests.conftest import ROOT
from tests.core.sandbox import native
from tests.patience import PATIENCE_S

linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's part of the lock is Linux's")
REFUSED_PLAINLY = REFUSED | errno.EPERM
PID = 4321


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(most=1)
    yield sandbox
    sandbox.close()


@pytest.fixture
def whole(sandbox: Sandbox) -> Sandbox:
    """A sandbox whose processes lock all there is to lock."""
    if missing := sandbox.call(report_unlocked):
        pytest.skip(f"this system does not lock {missing}")
    return sandbox


@linux
@pytest.mark.parametrize("name", native.NAMES)
def test_native_code_is_refused_by_the_kernel(whole, name):
    assert whole.call(native.call_directly, name, os.getpid()) == "EPERM"


@linux
def test_memory_pipes_and_clocks_go_on(sandbox):
    assert sandbox.call(native.go_on) == {"memory": 10_000_000, "written": 1, "clock": True}


@linux
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="has no second kind of calls")
def test_calls_with_numbers_of_another_kind_end_the_process(whole):
    with pytest.raises(SandboxError) as raised:
        whole.call(native.call_as_x32)

    assert raised.value.limit == "crash"


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Return what a filter says of a call, line by line as the kernel reads it."""
    seen = struct.pack("IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    lines = list(struct.iter_unpack("HBBI", program))
    held = at = 0
    while True:
        code, yes, no, value = lines[at]
        at += 1
        match code:
            case 0x20:
                held = struct.unpack_from("I", seen, value)[0]
            case 0x54:
                held &= value
            case 0x15:
                at += yes if held == value else no
            case 0x35:
                at += yes if held >= value else no
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"a line with the code {code}")


class Filter:
    """A filter of a kind of processor."""

    def __init__(self, machine: Machine, *, has_threads: bool = False, is_reading: bool = False) -> None:
        self._machine = machine
        self._program = program_for(machine, rules_for(PID, has_threads=has_threads, is_reading=is_reading))

    def of(self, name: str, *arguments: int) -> int:
        return answer(self._program, self._machine.architecture, NUMBERS[name][self._machine.column], *arguments)

    def of_number(self, number: int, architecture: int | None = None) -> int:
        return answer(self._program, architecture or self._machine.architecture, number)


@pytest.fixture(params=[*MACHINES])
def machine(request) -> Machine:
    return MACHINES[request.param]


def test_what_is_not_in_the_list_is_refused(machine):
    sealed = Filter(machine)
    allowed = {numbers[machine.column] for numbers in NUMBERS.values()}

    assert {sealed.of_number(number) for number in range(600) if number not in allowed} == {REFUSED_PLAINLY}
    assert sealed.of("read") == sealed.of("mmap") == sealed.of("exit_group") == ALLOWED


def test_the_architecture_is_looked_at_first(machine):
    [other] = [one for one in MACHINES.values() if one != machine]

    assert Filter(machine).of_number(NUMBERS["read"][machine.column], other.architecture) == ENDED
    assert Filter(machine).of_number(0, 0x40000003) == ENDED  # 32 bit on the same processor


def test_numbers_of_the_second_kind_end_the_process():
    assert Filter(MACHINES["x86_64"]).of_number(X32) == ENDED
    assert Filter(MACHINES["x86_64"]).of_number(X32 + 1) == ENDED


def test_files_are_opened_to_read_alone_and_only_where_that_was_allowed(machine):
    reading, sealed = Filter(machine, is_reading=True), Filter(machine)

    for flags in (0o1, 0o2, 0o3, 0o100, 0o1000, 0o2000, 0o20200000, 0o101):
        assert reading.of("openat", 0, 0, flags) == REFUSED_PLAINLY, oct(flags)
    assert reading.of("openat", 0, 0, 0o2000000) == ALLOWED
    assert sealed.of("openat", 0, 0, 0) == REFUSED_PLAINLY
    assert sealed.of("getdents64") == REFUSED_PLAINLY


def test_threads_begin_only_where_that_was_allowed_and_processes_nowhere(machine):
    thread = 0x3D0F00
    threaded, sealed = Filter(machine, has_threads=True), Filter(machine)

    assert threaded.of("clone", thread) == ALLOWED
    assert threaded.of("clone", 17) == REFUSED_PLAINLY
    assert threaded.of("clone", thread | 0x10000000) == REFUSED_PLAINLY
    assert threaded.of("clone3") == REFUSED | errno.ENOSYS
    assert {sealed.of("clone", flags) for flags in (thread, 17)} == {sealed.of("clone3")} == {REFUSED_PLAINLY}


def test_a_process_signals_and_limits_itself_alone(machine):
    sealed = Filter(machine)

    assert (sealed.of("tgkill", PID), sealed.of("tgkill", PID + 1)) == (ALLOWED, REFUSED_PLAINLY)
    assert sealed.of("prlimit64", 0, 9, 1 << 40) == ALLOWED  # of its memory
    assert sealed.of("prlimit64", 0, 7, 0) == ALLOWED  # asks only
    assert sealed.of("prlimit64", 0, 7, 1 << 40) == REFUSED_PLAINLY  # a place in memory above four gigabytes
    assert sealed.of("prlimit64", 0, 7, 16) == REFUSED_PLAINLY
    assert sealed.of("prlimit64", PID + 1, 9, 0) == REFUSED_PLAINLY


# A process that may read, as the helper with vLLM's parsers: locks itself, then tries.
READER = """
import ctypes, errno, json, os, sys
from pathlib import Path
from prompt_debugger.core.sandbox.lock import Readable, lock_in
folder, learns = sys.argv[1], sys.argv[2] == "learns"
CALL = ctypes.CDLL(None, use_errno=True).syscall
readable = Readable()
if not learns:
    readable.allow([folder])
locks = lock_in(has_threads=True, readable=readable, learns=learns)
result = {"missing": [one.part for one in locks.unlocked]}
if learns:
    result["first"] = locks.let_read([folder])
    result["other"] = locks.let_read(["/etc/passwd"])
    result["again"] = locks.let_read([folder])
result["python reads"] = Path(folder, "inside.txt").read_text()
import xml.dom.minidom  # a library that is loaded late
number = 56 if os.uname().machine == "aarch64" else 257
for name, path, flags in (
    ("inside", f"{folder}/inside.txt", 0), ("new", f"{folder}/new.txt", 0o101), ("outside", "/etc/passwd", 0),
    ("parent", f"/proc/{os.getppid()}/environ", 0), ("own", "/proc/self/environ", 0),
):
    done = CALL(ctypes.c_long(number), ctypes.c_long(-100), path.encode(), flags, 0o600)
    result[name] = "done" if done >= 0 else errno.errorcode[ctypes.get_errno()]
for name, deed in {
    "write": lambda: os.open(f"{folder}/inside.txt", os.O_WRONLY),
    "append": lambda: os.open(f"{folder}/inside.txt", os.O_RDONLY | os.O_APPEND),
    "empty": lambda: os.open(f"{folder}/inside.txt", os.O_RDONLY | os.O_TRUNC),
    "create": lambda: os.open(f"{folder}/created.txt", os.O_RDONLY | os.O_CREAT),
    "execv": lambda: os.execv("/bin/true", ["true"]),
}.items():
    try:
        deed()
        result["hook: " + name] = "done"
    except OSError as error:
        result["hook: " + name] = str(error)
print(json.dumps(result))
"""


def read_in_a_process(program: str, *arguments: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


@linux
@pytest.mark.parametrize("when", ["learns", "knows"])
def test_a_process_that_reads_opens_what_it_was_told_of_and_nothing_else(tmp_path, when):
    (tmp_path / "inside.txt").write_text("fine")

    found = read_in_a_process(READER, str(tmp_path), when)

    if found["missing"]:
        pytest.skip(f"this system does not lock {found['missing']}")
    assert (found["python reads"], found["inside"], found["new"]) == ("fine", "done", "EPERM")
    assert {found[name] for name in ("outside", "parent", "own")} == {"EACCES"}
    hooked = {str(words) for name, words in found.items() if name.startswith("hook: ")}
    assert hooked == {"a sandbox does not allow opening this file", "a sandbox does not allow os.exec"}
    if when == "learns":
        assert (found["first"], found["other"], found["again"]) == (True, False, True)


# A system that lacks parts, simulated: what is said to be missing, and whether Python's own hook still refuses.
LACKING = """
import json, os, sys
{change}
from prompt_debugger.core.sandbox.lock import lock_in
locks = lock_in()
try:
    os.system("true")
    said = "done"
except PermissionError as error:
    said = str(error)
os.write(1, json.dumps({{"missing": dict(locks.unlocked), "hook": said}}).encode())
"""


@linux
@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ("sys.platform = 'darwin'", {"memory": "macOS", "privileges": "macOS", "files": "macOS", "calls": "macOS"}),
        (
            "real = os.uname(); os.uname = lambda: type('U', (), {'machine': 'riscv64'})",
            {"calls": "system calls of riscv64"},
        ),
        (
            "from prompt_debugger.core.sandbox import kernel; kernel._CREATE_RULESET = 100_000",
            {"files": "Function not implemented"},
        ),
        (
            "from prompt_debugger.core.sandbox import kernel; kernel._MODE_FILTER = kernel._SET_MODE_FILTER = 99",
            {"calls": "Invalid"},
        ),
    ],
    ids=["macOS", "another processor", "no Landlock", "no seccomp"],
)
def test_a_part_that_the_system_lacks_is_reported_and_the_rest_is_locked(change, missing):
    found = read_in_a_process(LACKING.format(change=change))

    shown = found["missing"]
    assert isinstance(shown, dict)
    assert set(missing) == set(shown)
    assert all(words in shown[part] for part, words in missing.items())
    assert found["hook"] == "a sandbox does not allow os.system"


def test_nothing_is_called_where_the_system_is_another(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    kernel = Kernel()

    kernel.end_with_parent()

    assert [part for part, _ in kernel.hide()] == ["memory"]
    assert Landlock(None).version == 0


@linux
def test_a_process_of_the_sandbox_is_hidden(whole):
    assert whole.call(native.is_dumpable) == 0


@linux
@pytest.mark.skipif(os.geteuid() == 0, reason="root looks into every process")
def test_a_process_of_the_sandbox_cannot_be_looked_into(sandbox):
    with pytest.raises(PermissionError):
        Path(f"/proc/{sandbox.pids[0]}/environ").read_bytes()
