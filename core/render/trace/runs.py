"""The algebra of runs: which stretch of a text came from where.

A run says that the next `length` characters share one origin. Runs tile the
text of a `TracedStr`. Offsets `start` and `stop` count characters of the origin:
of the template source for literals, of the field's text for request data, of the
dump's text for dumps. `site` is the template offset of the expression that
printed the run, -1 while it has not been printed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from enum import IntEnum
from typing import NamedTuple, Protocol, TypeAlias

UNPRINTED = -1
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class RunKind(IntEnum):
    """How a run relates to its origin; an `IntEnum` because its hash is cheap."""

    LITERAL = 0  # template text, character for character
    LITERAL_CHANGED = 1  # template text through an escape or a case change
    COPY = 2  # field text, character for character
    CASED = 3  # field text, one character for one, in another case
    ESCAPED = 4  # field text through an escape
    SCALAR = 5  # a number, boolean or null of the request
    STRUCTURE = 6  # keys, quotes and brackets of a serialised container
    ENVIRONMENT = 7  # special tokens of the tokenizer, the clock
    COMPUTED = 8  # made by the template: counters, lengths, padding
    UNKNOWN = 9  # origin lost
    DUMP = 10  # part of a serialised value, split into leaves when needed


NO_CONSTANT = object()


class Field:
    """A place in the request, as a chain of keys from its root.

    Attributes:
        parent: The container, `None` for a root such as `messages`.
        key: Key or index in the container.
        text: The string at that place; `None` for anything else.
        constant: The boolean or null at that place, if it was looked up by its key; else `NO_CONSTANT`.
    """

    __slots__ = ("_path", "constant", "key", "parent", "text")

    def __init__(self, parent: Field | None, key: str | int, text: str | None = None) -> None:
        self.parent = parent
        self.key = key
        self.text = text
        self.constant: object = NO_CONSTANT
        self._path: str | None = None

    @property
    def path(self) -> str:
        """The path as people write it: `messages[0].content`."""
        if self._path is None:
            self._path = join_path("" if self.parent is None else self.parent.path, self.key)
        return self._path


Encode: TypeAlias = Callable[[str], str]


class EscapedField:
    """Field text that went through `encode`; without it only the range is known."""

    __slots__ = ("encode", "field")

    def __init__(self, field: Field, encode: Encode | None) -> None:
        self.field = field
        self.encode = encode


class Folded(Protocol):
    """What a run of kind `DUMP` is part of: a text whose own runs are worked out when first asked for."""

    @property
    def runs(self) -> Runs:
        """Runs that tile its text."""


Source: TypeAlias = Field | EscapedField | Folded | None


class Run(NamedTuple):
    """A stretch of text with one origin; see the module's docstring for the units."""

    length: int
    kind: RunKind
    source: Source = None
    start: int = 0
    stop: int = 0
    site: int = UNPRINTED


Runs: TypeAlias = tuple[Run, ...]

_ONE_TO_ONE = frozenset({RunKind.LITERAL, RunKind.COPY, RunKind.CASED, RunKind.DUMP})
_RANGELESS = frozenset({RunKind.STRUCTURE, RunKind.ENVIRONMENT, RunKind.COMPUTED, RunKind.UNKNOWN})
_RANGED = frozenset({RunKind.COPY, RunKind.CASED, RunKind.ESCAPED})
_PLACED = frozenset({RunKind.SCALAR, RunKind.STRUCTURE, RunKind.ENVIRONMENT, RunKind.COMPUTED})
_BUDGET_FLOOR = 64


class RunBudgetError(Exception):
    """A render made more runs than a prompt can sensibly have; its text is shown unattributed."""


class Budget:
    """What a traced render may still use; guards against templates that rebuild text by character.

    Attributes:
        left: Runs it may still make or copy.
        deadline_s: CPU time of the process at which it is given up.
    """

    __slots__ = ("deadline_s", "left")

    def __init__(self, left: int, seconds: float) -> None:
        self.left = left
        self.deadline_s = time.process_time() + seconds


