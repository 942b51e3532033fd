"""One file per server software, each with the record of what is known of it: how it is recognised, what it offers.

A file defines `ENGINE`, and nothing is registered anywhere else: the look at a server, its titles, the fields that are
added to requests, what its text is worth and the parsers that it runs are derived from the records.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType

from prompt_debugger.core.complete.engines._looks import Looks
from prompt_debugger.core.complete.engines._record import (
    ControlTokens,
    Endpoints,
    Engine,
    Marks,
    OutputToParse,
    OwnFields,
    OwnParsers,
)
from prompt_debugger.core.complete.engines._wanted import problem_of
from prompt_debugger.core.complete.engines.openai import ENGINE as UNKNOWN
from prompt_debugger.core.discover import discover
from prompt_debugger.core.errors import PluginError

__all__ = [
    "ENGINES",
    "UNKNOWN",
    "ControlTokens",
    "Endpoints",
    "Engine",
    "Looks",
    "Marks",
    "OutputToParse",
    "OwnFields",
    "OwnParsers",
    "engine_of",
    "load_engines",
    "title_of",
]


def load_engines(package: ModuleType) -> dict[str, Engine]:
    """Return the engines of a package by kind, one per public module, in the order in which they are recognised.

    Raises:
        PluginError: A module defines no `ENGINE`, one with a field of the wrong type, or one that claims what another
            does; it names the file.
    """
    engines: dict[str, Engine] = {}
    file_by_claim: dict[str, str] = {}
    for name, constant in discover(package, "ENGINE").items():
        file = f"{package.__name__.replace('.', '/')}/{name}.py"
        if not isinstance(constant, Engine):
            hint = "It is built as in core/complete/engines/sglang.py."
            raise PluginError(f"`ENGINE` of `{file}` is a `{type(constant).__name__}`, no `Engine`", hint)
        if (problem := problem_of(constant)) is not None:
            raise PluginError(f"`ENGINE` of `{file}`: {problem}", "core/complete/engines/_record.py says what each is.")
        for claim in _claims(constant):
            if claim in file_by_claim:
                told = f"`{file}` and `{file_by_claim[claim]}` both have the {claim}"
                raise PluginError(told, "One of them needs another.")
            file_by_claim[claim] = file
        engines[constant.kind] = constant
    return dict(sorted(engines.items(), key=lambda item: (item[1].marks.order, item[0])))


def engine_of(kind: str) -> Engine:
    """Return the record of a kind of server; of one without a file, that of a server of which nothing shows."""
    return ENGINES.get(kind, UNKNOWN)


def title_of(kind: str) -> str:
    """Return what a kind of server is called; a saved run may name one that has no file here."""
    return ENGINES[kind].title if kind in ENGINES else kind


def _claims(engine: Engine) -> Iterator[str]:
    """Yield what no two engines may have."""
    yield f"kind `{engine.kind}`"
    yield f"title `{engine.title}`"
    yield from (f"owner `{owner}` of models" for owner in engine.marks.owners)
    if engine.own_parsers is not None:
        yield f"prefix `{engine.own_parsers.prefix}` of parsers"


ENGINES: Mapping[str, Engine] = load_engines(sys.modules[__name__])
