"""One file per model family: what it writes, how to read it, and the record of what is known of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from types import ModuleType

from prompt_debugger.core.base.discover import discover, discover_installed
from prompt_debugger.core.base.errors import PluginError, RequestError
from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import FormatScore, ParsedMessage
from prompt_debugger.core.formats import _tables
from prompt_debugger.core.formats._blend import Blend
from prompt_debugger.core.formats._detect import Detector
from prompt_debugger.core.formats._facts import Checkpoint, FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import STRONG, TextFormat
from prompt_debugger.core.formats._kimi_header import OFF_ID
from prompt_debugger.core.formats._tables import (
    PARSERS_OF_ANY_FORMAT,
    FamilyTables,
    ReasoningPair,
    StrippedCall,
    tables_of,
)
from prompt_debugger.core.formats.generic import FORMAT as GENERIC
from prompt_debugger.core.parse.conventions import COMMON_ENDS

__all__ = [
    "CONTROL_TOKEN",
    "FORMATS",
    "GENERIC",
    "OFF_ID",
    "PARSERS_OF_ANY_FORMAT",
    "TABLES",
    "Checkpoint",
    "FamilyFacts",
    "FamilyTables",
    "Grammar",
    "ParserNames",
    "ReasoningPair",
    "StrippedCall",
    "TextFormat",
    "checkpoint_in",
    "find_stripped_calls",
    "load_formats",
    "pick_format",
    "read_scored",
    "score_formats",
    "tables_of",
]


def load_formats(package: ModuleType) -> dict[str, TextFormat]:
    """Return the formats of a package, one per public module.

    Raises:
        PluginError: A module defines no `FORMAT`, one of another kind, or one that bears another name.
    """
    own = discover(package, "FORMAT")
    others = discover_installed("prompt_debugger.families", "FORMAT", own) if package is sys.modules[__name__] else {}
    formats: dict[str, TextFormat] = {}
    for name, constant in (own | others).items():
        if not isinstance(constant, TextFormat):
            raise PluginError(
                f"`FORMAT` of `{package.__name__}.{name}` is not a `TextFormat`.", "See core/formats/_family.py."
            )
        if constant.name != name:  # two files of one name would share a row of every table
            raise PluginError(
                f"`FORMAT` of `{package.__name__}.{name}` has the name {constant.name!r}.",
                f"Write `name={name!r}`, or name the file `{constant.name}.py`.",
            )
        _check_ends(f"{package.__name__}.{name}", constant)
        formats[name] = constant
    return formats


def _check_ends(place: str, family: TextFormat) -> None:
    """Refuse a family that nothing but its end token would show: an answer in words would keep that token as text.

    Raises:
        PluginError: An end token that no other family has is none of its marks.
    """
    for end in sorted(family.conventions.ends - COMMON_ENDS):
        if not any(mark.find(f"Hello.{end}") for mark in family.marks):
            raise PluginError(
                f"The end token {end!r} of `FORMAT` of `{place}` is not one of its `marks`.",
                f"Add `Mark({end!r}, FAIR)` to `marks`: without it, an answer without calls is read as plain text and "
                "ends with that token.",
            )


def _share_turns(formats: dict[str, TextFormat], tables: FamilyTables) -> dict[str, TextFormat]:
    """Return the formats, the reader of unknown families knowing all turns: they end reasoning in a prompt."""
    generic = formats[GENERIC.name]
    conventions = replace(generic.conventions, turns=tables.turn_markers)
    return formats | {generic.name: replace(generic, conventions=conventions)}


_RECORDS = load_formats(sys.modules[__name__])
TABLES: FamilyTables = tables_of(_RECORDS)
FORMATS: Mapping[str, TextFormat] = _share_turns(_RECORDS, TABLES)
_MAX_OTHERS = 3  # families besides the best one whose calls are looked for in what it leaves as content
# `[ARGS]...` is no token: so a program's help ends its usage.
_IN_USAGE = r"(?!\.{3}(?:\s|\Z))"
CONTROL_TOKEN = re.compile(
    "|".join(
        [
            r"<[|｜][^|｜\n]{1,60}[|｜]>",
            *(f"{re.escape(text)}{_IN_USAGE if text.endswith(']') else ''}" for text in TABLES.control_texts),
        ]
    )
)
"""What only a model writes, by its shape or as a text of a known family."""

_DETECTOR = Detector(FORMATS)


def score_formats(raw: str, context: ReadContext) -> dict[str, FormatScore]:
    """Say of every format how well it explains `raw`.

    Args:
        raw: The raw output.
        context: Tools, end of the prompt, special tokens.

    Returns:
        Scores by format name, best first.
    """
    return _DETECTOR.detect(raw, context).scores


def read_scored(raw: str, context: ReadContext, wanted: str = "auto") -> tuple[dict[str, FormatScore], ParsedMessage]:
    """Read `raw` with the format to read it with, and say how well every format explains it.

    Args:
        raw: The raw output.
        context: Tools, end of the prompt, special tokens.
        wanted: As for `pick_format`.

    Returns:
        Scores by format name, best first; and the reading.

    Raises:
        RequestError: There is no format of that name.
    """
    scores, readings = _DETECTOR.detect(raw, context)
    if wanted != "auto":
        return scores, readings.get(_known(wanted)) or FORMATS[wanted].read(raw, context)
    reader = _reader(scores)
    read = readings.get(reader.name)
    if read is None:
        return scores, reader.read(raw, context)
    return scores, reader.complete(raw, context, read) if isinstance(reader, Blend) else read


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
    return _reader(score_formats(raw, context)) if wanted == "auto" else FORMATS[_known(wanted)]


def _reader(scores: Mapping[str, FormatScore]) -> ModelFormat:
    """Return the best format, together with others of whose markers the text is full as well."""
    ranked = list(islice(scores.items(), 1 + _MAX_OTHERS))
    best = FORMATS[ranked[0][0]]
    others = tuple(
        FORMATS[name] for name, score in ranked[1:] if score.score >= STRONG and not FORMATS[name].bare_score
    )
    return Blend(best, others) if others and type(best).read is TextFormat.read else best


def _known(name: str) -> str:
    """Return the name of a format that there is.

    Raises:
        RequestError: There is none of that name.
    """
    if name in FORMATS:
        return name
    known = ", ".join(sorted(FORMATS))
    raise RequestError(f"Unknown format {name!r}.", f"Known formats: {known}, or `auto`.", field="format")


def checkpoint_in(family: str | None, text: str) -> tuple[Checkpoint, str] | None:
    """Return which of a family's models with separate parsers a text shows, and what shows it; `None` if none.

    Args:
        family: Name of the format.
        text: A template, what it renders, the special tokens of a vocabulary: all that is known of the model.
    """
    for one in FORMATS[family].facts.checkpoints if family is not None and family in FORMATS else ():
        if found := re.search(one.sign, text):
            return one, found.group()
    return None


def find_stripped_calls(text: str, tool_names: tuple[str, ...]) -> Iterator[StrippedCall]:
    """Yield what looks like calls that lost their control tokens; see `_tables`."""
    return _tables.find_stripped_calls(FORMATS, text, tool_names)
