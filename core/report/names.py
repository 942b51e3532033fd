"""File names of a run: what was found, by which parser, on which server, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.report.unfinished import ending_name

_TIME = re.compile(r"\d{4}-\d\d-\d\dT(\d\d):(\d\d)")
_OTHER = re.compile(r"[^\w.+-]+", re.ASCII)
_LONGEST = 40  # characters of a part


def file_stem(trace: Trace) -> str:
    """Return the name of a run's files without the extension, such as `dropped-call_kimi_k2_vllm-0.32.0_1612`.

    Nothing in it leads out of a folder or is read by a shell; parts that are not known are left out.
    """
    parts = (_OTHER.sub("-", part)[:_LONGEST].strip("-.") for part in _parts(trace))
    return "_".join(part for part in parts if part)


def _parts(trace: Trace) -> Iterator[str]:
    yield trace.title or _outcome(trace)
    server = trace.server
    if server is not None:
        yield server.tool_parser or (server.model or "").rpartition("/")[2]
        yield f"{server.kind}-{server.version}" if server.version else server.kind
    elif trace.parse is not None:
        yield trace.parse.parsed.format
    elif trace.verdict is None and isinstance(model := trace.request.body.get("model"), str):
        yield model.rpartition("/")[2]
    time = _TIME.match(trace.started)
    if time is not None:
        yield "".join(time.groups())


def _outcome(trace: Trace) -> str:
    if trace.findings:
        return trace.findings[0].name
    return ending_name(trace) if trace.verdict is None else "nothing-found"
