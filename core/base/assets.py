"""Where the project's own files lie: scripts, styles, worked cases, the lab model."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache  # a locked process may not follow links any more
def assets_dir() -> Path:
    """Return their folder, the same in a checkout and when installed."""
    return (Path(__file__).parents[2] / "assets").resolve()
