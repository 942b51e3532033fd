"""`--report DIR`: write the shareable files, secrets removed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from core.errors import RequestError
from core.report import redact_json, redact_text, trace_to_json, trace_to_markdown
from core.types import JSON, Trace
from ui.cli.output import log
from ui.report import trace_to_html


def write_trace(folder: str, trace: Trace, name: str = "trace") -> None:
    """Write a run as `NAME.json`, as `NAME.md` for an issue tracker, and as `NAME.html` that opens offline."""
    write_files(
        folder,
        {
            f"{name}.json": trace_to_json(trace),
            f"{name}.md": trace_to_markdown(trace),
            f"{name}.html": trace_to_html(trace),
        },
    )


def write_files(folder: str, contents: Mapping[str, JSON]) -> None:
    """Write each value under its file name: text as it is, anything else as JSON.

    Raises:
        RequestError: The folder cannot be written.
    """
    directory = Path(folder)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, value in contents.items():
            text = redact_text(value) if isinstance(value, str) else json.dumps(redact_json(value), indent=2)
            (directory / name).write_text(text, encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise RequestError(f"cannot write the report to {folder!r}: {error.strerror or error}") from None
    log(f"Wrote {', '.join(contents)} to {folder}")
