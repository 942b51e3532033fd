"""One file per server software, each with the record of what is known of it: how it is recognised, what it offers.

A file defines `ENGINE`, and nothing is registered anywhere else: the look at a server, its titles, the fields that are
added to requests, what its text is worth, the parsers that it runs, the command that starts it and the test for its
maintainers are derived from the records.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType

from prompt_debugger.core.base.discover import discover, discover_installed
from prompt_debugger.core.base.errors import PluginError
from prompt_debugger.core.base.protocols import RequestChange
from prompt_debugger.core.base.types import Api, Server
from prompt_debugger.core.complete.engines._looks import Looks
from prompt_debugger.core.complete.engines._parser_test import (
    ParserCase,
    ParserTest,
    python_calls,
    python_text,
    python_texts,
    python_tools,
)
from prompt_debugger.core.complete.engines._record import (
    AnswerPlaces,
    ControlTokens,
    Endpoints,
    Engine,
    Marks,
    OutputToParse,
    OwnFields,
    OwnParsers,
)
from prompt_debugger.core.complete.engines._start import NOT_TRIED, Flag, Proof, StartCommand, StartWith
from prompt_debugger.core.complete.engines._wanted import problem_of
from prompt_debugger.core.complete.engines.openai import ENGINE as UNKNOWN
from prompt_debugger.core.formats import FORMATS, Checkpoint, ParserNames, TextFormat

__all__ = [
    "ENGINES",
    "NOT_TRIED",
    "PARSER_NAMES",
    "UNKNOWN",
    "AnswerPlaces",
    "ControlTokens",
    "Endpoints",
    "Engine",
    "Flag",
    "Looks",
    "Marks",
    "OutputToParse",
    "OwnFields",
    "OwnParsers",
    "ParserCase",
    "ParserNames",
    "ParserTest",
    "Proof",
    "RequestChange",
    "StartCommand",
    "StartWith",
    "_NamesByFamily",
    "engine_of",
    "families_of_parser",
    "load_engines",
    "load_records",
    "merge_names",
    "parser_names_of",
    "python_calls",
    "python_text",
    "python_texts",
    "python_tools",
    "taken_by_api",
    "title_of",
]
_NamesByFamily = Mapping[str, ParserNames]


def load_records(package: ModuleType) -> dict[str, Engine]:
    """Return the engines of a package by file, one per public module, in the order in which they are recognised.

    Raises:
        PluginError: A module defines no `ENGINE`, one with a field of the wrong type, or one that claims what another
            does; it names the file.
    """
    records: dict[str, Engine] = {}
    file_by_claim: dict[str, str] = {}
    own = discover(package, "ENGINE")
    others = discover_installed("prompt_debugger.engines", "ENGINE", own) if package is sys.modules[__name__] else {}
    for name, constant in (own | others).items():
        file = f"{package.__name__.replace('.', '/')}/{name}.py"
        if not isinstance(constant, Engine):
            hint = "See core/complete/engines/sglang.py for an example."
            raise PluginError(f"`ENGINE` of `{file}` is a `{type(constant).__name__}`, not an `Engine`.", hint)
        if (problem := problem_of(constant)) is not None:
            raise PluginError(
                f"`ENGINE` of `{file}`: {problem}", "core/complete/engines/_record.py describes each field."
            )
        for claim in _claims(constant):
            if claim in file_by_claim:
                reported = f"`{file}` and `{file_by_claim[claim]}` both have the {claim}"
                raise PluginError(reported, "Give one of them another value.")
            file_by_claim[claim] = file
        records[file] = constant
    return dict(sorted(records.items(), key=lambda item: (item[1].marks.order, item[1].kind)))


def load_engines(package: ModuleType) -> dict[str, Engine]:
    """Return the engines of a package by kind; see `load_records`."""
    return {engine.kind: engine for engine in load_records(package).values()}


def engine_of(kind: str) -> Engine:
    """Return the record of a kind of server; of one without a file, that of a server that shows nothing."""
    return ENGINES.get(kind, UNKNOWN)


def taken_by_api(server: Server, api: Api) -> frozenset[str]:
    """Return which of its fields for chat completions a server is known to take by another API, too."""
    numbers = re.match(r"v?(\d{1,6})\.(\d{1,6})", server.version or "")
    if numbers is None:
        return frozenset()
    version = (int(numbers[1]), int(numbers[2]))
    taken = engine_of(server.kind).own_fields.taken_by_api.get(api, {})
    return frozenset(name for name, since in taken.items() if version >= since)


def title_of(kind: str) -> str:
    """Return what a kind of server is called; a saved run may name one that has no file here."""
    return ENGINES[kind].title if kind in ENGINES else kind


def families_of_parser(kind: str, parser: str | None) -> tuple[str, ...] | None:
    """Return the families that a tool parser of a kind of server is made for; `None` if its names are vLLM's."""
    names = PARSER_NAMES.get(kind)
    return tuple(family for family, one in names.items() if parser in one.tools) if names else None


