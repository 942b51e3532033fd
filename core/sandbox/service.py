"""The loop of a sandbox's process: forked with everything imported, locked down, then one job after another.

It ends when the input does, which happens when the client dies; a job that uses up
its processor time ends it at once.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, TypeAlias, cast

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.sandbox.fork_loop import ForkLoop
from prompt_debugger.core.sandbox.frames import pack, read_frame
from prompt_debugger.core.sandbox.inside import enter
from prompt_debugger.core.sandbox.jobs import Job
from prompt_debugger.core.sandbox.lock import Memory, allow_cpu, lock_in
from prompt_debugger.core.sandbox.values import UnknownValueError

# What libraries import only when they need it: afterwards nothing can be read any more.
_LATE_IMPORTS = (
    "html.entities", "html.parser", "pprint", "random", "textwrap", "traceback", "urllib.parse", "unicodedata",
    "stringprep", "decimal", "fractions", "difflib", "zlib", "gzip",
    "encodings.ascii", "encodings.base64_codec", "encodings.cp1252", "encodings.hex_codec", "encodings.idna",
    "encodings.latin_1", "encodings.punycode", "encodings.rot_13", "encodings.unicode_escape", "encodings.utf_16",
    "encodings.utf_16_be", "encodings.utf_16_le", "encodings.utf_32", "encodings.utf_7", "encodings.utf_8_sig",
)  # fmt: skip

_MAX_MESSAGE = 400
# To look for garbage is to look at all that jobs keep for the next ones, which takes longer than most jobs do.
_MANY_OBJECTS = 20_000
_AnyJob: TypeAlias = Job[..., object]  # type: ignore[explicit-any]  # each job has its own arguments
_Question: TypeAlias = tuple[str, tuple[object, ...], dict[str, object], float, int]


def serve(modules: Sequence[str]) -> None:
    """Import all that the jobs of these modules need; then fork processes that run them."""
    enter()
    for number in (signal.SIGINT, signal.SIGTERM):  # they are the client's to handle, and may be sent to all at once
        signal.signal(number, signal.SIG_IGN)
    gc.disable()  # between jobs is time enough; of imports it would take a fifth
    jobs = _load(modules)
    gc.collect()
    gc.freeze()  # the imports stay for good: collections need not look at them again
    ForkLoop(socket.socket(fileno=os.dup(0)), lambda: _serve(jobs)).run()


def _serve(jobs: Mapping[str, _AnyJob]) -> None:
    """Answer jobs until the input ends."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not land between frames
    memory = Memory()
    lock_in()
    _write(answers, pack(("ready",)))
    while (question := _next(questions)) is not None:
        name, arguments, keywords, cpu_s, memory_mb = question
        memory.allow(memory_mb)
        begun_s = time.process_time()
        allow_cpu(cpu_s)
        for answer in _answers(jobs[name], arguments, keywords):
            frame = _packed(answer, (memory.is_spent(), time.process_time() - begun_s))
            allow_cpu(0)  # a client that is slow to read costs nothing
            _write(answers, frame)
            allow_cpu(cpu_s)
        allow_cpu(0)
        del question, name, arguments, keywords
        if gc.get_count()[0] > _MANY_OBJECTS or memory.has_grown():
            gc.collect()
            memory.tidied()


def _next(questions: BinaryIO) -> _Question | None:
    try:
        return cast("_Question", read_frame(questions))
    except EOFError:
        return None


def _load(modules: Sequence[str]) -> Mapping[str, _AnyJob]:
    """Import everything that a job may need; return the jobs by name."""
    for name in _LATE_IMPORTS:
        importlib.import_module(name)
    found = [value for name in modules for value in vars(importlib.import_module(name)).values()]
    jobs = {value.name: value for value in found if isinstance(value, Job)}
    for warm_up in {value.warm_up for value in jobs.values()} - {None}:
        assert warm_up is not None
        warm_up()
    return jobs


def _answers(job: _AnyJob, arguments: Sequence[object], keywords: Mapping[str, object]) -> Iterator[tuple[object, ...]]:
    """Yield the steps of a job, then its end: a value, one of our errors, or a fault."""
    try:
        result = job(*arguments, **keywords)
        if isinstance(result, Iterator):
            for step in result:
                yield ("step", step)
            result = None
        yield ("value", result)
    except DebuggerError as error:
        yield ("error", error)
    except MemoryError:
        yield ("memory", "")
    except Exception as error:  # noqa: BLE001 - a fault of a job must not look like a crash
        frames = traceback.extract_tb(error.__traceback__, limit=-3)
        places = " ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames)
        yield ("fault", f"{type(error).__name__}: {str(error)[:_MAX_MESSAGE]} ({places})")


def _packed(answer: tuple[object, ...], account: tuple[bool, float]) -> bytes:
    """Return the frame of an answer, then whether memory was left behind, and how much processor time was used."""
    try:
        return pack((*answer, *account))
    except UnknownValueError as error:
        return pack(("fault", f"the answer cannot be sent: {error}", True, account[1]))
    except MemoryError:
        return pack(("memory", "", True, account[1]))


def _write(answers: BinaryIO, frame: bytes) -> None:
    answers.write(frame)
    answers.flush()
