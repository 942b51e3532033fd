"""The killable sandbox: all work on untrusted text happens in processes that can be ended at any moment.

    jobs         what may be asked: our own named functions, each with its limits
    values       what may come back: plain values and records, never code
    frames       8 bytes of length, then values
    child        start of a forkserver, by file path
    service      its imports; a process's loop, one job after another
    forkserver   the parent's end of it
    fork_loop    its loop: forks processes and kills them
    lock         what a process gives up: limits, no sockets, no files
    kernel       the part of it that the kernel keeps, against compiled code, too
    locked       tells which parts of it this system lacks
    process      the parent's end of one process
    workers      few warm processes, and who waits
    sandbox      the one client: `call` and `run`
    turns        threads that ask the sandbox
    threads      one for each piece of work that waits
    memory       whether there is some for one more
    inside       whether this process is one of a sandbox

Whatever a job does (crash, hang, too much memory), the answer is a `SandboxError`
that names the limit, and the next job finds a new process. Anyone who stops
waiting for a job ends it.
"""

from prompt_debugger.core.sandbox.inside import is_inside, limit_cpu
from prompt_debugger.core.sandbox.jobs import Job, Limits, job
from prompt_debugger.core.sandbox.sandbox import Sandbox, close_sandboxes, end_jobs_for_others, sandbox_of, used_by
from prompt_debugger.core.sandbox.turns import in_thread
from prompt_debugger.core.sandbox.workers import ON_TRIAL, VISITOR

__all__ = [
    "ON_TRIAL",
    "VISITOR",
    "Job",
    "Limits",
    "Sandbox",
    "close_sandboxes",
    "end_jobs_for_others",
    "in_thread",
    "is_inside",
    "job",
    "limit_cpu",
    "sandbox_of",
    "used_by",
]
