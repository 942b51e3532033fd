"""Where the project's own files lie: scripts, styles, worked cases, the lab model."""

from __future__ import annotations

from functools import cache
from pathlib import Path

LAB_MODEL_NAME = "lab-model"


@cache  # a locked process may not follow links any more
def assets_dir() -> Path:
    """Return their folder, the same in a checkout and when installed."""
    return (Path(__file__).parents[2] / "assets").resolve()


def packaged_model_dir() -> Path:
    """Return the folder of the miniature model."""
    return assets_dir() / LAB_MODEL_NAME


def place_of(source: str) -> str | Path:
    """Return the folder of the miniature model where it is named; else what was given."""
    return packaged_model_dir() if source == LAB_MODEL_NAME else source
