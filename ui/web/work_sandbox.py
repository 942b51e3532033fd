"""The start of the sandbox for visitors' work, which need not wait for gradio."""

from __future__ import annotations

from prompt_debugger.core.pipeline import reading
from prompt_debugger.core.sandbox import locked, sandbox_of
from prompt_debugger.core.tools.capture import record
from prompt_debugger.core.tools.verify import validity
from prompt_debugger.core.tools.watch import line
from prompt_debugger.ui.web import pasted, work

# Where the page's jobs are, besides those of completing, which come with the pipeline. The sandbox has to know of all
# when it starts: a process that lacks one would be followed by another, and its imports would have been for nothing.
WITH_JOBS = (line, locked, record, reading, validity, pasted, work)


def start_work_sandbox() -> None:
    """Have the sandbox's first process start, without waiting for it; does nothing if one runs.

    Raises:
        SandboxError: None can be started at all.
    """
    sandbox_of().warm_up()
