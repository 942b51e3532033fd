"""The runs of a text that was made of another one by a rewrite: escaped, encoded, or laid out with other whitespace."""

from __future__ import annotations

from prompt_debugger.core.render.trace.escapes import escape_run
from prompt_debugger.core.render.trace.runs import Encode, Run, Runs, coarse, computed_runs, cut_many, expand, glue_all

_MAX_RESPACED = 20_000  # characters that are matched one by one


def rewritten_runs(original: str, runs: Runs, text: str, encode: Encode | None = None) -> Runs:
    """Return the runs of `text`, which was made of all of `original`.

    Args:
        original: What went in.
        runs: Its runs.
        text: What came out.
        encode: What was done to it, if that can be done to its parts one by one; checked.
    """
    leaves = expand(runs)
    pieces = None if encode is None else _piecewise(original, leaves, text, encode)
    return coarse(leaves, len(text)) if pieces is None else pieces


def respaced_runs(original: str, runs: Runs, text: str) -> Runs:
    """Return the runs of `text`, which differs from `original` in its whitespace alone.

    Anything else is taken as a whole. Arguments as `rewritten_runs`.
    """
    before = [index for index, char in enumerate(original) if not char.isspace()]
    after = [index for index, char in enumerate(text) if not char.isspace()]
    is_same = len(original) <= _MAX_RESPACED and [original[i] for i in before] == [text[i] for i in after]
    if not is_same:
        return rewritten_runs(original, runs, text)
    leaves = expand(runs)
    pieces: list[Runs] = []
    position = 0
    for (start, stop), place in zip(_stretches(before, after), _starts(before, after), strict=True):
        pieces.append(computed_runs(place - position))
        pieces.extend(cut_many(leaves, ((start, stop),)))
        position = place + stop - start
    pieces.append(computed_runs(len(text) - position))
    return glue_all(pieces)


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


def _piecewise(whole: str, runs: Runs, text: str, encode: Encode) -> Runs | None:
    """Return the runs of `text` if it is every run's part of `whole`, encoded separately."""
    made: list[Run] = []
    shown: list[str] = []
    position = 0
    for run in runs:
        piece = whole[position : position + run.length]
        shown.append(encode(piece))
        made.append(run if shown[-1] == piece else escape_run(run, len(shown[-1]), encode))
        position += run.length
    return tuple(run for run in made if run.length) if "".join(shown) == text else None
