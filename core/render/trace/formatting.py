"""Runs of `%` formatting and of `str.format`, where the format is simple enough to follow."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence

from core.render.trace.runs import Runs, cut, glue_all, total_length, unknown_runs

_PERCENT = re.compile(r"(%s|%%)")


def percent_runs(template: str, runs: Runs, values: object, length: int) -> Runs:
    """Return the runs of `template % values`, of which the text has `length` characters.

    Only `%s` and `%%` are followed; anything else is unknown.
    """
    pieces = _PERCENT.split(str.__str__(template))
    if any("%" in piece for piece in pieces[::2]):
        return unknown_runs(length)
    queue = list(values) if isinstance(values, tuple) else [values]
    out: list[Runs] = []
    position = 0
    for piece in pieces:
        if piece == "%s":
            if not queue:
                return unknown_runs(length)
            out.append(_printed(queue.pop(0)))
        else:
            kept = 1 if piece == "%%" else len(piece)
            out.append(cut(runs, position, position + kept))
        position += len(piece)
    return _fitting(out, length)


def brace_runs(template: str, runs: Runs, args: Sequence[object], kwargs: Mapping[str, object], length: int) -> Runs:
    """Return the runs of `template.format(*args, **kwargs)`, of which the text has `length` characters.

    Only `{}`, `{0}` and `{name}` are followed; anything else is unknown.
    """
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
        key = name or str(automatic)
        automatic += not name
        known = int(key) < len(args) if key.isdigit() else key in kwargs
        if spec or conversion or not known:
            return unknown_runs(length)
        out.append(_printed(args[int(key)] if key.isdigit() else kwargs[key]))
        position = plain.find("}", position) + 1
    return _fitting(out, length)


def _fitting(pieces: Sequence[Runs], length: int) -> Runs:
    runs = glue_all(pieces)
    return runs if total_length(runs) == length else unknown_runs(length)


def _printed(value: object) -> Runs:
    from core.render.trace.printing import as_text  # printing needs strings, which need this file

    return as_text(value)._runs
