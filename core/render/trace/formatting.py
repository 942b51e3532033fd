"""Runs of `%` formatting and of `str.format`, piece by piece."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence

from prompt_debugger.core.render.trace.changes import padded, scalar_runs
from prompt_debugger.core.render.trace.runs import Runs, coarse, cut, glue_all, total_length, unknown_runs

_PERCENT = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[#0\- +]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<kind>[diouxXeEfFgGcrsa%])"
)
_STEP = re.compile(r"\.([^.\[]+)|\[([^\]]+)\]")


def percent_runs(template: str, runs: Runs, values: object, length: int) -> Runs:
    """Return the runs of `template % values`, of which the text has `length` characters."""
    plain = str.__str__(template)
    queue = list(values) if isinstance(values, tuple) else [values]
    out: list[Runs] = []
    position = 0
    for match in _PERCENT.finditer(plain):
        out.append(cut(runs, position, match.start()))
        position = match.end()
        if match["kind"] == "%":
            out.append(cut(runs, match.start(), match.start() + 1))
            continue
        if match["key"] is not None:
            if not isinstance(values, Mapping) or match["key"] not in values:
                return unknown_runs(length)
            value: object = values[match["key"]]
        elif queue:
            value = queue.pop(0)
        else:
            return unknown_runs(length)
        directive = "%" + match["flags"] + match["width"] + _precision(match["precision"]) + match["kind"]
        out.append(_piece(value, str.__str__(str.__mod__(directive, (value,))), match["kind"]))
    out.append(cut(runs, position, len(plain)))
    return _fitting(out, length)


def _precision(digits: str | None) -> str:
    return "" if digits is None else f".{digits}"


def brace_runs(template: str, runs: Runs, args: Sequence[object], kwargs: Mapping[str, object], length: int) -> Runs:
    """Return the runs of `template.format(*args, **kwargs)`, of which the text has `length` characters."""
    plain = str.__str__(template)
    out: list[Runs] = []
    position = automatic = 0
    for text, name, spec, conversion in string.Formatter().parse(plain):
        if text:
            found = plain.find(text, position)
            out.append(cut(runs, found, found + len(text)))
            position = found + len(text)
        if name is None:
            continue
        first = re.match(r"[^.\[]*", name)
        assert first is not None
        key = first[0] or str(automatic)
        automatic += not first[0]
        known = int(key) < len(args) if key.isdigit() else key in kwargs
        if not known or (spec and "{" in spec) or conversion not in (None, "r", "s"):
            return unknown_runs(length)
        value = _inside(args[int(key)] if key.isdigit() else kwargs[key], name[len(first[0]) :])
        if conversion == "r":
            shown = format(repr(value), spec or "")
        else:
            shown = format(str(value) if conversion == "s" or not spec else value, spec or "")
        out.append(_piece(value, str.__str__(shown), conversion or "s"))
        position = plain.find("}", position) + 1
    return _fitting(out, length)


def _inside(value: object, steps: str) -> object:
    """Follow `.name` and `[name]` into request objects, as the sandbox does."""
    for match in _STEP.finditer(steps):
        key = match[1] or match[2]
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, (list, tuple)) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _fitting(pieces: Sequence[Runs], length: int) -> Runs:
    runs = glue_all(pieces)
    return runs if total_length(runs) == length else unknown_runs(length)


def _piece(value: object, shown: str, kind: str) -> Runs:
    """Return the runs of one value as a format wrote it."""
    from prompt_debugger.core.render.trace.dumps import (  # they need strings, which need this file
        PYTHON,
        dumped,
        expand,
    )
    from prompt_debugger.core.render.trace.printing import as_text

    if kind in "ra":
        text = repr(value)
        whole = dumped(value, PYTHON, text)._runs
        made = padded(whole, text, shown)
        return coarse(expand(whole), len(shown)) if made is None else made
    text = as_text(value)
    if isinstance(value, (int, float)):
        return scalar_runs(shown, text._runs[0] if len(text._runs) == 1 else None)
    made = padded(text._runs, str.__str__(text), shown)
    if made is None and str.startswith(text, shown.strip()):  # cut by a precision
        kept = shown.strip()
        made = padded(cut(text._runs, 0, len(kept)), kept, shown)
    return coarse(expand(text._runs), len(shown)) if made is None else made
