"""The worker process: `python -m core.render.worker.main MEMORY_MB CPU_S`.

Reads jobs from standard input and writes outcomes to standard output until the
input ends, which it does when the parent dies. Memory is limited for the whole
process, CPU time for each job: a job that uses it up ends the process.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator
from typing import BinaryIO

from core.render.job import Fault, RenderOutcome, job_from_json
from core.render.worker.wire import pack, read_frame
from core.types import JSONObject


def main() -> None:
    """Serve jobs until the input ends."""
    memory_mb, cpu_s = int(sys.argv[1]), float(sys.argv[2])
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not land between frames
    from core.render.reference import warm_up

    warm_up()
    gc.freeze()  # the imports stay for good: collections need not look at them again and again
    used = _address_space()
    limit = used + (memory_mb << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _send(answers, {"ready": True})
    while (data := read_frame(jobs)) is not None:
        signal.setitimer(signal.ITIMER_PROF, cpu_s)  # SIGPROF ends the process even inside one long operation
        for answer in _answers(data):
            signal.setitimer(signal.ITIMER_PROF, 0)
            is_spent = _address_space() - used > (memory_mb << 20) // 3
            _send(answers, {**answer, "is_spent": is_spent})
            signal.setitimer(signal.ITIMER_PROF, cpu_s)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _answers(data: JSONObject) -> Iterator[JSONObject]:
    """Yield the answers to one question; all but the last say that more follows."""
    from core.render.engine import run_in_steps
    from core.render.inspect import inspect_template

    try:
        if "inspect" in data:
            yield inspect_template(str(data["inspect"])).to_json()
            return
        job = job_from_json(data)
        for step, outcome in enumerate(run_in_steps(job)):
            yield {**outcome.to_json(), "more": step == 0 and job.is_traced and outcome.fault is None}
    except MemoryError:
        yield RenderOutcome(fault=Fault("MemoryError", "the template needs more memory than a prompt may")).to_json()
    except Exception as error:  # noqa: BLE001  # a fault of ours must not look like a crash
        yield RenderOutcome(fault=Fault("WorkerError", f"{type(error).__name__}: {error}")).to_json()


def _address_space() -> int:
    """Return the bytes of address space that the imports already use."""
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123  # not a file of ours
        return int(statm.read().split()[0]) * resource.getpagesize()


def _send(answers: BinaryIO, data: JSONObject) -> None:
    answers.write(pack(data))
    answers.flush()


if __name__ == "__main__":
    main()
