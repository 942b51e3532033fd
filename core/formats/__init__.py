"""One file per model family: what it writes, and how to read it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from core.discover import discover
from core.errors import RequestError
from core.formats.generic import FORMAT as GENERIC
from core.protocols import ModelFormat, ReadContext
from core.types import FormatScore

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["FORMATS", "pick_format", "score_formats"]


def _load_formats() -> Mapping[str, ModelFormat]:
    package: ModuleType = sys.modules[__name__]
    return cast("dict[str, ModelFormat]", discover(package, "FORMAT"))


FORMATS: Mapping[str, ModelFormat] = _load_formats()


def score_formats(raw: str, context: ReadContext) -> dict[str, FormatScore]:
    """Say of every format how well it explains `raw`.

    Args:
        raw: The raw output.
        context: Tools, end of the prompt, special tokens.

    Returns:
        Scores by format name, best first.
    """
    scores = {name: model_format.match(raw, context) for name, model_format in FORMATS.items()}
    return dict(sorted(scores.items(), key=lambda item: (-item[1].score, item[0])))


def pick_format(raw: str, context: ReadContext, wanted: str = "auto") -> ModelFormat:
    """Return the format to read `raw` with.

    Args:
        raw: The raw output.
        context: Tools, end of the prompt, special tokens.
        wanted: A format's name, or `auto` for the one with the best score.

    Returns:
        The format.

    Raises:
        RequestError: There is no format of that name.
    """
    if wanted == "auto":
        best = next(iter(score_formats(raw, context)), GENERIC.name)
        return FORMATS[best]
    if wanted in FORMATS:
        return FORMATS[wanted]
    known = ", ".join(sorted(FORMATS))
    raise RequestError(f"There is no format {wanted!r}.", f"Known formats: {known}, or `auto`.", field="format")
