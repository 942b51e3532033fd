"""A lab in the foreground of a terminal: the command `lab`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TextIO

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.lab.document import LabDocument
from prompt_debugger.core.tools.lab.progress import LabProgress, LabState
from prompt_debugger.core.tools.lab.server import Lab
from prompt_debugger.core.tools.lab.spec import LabSpec

_WATCH_S = 0.5


def run_lab(
    spec: LabSpec,
    on_ready: Callable[[Lab], None] | None = None,
    *,
    as_json: bool = False,
    out: TextIO | None = None,
    log: TextIO | None = None,
) -> int:
    """Serve a lab until a `KeyboardInterrupt` or its death.

    Args:
        spec: What to serve.
        on_ready: Called once when it answers.
        as_json: Whether `out` gets one JSON line in place of the base URL.
        out: For the result; standard output if not given.
        log: For people: progress and errors; standard error if not given.

    Returns:
        Exit status: 0 if it was asked to end, 2 if the lab did not start or died.
    """
    out, log = out or sys.stdout, log or sys.stderr
    lab = Lab(spec)
    try:
        lab.boot(_progress_writer(log))
        _write(out, json.dumps(describe_lab(lab)) if as_json else lab.base_url)
        if on_ready is not None:
            on_ready(lab)
        while not lab.wait(_WATCH_S):
            pass
        raise lab.failure() or LabError("The lab server ended.")
    except KeyboardInterrupt:
        return 0
    except LabError as error:
        return _fail(error, as_json=as_json, out=out, log=log)
    finally:
        lab.stop()


def describe_lab(lab: Lab) -> JSONObject:
    """Return what a script needs to use a lab."""
    document = LabDocument(
        base_url=lab.base_url,
        model=lab.model,
        pid=lab.pid,
        kind=lab.spec.kind,
        tool_parser=lab.spec.tool_parser,
        reasoning_parser=lab.spec.reasoning_parser,
    )
    return asdict(document)


def _progress_writer(log: TextIO) -> Callable[[LabProgress], None]:
    """Return a listener that writes each new sentence once."""
    last = ""

    def write(progress: LabProgress) -> None:
        nonlocal last
        if progress.sentence != last and progress.state in (LabState.STARTING, LabState.READY):
            last = progress.sentence
            _write(log, f"[{progress.elapsed_s:5.1f} s, {progress.fraction:4.0%}] {progress.sentence}")

    return write


def _fail(error: LabError, *, as_json: bool, out: TextIO, log: TextIO) -> int:
    if error.log_tail:
        _write(log, error.log_tail)
    _write(log, f"error: {error.message}" + (f" ({error.hint})" if error.hint else ""))
    if as_json:
        _write(out, json.dumps({"error": error.to_json()}))
    return 2


def _write(stream: TextIO, line: str) -> None:
    stream.write(f"{printable(line)}\n")
    stream.flush()
