"""The worker process: `python -m core.render.worker.main MEMORY_MB CPU_S`.

Reads jobs from standard input and writes outcomes to standard output until the
input ends, which it does when the parent dies. Memory is limited for the whole
process, CPU time for each job: a job that uses it up ends the process. Once it is
ready it cannot open anything any more: no file, no socket, no other process.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import signal
import sys
from collections.abc import Iterator
from typing import BinaryIO

from core.egress import forbid_network
from core.render.job import Fault, RenderOutcome, job_from_json
from core.render.worker.wire import pack, read_frame
from core.types import JSONObject

# What the library and Jinja import only when a template asks for it.
_LATE_IMPORTS = (
    "core.render.inspect", "html", "html.entities", "html.parser", "jinja2.constants", "jinja2.debug", "pprint",
    "random", "textwrap", "traceback", "urllib.parse",
    "encodings.ascii", "encodings.base64_codec", "encodings.cp1252", "encodings.hex_codec", "encodings.idna",
    "encodings.latin_1", "encodings.punycode", "encodings.rot_13", "encodings.unicode_escape", "encodings.utf_16",
    "encodings.utf_16_be", "encodings.utf_16_le", "encodings.utf_32", "encodings.utf_7", "encodings.utf_8_sig",
)  # fmt: skip
_REHEARSALS = (
    "{{ strftime_now('%c') }}{{ messages | tojson(indent=2) }}{{ messages | pprint }}{{ 'a<b>' | striptags | urlize }}",
    "{% generation %}{{ messages[0].content | wordwrap | urlencode | e }}{{ lipsum(1) | length }}{% endgeneration %}",
    "{{ raise_exception('x') }}",
    "{{ nothing.at.all }}",
    "{% if %}",
)


def main() -> None:
    """Serve jobs until the input ends."""
    forbid_network()
    memory_mb, cpu_s = int(sys.argv[1]), float(sys.argv[2])
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not land between frames
    _warm_up()
    gc.freeze()  # the imports stay for good: collections need not look at them again and again
    statm = os.open("/proc/self/statm", os.O_RDONLY)
    used = _address_space(statm)
    _lock_in(used + (memory_mb << 20))
    _send(answers, {"ready": True})
    while (data := read_frame(jobs)) is not None:
        signal.setitimer(signal.ITIMER_PROF, cpu_s)  # SIGPROF ends the process even inside one long operation
        for answer in _answers(data):
            signal.setitimer(signal.ITIMER_PROF, 0)
            is_spent = _address_space(statm) - used > (memory_mb << 20) // 3
            _send(answers, {**answer, "is_spent": is_spent})
            signal.setitimer(signal.ITIMER_PROF, cpu_s)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _warm_up() -> None:
    """Import everything that a job may need: afterwards nothing can be read any more."""
    from core.render.engine import run_in_steps
    from core.render.job import RenderJob, Variable
    from core.render.reference import warm_up

    warm_up()
    for module in _LATE_IMPORTS:
        importlib.import_module(module)
    messages = Variable("messages", [{"role": "user", "content": "a"}], ("messages",))
    for template in _REHEARSALS:
        for _ in run_in_steps(RenderJob(template, (messages,))):
            pass


def _lock_in(memory: int) -> None:
    """Limit what the process may have: no more memory than this, and nothing new of anything else."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for name in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        resource.setrlimit(name, (0, 0))
    # What is open stays open; the first free number is refused, and with it files, sockets and pipes.
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))


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


def _address_space(statm: int) -> int:
    """Return the bytes of address space that the process uses, by an open `/proc/self/statm`."""
    return int(os.pread(statm, 200, 0).split()[0]) * resource.getpagesize()


def _send(answers: BinaryIO, data: JSONObject) -> None:
    answers.write(pack(data))
    answers.flush()


if __name__ == "__main__":
    main()
