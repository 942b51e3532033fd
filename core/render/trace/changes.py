"""Texts that a method or filter changed: the runs of what comes out, by what went in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_debugger.core.render.trace.runs import (
    Encode,
    EscapedField,
    Field,
    Run,
    RunKind,
    Runs,
    coarse,
    computed_runs,
    cut_many,
    glue_all,
)

if TYPE_CHECKING:
    from prompt_debugger.core.render.trace.strings import TracedStr

_MAX_RESPACED = 20_000  # characters that are matched one by one


def expanded(text: TracedStr) -> Runs:
    """Return the runs of a text, serialised values taken apart."""
    from prompt_debugger.core.render.trace.dumps import expand  # dumps are made of strings, which need this file

    return expand(text._runs)


def rewritten(original: TracedStr, text: str, encode: Encode | None = None) -> TracedStr:
    """Return `text`, which was made of all of `original`.

    Args:
        original: What went in.
        text: What came out.
        encode: What was done to it, if that can be done to its parts one by one; checked.
    """
    from prompt_debugger.core.render.trace.strings import traced

    runs = expanded(original)
    pieces = None if encode is None else _piecewise(str.__str__(original), runs, text, encode)
    return traced(text, coarse(runs, len(text)) if pieces is None else pieces)


def respaced(original: TracedStr, text: str) -> TracedStr:
    """Return `text`, which differs from `original` in its white space alone; anything else is taken as a whole."""
    from prompt_debugger.core.render.trace.strings import traced

    whole = str.__str__(original)
    before = [index for index, char in enumerate(whole) if not char.isspace()]
    after = [index for index, char in enumerate(text) if not char.isspace()]
    is_same = len(whole) <= _MAX_RESPACED and [whole[i] for i in before] == [text[i] for i in after]
    if not is_same:
        return rewritten(original, text)
    runs = expanded(original)
    pieces: list[Runs] = []
    position = 0
    for (start, stop), place in zip(_stretches(before, after), _starts(before, after), strict=True):
        pieces.append(computed_runs(place - position))
        pieces.extend(cut_many(runs, ((start, stop),)))
        position = place + stop - start
    pieces.append(computed_runs(len(text) - position))
    return traced(text, glue_all(pieces))


def _stretches(before: list[int], after: list[int]) -> list[tuple[int, int]]:
    """Return the stretches of the original that moved as one."""
    made: list[tuple[int, int]] = []
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if index and old - before[index - 1] == 1 == new - after[index - 1]:
            made[-1] = (made[-1][0], old + 1)
        else:
            made.append((old, old + 1))
    return made


def _starts(before: list[int], after: list[int]) -> list[int]:
    """Return where each of these stretches begins in the new text."""
    return [
        new
        for index, (old, new) in enumerate(zip(before, after, strict=True))
        if not (index and old - before[index - 1] == 1 == new - after[index - 1])
    ]


def with_ending(original: TracedStr, text: str, ending: str) -> TracedStr:
    """Return `text`, which is the front of `original` and then `ending`, made by the template."""
    from prompt_debugger.core.render.trace.strings import TracedStr, runs_of, traced

    kept = len(text) - len(ending)
    if str.__str__(original)[:kept] + str.__str__(ending) != text:
        return rewritten(original, text)
    runs = runs_of(ending) if type(ending) is TracedStr else computed_runs(len(ending))
    return traced(text, glue_all((cut_many(original._runs, ((0, kept),))[0], runs)))


def _piecewise(whole: str, runs: Runs, text: str, encode: Encode) -> Runs | None:
    """Return the runs of `text` if it is every run's part of `whole`, encoded by itself."""
    made: list[Run] = []
    shown: list[str] = []
    position = 0
    for run in runs:
        piece = whole[position : position + run.length]
        shown.append(encode(piece))
        made.append(run if shown[-1] == piece else _encoded(run, len(shown[-1]), encode))
        position += run.length
    return tuple(run for run in made if run.length) if "".join(shown) == text else None


def _encoded(run: Run, length: int, encode: Encode) -> Run:
    _, kind, source, start, stop, site = run
    if kind is RunKind.COPY and isinstance(source, Field):
        return Run(length, RunKind.ESCAPED, EscapedField(source, encode), start, stop, site)
    if kind is RunKind.CASED and isinstance(source, Field):
        return Run(length, RunKind.ESCAPED, EscapedField(source, None), start, stop, site)
    if kind is RunKind.ESCAPED and isinstance(source, EscapedField):
        return Run(length, kind, EscapedField(source.field, None), start, stop, site)
    if kind is RunKind.LITERAL:
        return Run(length, RunKind.LITERAL_CHANGED, source, start, stop, site)
    return Run(length, kind, source, start, stop, site)


def padded(runs: Runs, text: str, shown: str) -> Runs | None:
    """Return the runs of `shown`, which holds `text` with padding around; `None` if it does not."""
    if len(shown) == len(text):
        return runs if shown == text else None
    left = shown.find(text)
    if left < 0:
        return None
    return glue_all((computed_runs(left), runs, computed_runs(len(shown) - left - len(text))))


def scalar_runs(shown: str, run: Run | None) -> Runs:
    """Return the runs of a number as written by some format."""
    if run is not None and run.kind is RunKind.SCALAR:
        return (Run(len(shown), RunKind.SCALAR, run.source),) if shown else ()
    return computed_runs(len(shown))
