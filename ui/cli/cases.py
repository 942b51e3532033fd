"""`--cases FILE.jsonl`: one JSON object per line in, one per line out, same order, flat memory."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.files import refuse_kind, unreadable
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.sandbox.lock import allow_cpu
from prompt_debugger.ui.cli.case_lines import Answer, Answered, ByteSource, Chunk, OpenAnswer, answer_chunk, read_chunks
from prompt_debugger.ui.cli.case_workers import CaseWorkers, WorkerLimits
from prompt_debugger.ui.cli.output import FOUND, OK
from prompt_debugger.ui.cli.progress import clear, say

# A worker needs half a second to start, in which about this many lines are read.
LINES_ALONE = 256


def run_cases(name: str, answer: Answer) -> int:
    """Answer every line of a file; a bad line gives an `error` object and the rest still runs.

    Args:
        name: The file, or `-` for standard input.
        answer: Turns a case into a document; may raise DebuggerError.

    Returns:
        1 if any line has an error or a finding of severity `error`, else 0.

    Raises:
        RequestError: The file cannot be opened.
    """
    return run_bulk(name, lambda: nullcontext(answer), jobs=1)


def run_bulk(
    name: str, open_answer: OpenAnswer, *, jobs: int | None = None, open_locked: OpenAnswer | None = None
) -> int:
    """Answer every line of a file, the first ones here and what comes after them in several processes.

    Args:
        name: The file, or `-` for standard input.
        open_answer: Makes what turns a case into a document; called once in each process, so it must be picklable
            unless `jobs` is 1.
        jobs: How many processes; `None` means one per processor. With 1 everything happens here. A line that takes too
            much processor time is given up, here and there.
        open_locked: As `open_answer`, for processes that are locked; see `CaseWorkers`.

    Returns:
        As `run_cases`.

    Raises:
        RequestError: The file cannot be opened.
        EngineError: No worker can be started.
    """
    has_error, n_done = False, 0
    with opened(name) as source:
        answers = _answers(read_chunks(source), open_answer, jobs or usable_processors(), open_locked)
        with closing(answers):
            for done in answers:
                has_error |= done.has_error
                n_done += done.text.count("\n")
                clear()
                say(f"Reading the cases, {n_done:,} so far")
                sys.stdout.write(done.text)
                sys.stdout.flush()
    return FOUND if has_error else OK


def usable_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _answers(
    chunks: Iterator[Chunk], open_answer: OpenAnswer, jobs: int, open_locked: OpenAnswer | None
) -> Generator[Answered, None, None]:
    """Answer here until it is worth starting workers."""
    with open_answer() as answer:
        for chunk in chunks:
            yield _answer_here(chunk, answer, WorkerLimits().cpu_s)
            if jobs > 1 and chunk.first_number + len(chunk.lines) > LINES_ALONE:
                break
    if (following := next(chunks, None)) is None:
        return
    with closing(CaseWorkers(open_answer, jobs, open_locked=open_locked)) as workers:
        yield from workers.answers(_prepend(following, chunks))


class _TimeUp(BaseException):
    """A line took too long. No `Exception`, so that nothing that reads a line swallows it."""


def _answer_here(chunk: Chunk, answer: Answer, cpu_s: float) -> Answered:
    """Answer a chunk; a line that has used so much processor time gets an error, where Python can tell."""
    if threading.current_thread() is not threading.main_thread():
        return answer_chunk(chunk, answer)  # signals come to the main thread alone

    def timed(case: JSONObject) -> Answered:
        try:
            allow_cpu(cpu_s)
            return answer(case)
        except _TimeUp:
            raise EngineError(f"The line took more than {cpu_s:g} s of processor time and was stopped.") from None
        finally:
            allow_cpu(0)

    before = signal.signal(signal.SIGPROF, _time_is_up)
    try:
        return answer_chunk(chunk, timed)
    finally:
        signal.signal(signal.SIGPROF, before)


def _time_is_up(*_: object) -> None:
    raise _TimeUp


def _prepend(first: Chunk, others: Iterator[Chunk]) -> Iterator[Chunk]:
    yield first
    yield from others


@contextmanager
def opened(name: str) -> Iterator[ByteSource]:
    """Open without our own buffer: what has come is answered, and no lock is held while nothing comes."""
    try:
        if name != "-":
            refuse_kind(name)
        source = open(0, "rb", buffering=0, closefd=False) if name == "-" else Path(name).open("rb", buffering=0)  # noqa: SIM115 - standard input has no path
    except OSError as error:
        raise unreadable(name, error) from None
    with source:
        yield source
