"""Starts the sandbox for visitors' work early, before gradio is imported."""

from __future__ import annotations

from prompt_debugger.core.pipeline import reading
from prompt_debugger.core.sandbox import lock_report, sandbox_of
from prompt_debugger.core.tools.capture import record
from prompt_debugger.core.tools.verify import validity
from prompt_debugger.core.tools.watch import line
from prompt_debugger.ui.web import pasted, work

# Modules with the page's jobs, besides those of completion, which come with the pipeline. They are imported before the
# sandbox starts: a process that lacks one would have to be replaced, and its imports would have been for nothing.
WITH_JOBS = (line, lock_report, record, reading, validity, pasted, work)


def start_work_sandbox() -> None:
    """Start the first process of the sandbox, without waiting for it; do nothing if one is running.

    Raises:
        SandboxError: It cannot be started.
    """
    sandbox_of().warm_up()
