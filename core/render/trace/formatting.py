"""Runs of `%` formatting and of `str.format`, piece by piece."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence

from prompt_debugger.core.render.trace.dumps import PYTHON, dumped
from prompt_debugger.core.render.trace.printing import as_text
from prompt_debugger.core.render.trace.runs import (
    Run,
    RunKind,
    Runs,
    coarse,
    computed_runs,
    cut,
    expand,
    glue_all,
    total_length,
    unknown_runs,
)
from prompt_debugger.core.render.trace.strings import TracedStr, plain, traced

_PERCENT = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[#0\- +]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<kind>[diouxXeEfFgGcrsa%])"
)
_STEP = re.compile(r"\.([^.\[]+)|\[([^\]]+)\]")


def modulo(left: object, right: object) -> object:
    """Return `left % right`; a text that is formatted knows where its parts came from."""
    if type(left) is not TracedStr:
        return left % right  # type: ignore[operator]  # for its error
    return formatted(left, right, str.__mod__(left, right))


def formatted(template: TracedStr, values: object, text: str) -> TracedStr:
    """Return `text`, which is `template % values`."""
    return traced(text, _percent_runs(template, values, len(text)))


def _percent_runs(template: TracedStr, values: object, length: int) -> Runs:
    text, runs = plain(template), template._runs
    queue = list(values) if isinstance(values, tuple) else [values]
    out: list[Runs] = []
    position = 0
    for match in _PERCENT.finditer(text):
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
    out.append(cut(runs, position, len(text)))
    return _fitting(out, length)


def _precision(digits: str | None) -> str:
    return "" if digits is None else f".{digits}"


def brace_runs(template: TracedStr, args: Sequence[object], kwargs: Mapping[str, object], length: int) -> Runs:
    """Return the runs of `template.format(*args, **kwargs)`, whose text has `length` characters."""
    whole, runs = plain(template), template._runs
    out: list[Runs] = []
    position = automatic = 0
    for text, name, spec, conversion in string.Formatter().parse(whole):
        if text:
            found = whole.find(text, position)
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
        position = whole.find("}", position) + 1
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
    if kind in "ra":
        text = repr(value)
        whole = dumped(value, PYTHON, text)._runs
        made = _padded(whole, text, shown)
        return coarse(expand(whole), len(shown)) if made is None else made
    text = as_text(value)
    if isinstance(value, (int, float)):
        return _scalar_runs(shown, text._runs[0] if len(text._runs) == 1 else None)
    made = _padded(text._runs, str.__str__(text), shown)
    if made is None and str.startswith(text, shown.strip()):  # cut by a precision
        kept = shown.strip()
        made = _padded(cut(text._runs, 0, len(kept)), kept, shown)
    return coarse(expand(text._runs), len(shown)) if made is None else made


def _padded(runs: Runs, text: str, shown: str) -> Runs | None:
    """Return the runs of `shown`, which holds `text` with padding around; `None` if it does not."""
    if len(shown) == len(text):
        return runs if shown == text else None
    left = shown.find(text)
    if left < 0:
        return None
    return glue_all((computed_runs(left), runs, computed_runs(len(shown) - left - len(text))))


def _scalar_runs(shown: str, run: Run | None) -> Runs:
    """Return the runs of a number as written by some format."""
    if run is not None and run.kind is RunKind.SCALAR:
        return (Run(len(shown), RunKind.SCALAR, run.source),) if shown else ()
    return computed_runs(len(shown))