def parser_names_of(kind: str, family: str | None, checkpoint: Checkpoint | None = None) -> ParserNames:
    """Return what an engine calls its parsers for a family, the preferred one first; vLLM's too.

    Args:
        kind: The engine.
        family: Name of the format; `None` if it is not known.
        checkpoint: Which of the family's models it is, where that shows: its own parsers come first.
    """
    facts = FORMATS[family].facts if family is not None and family in FORMATS else None
    if names := PARSER_NAMES.get(kind):
        every = names.get(family or "", ParserNames())
    else:
        every = ParserNames() if facts is None else ParserNames(facts.tool_parsers, facts.reasoning_parsers)
    own = ParserNames() if checkpoint is None else checkpoint.parser_names.get(kind, ParserNames())
    return ParserNames(
        tuple(dict.fromkeys((*own.tools, *every.tools))), tuple(dict.fromkeys((*own.reasonings, *every.reasonings)))
    )


def _claims(engine: Engine) -> Iterator[str]:
    """Yield what no two engines may have."""
    yield f"kind `{engine.kind}`"
    yield f"title `{engine.title}`"
    yield from (f"owner `{owner}` of models" for owner in engine.marks.owners)
    if engine.own_parsers is not None:
        yield f"prefix `{engine.own_parsers.prefix}` of parsers"


def merge_names(formats: Mapping[str, TextFormat], engines: Mapping[str, Engine]) -> dict[str, _NamesByFamily]:
    """Return the names by kind of engine, then by family.

    Args:
        formats: The families by name.
        engines: The records by file.

    Raises:
        PluginError: A record, which the error names, has an unknown engine or family, or two define the same names.
    """
    merged: dict[str, dict[str, ParserNames]] = {engine.kind: {} for engine in engines.values()}
    for family, one in formats.items():
        place = f"`parser_names` of `prompt_debugger/core/formats/{family}.py`"
        for kind, names in one.facts.parser_names.items():
            if kind not in merged:
                known = ", ".join(f"`{kind}`" for kind in sorted(merged))
                raise PluginError(f"{place}: unknown engine `{kind}`.", f"Known: {known}.")
            merged[kind][family] = _checked(place, names)
    for file, engine in engines.items():
        place = f"`parser_names` of `{file}`"
        for family, names in engine.parser_names.items():
            if family not in formats:
                raise PluginError(f"{place}: unknown family `{family}`.", "Families are named like their files.")
            if family in merged[engine.kind]:
                reported = f"{place} and `prompt_debugger/core/formats/{family}.py` both define names for `{family}`"
                raise PluginError(reported, "Define all of them in one place.")
            merged[engine.kind][family] = _checked(place, names)
    return dict(merged)


def _checked(place: str, names: object) -> ParserNames:
    if not isinstance(names, ParserNames) or not _are_texts(names.tools) or not _are_texts(names.reasonings):
        hint = "core/formats/_facts.py describes what it contains."
        raise PluginError(f"{place}: {names!r:.80} is not a `ParserNames` of tuples of strings.", hint)
    return names


def _are_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


_RECORDS = load_records(sys.modules[__name__])
ENGINES: Mapping[str, Engine] = {engine.kind: engine for engine in _RECORDS.values()}
PARSER_NAMES: Mapping[str, _NamesByFamily] = merge_names(FORMATS, _RECORDS)
"""What each engine calls its parsers for a family, by kind."""