BUDGET: ContextVar[Budget | None] = ContextVar("run budget", default=None)


def join_path(parent: str, key: str | int) -> str:
    """Return the path of `key` inside `parent`."""
    if isinstance(key, int):
        return f"{parent}[{key}]"
    plain = str.__str__(key)
    if _IDENTIFIER.fullmatch(plain):
        return f"{parent}.{plain}" if parent else plain
    quoted = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'{parent}["{quoted}"]'


def spend(count: int) -> None:
    """Account for making or copying `count` runs; small numbers are free.

    Raises:
        RunBudgetError: The render under way has used up its budget.
    """
    if count < _BUDGET_FLOOR:
        return
    budget = BUDGET.get()
    if budget is not None:
        budget.left -= count
        if budget.left < 0 or time.process_time() > budget.deadline_s:
            raise RunBudgetError


def unknown_runs(length: int) -> Runs:
    """Return the runs of a text whose origin is lost."""
    return (Run(length, RunKind.UNKNOWN),) if length else ()


def computed_runs(length: int) -> Runs:
    """Return the runs of a text that the template made itself."""
    return (Run(length, RunKind.COMPUTED),) if length else ()


def total_length(runs: Iterable[Run]) -> int:
    """Return how many characters `runs` cover."""
    return sum(run.length for run in runs)


def cut(runs: Runs, start: int, stop: int) -> Runs:
    """Return the runs of `text[start:stop]`."""
    if stop <= start:
        return ()
    if len(runs) == 1:
        run = runs[0]
        return runs if start == 0 and stop >= run.length else part(run, start, min(stop, run.length))
    return cut_many(runs, ((start, stop),))[0]


def cut_many(runs: Runs, bounds: Sequence[tuple[int, int]]) -> list[Runs]:
    """Return the runs of several stretches, ascending and not overlapping, in one pass."""
    spend(len(runs))
    pieces: list[Runs] = []
    index, offset, count = 0, 0, len(runs)
    for start, stop in bounds:
        piece: list[Run] = []
        while index < count and offset + runs[index].length <= start:
            offset += runs[index].length
            index += 1
        here, position = index, offset
        while here < count and position < stop:
            run = runs[here]
            if start <= position and position + run.length <= stop:
                piece.append(run)
            else:
                piece.extend(part(run, max(0, start - position), min(run.length, stop - position)))
            position += run.length
            here += 1
        pieces.append(tuple(piece))
    return pieces


def part(run: Run, low: int, high: int) -> Runs:
    """Return the runs of characters `low:high` of one run."""
    length, kind, source, start, stop, site = run
    if high <= low:
        return ()
    if low == 0 and high == length:
        return (run,)
    if kind in _ONE_TO_ONE or (kind is RunKind.LITERAL_CHANGED and stop - start == length):
        return (Run(high - low, kind, source, start + low, start + high, site),)
    if kind is RunKind.ESCAPED and isinstance(source, EscapedField) and source.encode is not None:
        return _part_of_escape(run, source.field.text or "", source.encode, low, high)
    return (Run(high - low, kind, source, start, stop, site),)


def _part_of_escape(run: Run, text: str, encode: Encode, low: int, high: int) -> Runs:
    position, first, cursor = 0, run.start, run.start
    touched = 0
    while cursor < run.stop and position < high:
        width = len(encode(text[cursor]))
        if position + width <= low:
            first, position = cursor + 1, position + width
        else:
            position += width
            touched = cursor + 1
        cursor += 1
    whole = len(encode(text[first:touched])) == high - low
    source = run.source if whole else EscapedField(_field_of(run), None)
    return (Run(high - low, RunKind.ESCAPED, source, first, touched, run.site),)


def _field_of(run: Run) -> Field:
    source = run.source
    if isinstance(source, EscapedField):
        return source.field
    assert isinstance(source, Field)
    return source


