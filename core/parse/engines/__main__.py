"""`python -m prompt_debugger.core.parse.engines 0.11.0 …`: fetch vLLM releases for their parsers."""

from __future__ import annotations

import sys
from typing import TextIO

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines.fetch import fetch_release


def main(versions: list[str]) -> int:
    """Fetch releases, say where each lies; returns 2 if one cannot be fetched."""
    for version in versions:
        try:
            folder = fetch_release(version, on_progress=lambda line: _say(sys.stderr, line))
        except EngineError as error:
            _say(sys.stderr, f"{error.message} {error.hint}".strip())
            return 2
        _say(sys.stdout, f"{version}\t{folder}")
    return 0


def _say(stream: TextIO, line: str) -> None:
    stream.write(f"{line}\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
