"""Floods for every regular expression of the program, each made of its own parts: what it repeats, many times over.

for name, pattern in own_patterns(): for flood in floods_of(pattern): pattern.search(flood.text(2_000))
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]  # the parsed form has no public name
from types import ModuleType
from typing import Any, NamedTuple

import prompt_debugger.core
import prompt_debugger.ui

_INSIDE = re.compile(r"\.(?:inside|child|__main__)\b|_worker\b|server_plugins")  # begun as a process
_MAX_DEPTH = 3  # of patterns in tables
_MAX_FLOODS = 40  # of one pattern
_MANY = 200  # repetitions from which a bound is none
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_OF_CATEGORY = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_WORD": "."}
_OTHERS = 'x a1.,"{'  # one of them is what a set leaves out
_END = "\x01"  # that no pattern goes on with


class Flood(NamedTuple):
    """A text that a pattern may search again and again.

    Attributes:
        start: What comes once.
        piece: What comes again and again.
    """

    start: str
    piece: str

    def text(self, size: int) -> str:
        """Return the flood with about so many characters."""
        return self.start + (self.piece * (size // len(self.piece) + 1))[:size] + _END


def own_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns that the program's modules hold, by module and name; each once."""
    found: dict[re.Pattern[str], str] = {}
    for package in (prompt_debugger.core, prompt_debugger.ui):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if _INSIDE.search(info.name) is None:
                for name, pattern in _patterns_of(importlib.import_module(info.name)):
                    found.setdefault(pattern, f"{info.name.removeprefix('prompt_debugger.')}.{name}")
    return {name: pattern for pattern, name in found.items()}


def _patterns_of(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        for pattern in _within(value, _MAX_DEPTH):
            yield name, pattern


def _within(value: Any, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, tuple | list | dict | set | frozenset):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _within(one, depth - 1)


def floods_of(pattern: re.Pattern[str]) -> list[Flood]:
    """Return floods for a pattern: each of its long repetitions, alone and after what comes before it."""
    found: dict[Flood, None] = {}
    for flood in _floods(list(_parser.parse(pattern.pattern, pattern.flags)), ""):
        if flood.piece and len(found) < _MAX_FLOODS:
            found[flood] = None
    return list(found)


def _floods(parts: list[tuple[Any, Any]], before: str) -> Iterator[Flood]:
    for code, value in parts:
        name = str(code)
        if name in _REPEATS:
            _, most, inner = value
            piece = _sample(inner)
            if piece and (most == _constants.MAXREPEAT or most > _MANY):
                yield from (Flood("", piece), Flood(before, piece), Flood("", before + piece), Flood("", before))
                if not piece.strip():
                    yield from (Flood(before, f"{piece}\n"), Flood("", f"\n{piece}"))
            yield from _floods(list(inner), before)
        for inner in _groups(name, value):
            yield from _floods(list(inner), before)
        before += _sample([(code, value)])


def _groups(name: str, value: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Yield the sequences in a part that is a group, a choice or a look around."""
    if name == "ATOMIC_GROUP":
        yield value
    elif name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
        yield value[-1]
    elif name == "BRANCH":
        yield from value[1]


def _sample(parts: Any) -> str:
    """Return a text that a sequence of parts matches, as far as that is seen without the rest."""
    return "".join(_sample_of(str(code), value) for code, value in parts)


def _sample_of(name: str, value: Any) -> str:
    if name == "LITERAL":
        return chr(value)
    if name in ("ANY", "NOT_LITERAL"):
        return "y" if value == ord("x") else "x"
    if name == "IN":
        return _member(value)
    if name in _REPEATS:
        least, most, inner = value
        return _sample(inner) * int(max(least, min(most, 1)))
    return next((_sample(inner) for inner in _groups(name, value) if not name.startswith("ASSERT")), "")


def _member(parts: list[tuple[Any, Any]]) -> str:
    """Return a character of a set."""
    if any(str(code) == "NEGATE" for code, _ in parts):
        return next((one for one in _OTHERS if not _has(parts, one)), "\u00e9")
    code, value = parts[0]
    if str(code) == "RANGE":
        return chr(value[0])
    return chr(value) if str(code) == "LITERAL" else _OF_CATEGORY.get(str(value), "x")


def _has(parts: list[tuple[Any, Any]], one: str) -> bool:
    for code, value in parts:
        name = str(code)
        if name == "LITERAL" and chr(value) == one:
            return True
        if name == "RANGE" and value[0] <= ord(one) <= value[1]:
            return True
        if name == "CATEGORY" and _is_of(str(value), one):
            return True
    return False


def _is_of(category: str, one: str) -> bool:
    tests = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda text: text.isalnum() or text == "_"}
    bare = category.removeprefix("CATEGORY_")
    known = tests.get(bare.removeprefix("NOT_"))
    return known is not None and known(one) != bare.startswith("NOT_")