def glue(left: Runs, right: Runs) -> Runs:
    """Return the runs of two texts put together, one run where they continue each other."""
    if not left:
        return right
    if not right:
        return left
    spend(len(left) + len(right))
    merged = _merge(left[-1], right[0])
    return left + right if merged is None else (*left[:-1], merged, *right[1:])


def glue_all(parts: Iterable[Runs]) -> Runs:
    """Return the runs of many texts put together."""
    out: list[Run] = []
    for runs in parts:
        if not runs:
            continue
        merged = _merge(out[-1], runs[0]) if out and out[-1].kind is runs[0].kind else None
        if merged is None:
            out.extend(runs)
        else:
            out[-1] = merged
            out.extend(runs[1:])
    spend(len(out))
    return tuple(out)


def _merge(a: Run, b: Run) -> Run | None:
    if a.kind is not b.kind or a.source is not b.source or a.site != b.site:
        return None
    if a.kind in _RANGELESS:
        return Run(a.length + b.length, a.kind, a.source, 0, 0, a.site)
    if a.kind in _ONE_TO_ONE or a.kind is RunKind.ESCAPED:
        return Run(a.length + b.length, a.kind, a.source, a.start, b.stop, a.site) if a.stop == b.start else None
    return None


def stamp(runs: Runs, site: int) -> Runs:
    """Return `runs` with the printing place set where they have none yet."""
    if len(runs) == 1:
        run = runs[0]
        return (_stamped(run, site),)
    return tuple(_stamped(run, site) for run in runs)


def _stamped(run: Run, site: int) -> Run:
    length, kind, source, start, stop, place = run
    return run if place != UNPRINTED else Run(length, kind, source, start, stop, site)


def expand(runs: Runs) -> Runs:
    """Return `runs` with dumps replaced by the runs of their leaves."""
    if all(run.kind is not RunKind.DUMP for run in runs):
        return runs
    return glue_all(_expand_run(run) for run in runs)


def _expand_run(run: Run) -> Runs:
    if run.kind is not RunKind.DUMP:
        return (run,)
    assert not isinstance(run.source, Field | EscapedField | None)
    return stamp(cut(run.source.runs, run.start, run.stop), run.site)


def coarse(runs: Runs, length: int) -> Runs:
    """Return the runs of a text made out of all of `runs` (without dumps), no longer character by character.

    Text of one field stays text of that field, with its range; template text stays template text.
    What was made of several pieces was made by the template.
    """
    if not length:
        return ()
    kinds = {run.kind for run in runs}
    fields = {_field_of(run) for run in runs if run.kind in _RANGED}
    if kinds and kinds <= _RANGED and len(fields) == 1:
        start, stop = min(run.start for run in runs), max(run.stop for run in runs)
        return (Run(length, RunKind.ESCAPED, EscapedField(fields.pop(), None), start, stop),)
    if kinds and kinds <= {RunKind.LITERAL, RunKind.LITERAL_CHANGED}:
        start, stop = min(run.start for run in runs), max(run.stop for run in runs)
        return (Run(length, RunKind.LITERAL_CHANGED, None, start, stop),)
    if len(kinds) == 1 and len({run.source for run in runs}) == 1 and runs[0].kind in _PLACED:
        return (Run(length, runs[0].kind, runs[0].source),)
    return unknown_runs(length) if RunKind.UNKNOWN in kinds or not kinds else computed_runs(length)


def change_case(runs: Runs) -> Runs:
    """Return the runs after a change of case that kept every length."""
    spend(len(runs))
    return tuple(_change_case(run) for run in runs)


def _change_case(run: Run) -> Run:
    length, kind, source, start, stop, site = run
    if kind is RunKind.LITERAL:
        return Run(length, RunKind.LITERAL_CHANGED, source, start, stop, site)
    if kind is RunKind.COPY:
        return Run(length, RunKind.CASED, source, start, stop, site)
    if kind is RunKind.ESCAPED:
        return Run(length, kind, EscapedField(_field_of(run), None), start, stop, site)
    return run
