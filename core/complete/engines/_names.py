"""What each server software calls its parsers for a family: from the families' records and from the engines' own."""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.base.errors import PluginError
from prompt_debugger.core.complete.engines._record import Engine
from prompt_debugger.core.formats import ParserNames, TextFormat

NamesByFamily = Mapping[str, ParserNames]


def merge_names(formats: Mapping[str, TextFormat], engines: Mapping[str, Engine]) -> dict[str, NamesByFamily]:
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
