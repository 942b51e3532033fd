"""The outputs as the model writes them, where its template prints past ones otherwise, or prints no calls."""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import family_of
from prompt_debugger.core.tools.check.taught import add_taught_calls


def write_as_model(printed: tuple[Ideal, ...], model: CheckedModel) -> tuple[tuple[Ideal, ...], str | None, str]:
    """Return outputs as the model writes them, their format, and what is inferred of it, a sentence or ""."""
    ideals, notation = add_taught_calls(printed, model)
    family = family_of(ideals)
    inferred = "" if notation is None else notation.evidence
    written = None if family is None else FORMATS[family].facts.written_calls
    if written is None:
        return ideals, family, inferred
    pattern = re.compile(written.printed)
    made = tuple(replace(one, raw=pattern.sub(written.written, one.raw)) if one.answer.calls else one for one in ideals)
    if made == ideals:
        return ideals, family, inferred
    return made, family, f"The template prints {written.says}: the parsers were tested on what the model writes."
