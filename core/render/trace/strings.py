# mypy: disable-error-code="override"
# (typeshed overloads every `str` method for LiteralString; these methods take what `str` takes.)
"""`TracedStr`: a `str` that carries runs through everything a template does with it.

Every method calls the one of `str` first, with the arguments as they came, so text
and error messages are those of `str`; then it works out the runs of the result.
A result whose origin cannot be determined is marked unknown, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import SupportsIndex

from jinja2.runtime import Undefined

from prompt_debugger.core.render.trace.rewriting import respaced_runs, rewritten_runs
from prompt_debugger.core.render.trace.runs import (
    Encode,
    Run,
    RunKind,
    Runs,
    change_case,
    computed_runs,
    cut,
    cut_many,
    expand,
    glue,
    glue_all,
    spend,
    total_length,
    unknown_runs,
)

_MAX_STRIDED = 20_000  # characters of a reversed or strided slice that are traced one by one


class TracedStr(str):
    """A text and the origin of each of its characters."""

    __slots__ = ("_runs",)
    _runs: Runs

    def __new__(cls, value: object = "", *args: str) -> TracedStr:
        """Behave as `str(value)`; a traced text stays itself."""
        if type(value) is TracedStr:
            return value
        return _unknown(str(value, *args) if args else str(value))

    def __str__(self) -> TracedStr:
        return self

    def __format__(self, spec: str) -> str:
        return str.__format__(self, spec) if spec else self

    def __add__(self, other: object) -> TracedStr:
        if isinstance(other, Undefined) or hasattr(other, "__html__"):
            return NotImplemented
        if not isinstance(other, str):
            return _unknown(str.__add__(self, other))  # type: ignore[operator]  # for its error
        return traced(str.__add__(self, other), glue(self._runs, runs_of(other)))

    def __radd__(self, other: object) -> TracedStr:
        if not isinstance(other, str):
            return NotImplemented
        return traced(str.__add__(other, self), glue(runs_of(other), self._runs))

    def __mul__(self, count: SupportsIndex) -> TracedStr:
        if isinstance(count, Undefined):
            return NotImplemented
        check_count(count)
        text = str.__mul__(self, count)
        times = len(text) // len(self) if len(self) else 0
        spend(len(self._runs) * times)
        return traced(text, self._runs * times if times < 4096 else unknown_runs(len(text)))

    __rmul__ = __mul__

    def __getitem__(self, index: SupportsIndex | slice[int | None, int | None, int | None]) -> TracedStr:
        text = str.__getitem__(self, index)
        if not isinstance(index, slice):
            position = index.__index__()
            position += len(self) if position < 0 else 0
            return traced(text, cut(self._runs, position, position + 1))
        start, stop, step = index.indices(len(self))
        if step == 1:
            return self if len(text) == len(self) else traced(text, cut(self._runs, start, start + len(text)))
        if len(text) > _MAX_STRIDED:
            return rewritten(self, text)
        positions = range(start, stop, step)
        ordered = cut_many(self._runs, [(i, i + 1) for i in sorted(positions)])
        return traced(text, glue_all(ordered if step > 0 else reversed(ordered)))

    def __iter__(self) -> Iterator[TracedStr]:
        spend(len(self))
        pieces = cut_many(self._runs, [(i, i + 1) for i in range(len(self))])
        for char, runs in zip(str.__iter__(self), pieces, strict=True):
            yield traced(char, runs)

    # -- parts of the text

    def _part(self, text: str, start: int) -> TracedStr:
        if len(text) == len(self):
            return self
        return traced(text, cut(self._runs, start, start + len(text)))

    def _parts(self, texts: Sequence[str], starts: Sequence[int]) -> list[TracedStr]:
        spend(len(texts))
        bounds = [(start, start + len(text)) for start, text in zip(starts, texts, strict=True)]
        return [traced(text, runs) for text, runs in zip(texts, cut_many(self._runs, bounds), strict=True)]

    def strip(self, *args: str | None) -> TracedStr:
        """As `str.strip`."""
        text = str.strip(self, *args)
        return self._part(text, len(self) - len(str.lstrip(self, *args)) if text else 0)

    def lstrip(self, *args: str | None) -> TracedStr:
        """As `str.lstrip`."""
        text = str.lstrip(self, *args)
        return self._part(text, len(self) - len(text))

    def rstrip(self, *args: str | None) -> TracedStr:
        """As `str.rstrip`."""
        return self._part(str.rstrip(self, *args), 0)

    def removeprefix(self, *args: str) -> TracedStr:
        """As `str.removeprefix`."""
        text = str.removeprefix(self, *args)
        return self._part(text, len(self) - len(text))

    def removesuffix(self, *args: str) -> TracedStr:
        """As `str.removesuffix`."""
        return self._part(str.removesuffix(self, *args), 0)

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[TracedStr]:
        """As `str.split`."""
        texts = str.split(self, sep, maxsplit)
        return self._parts(texts, _starts_forward(self, texts) if sep is None else _starts_joined(texts, len(sep)))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[TracedStr]:
        """As `str.rsplit`."""
        texts = str.rsplit(self, sep, maxsplit)
        return self._parts(texts, _starts_backward(self, texts) if sep is None else _starts_joined(texts, len(sep)))

    def partition(self, *args: str) -> tuple[TracedStr, TracedStr, TracedStr]:
        """As `str.partition`."""
        texts = str.partition(self, *args)
        return tuple(self._parts(texts, _starts_joined(texts, 0)))  # type: ignore[return-value]  # three of them

    def rpartition(self, *args: str) -> tuple[TracedStr, TracedStr, TracedStr]:
        """As `str.rpartition`."""
        texts = str.rpartition(self, *args)
        return tuple(self._parts(texts, _starts_joined(texts, 0)))  # type: ignore[return-value]  # three of them

    def splitlines(self, *args: bool, **kwargs: bool) -> list[TracedStr]:
        """As `str.splitlines`."""
        texts = str.splitlines(self, *args, **kwargs)
        return self._parts(texts, _starts_joined(str.splitlines(self, keepends=True), 0))

    # -- several texts

    def replace(self, *args: str | SupportsIndex, **kwargs: SupportsIndex) -> TracedStr:
        """As `str.replace`."""
        text = str.replace(self, *args, **kwargs)  # type: ignore[arg-type]  # as str does
        old, new = args[0], args[1]
        limit = args[2] if len(args) > 2 else kwargs.get("count", -1)
        assert isinstance(old, str)
        assert isinstance(new, str)
        assert not isinstance(limit, str)
        if not old:
            return self if len(text) == len(self) else rewritten(self, text)
        kept = _outside(self, old, limit.__index__())
        if len(kept) == 1:
            return self
        between = runs_of(new)
        spend(len(kept) * (1 + len(between)))
        pieces: list[Runs] = []
        for runs in cut_many(self._runs, kept):
            pieces.extend((runs, between))
        return traced(text, glue_all(pieces[:-1]))

    def join(self, items: Iterable[str]) -> TracedStr:
        """As `str.join`."""
        texts = list(items) if hasattr(items, "__iter__") else items
        text = str.join(self, texts)
        pieces: list[Runs] = []
        for item in texts:
            pieces.extend((runs_of(item), self._runs))
        return traced(text, glue_all(pieces[:-1]))

    # -- case and padding

    def _cased(self, text: str, encode: Encode | None = None) -> TracedStr:
        if str.__eq__(text, self):
            return self
        if len(text) != len(self):  # such as ß -> SS: positions no longer correspond
            return rewritten(self, text, encode)
        return traced(text, change_case(expand(self._runs)))

    def lower(self) -> TracedStr:
        """As `str.lower`."""
        return self._cased(str.lower(self), str.lower)

    def upper(self) -> TracedStr:
        """As `str.upper`."""
        return self._cased(str.upper(self), str.upper)

    def title(self) -> TracedStr:
        """As `str.title`."""
        return self._cased(str.title(self))

    def capitalize(self) -> TracedStr:
        """As `str.capitalize`."""
        return self._cased(str.capitalize(self))

    def swapcase(self) -> TracedStr:
        """As `str.swapcase`."""
        return self._cased(str.swapcase(self), str.swapcase)

    def casefold(self) -> TracedStr:
        """As `str.casefold`."""
        return self._cased(str.casefold(self), str.casefold)

    def _padded(self, text: str, left: int) -> TracedStr:
        if not str.startswith(text, str.__str__(self), left):
            return _unknown(text)
        return traced(text, computed_runs(left) + self._runs + computed_runs(len(text) - left - len(self)))

    def ljust(self, *args: SupportsIndex | str) -> TracedStr:
        """As `str.ljust`."""
        return self._padded(str.ljust(self, *args), 0)  # type: ignore[arg-type]  # as str does

    def rjust(self, *args: SupportsIndex | str) -> TracedStr:
        """As `str.rjust`."""
        text = str.rjust(self, *args)  # type: ignore[arg-type]  # as str does
        return self._padded(text, len(text) - len(self))

    def center(self, *args: SupportsIndex | str) -> TracedStr:
        """As `str.center`."""
        text = str.center(self, *args)  # type: ignore[arg-type]  # as str does
        pad = len(text) - len(self)
        return self._padded(text, pad // 2 + (pad & len(text) & 1))

    def zfill(self, *args: SupportsIndex) -> TracedStr:
        """As `str.zfill`."""
        text = str.zfill(self, *args)
        return self._padded(text, len(text) - len(self))

    def translate(self, *args: object) -> TracedStr:
        """As `str.translate`."""

        def encode(text: str) -> str:
            return str.translate(text, *args)  # type: ignore[arg-type]  # as str does

        return rewritten(self, encode(plain(self)), encode)

    def expandtabs(self, *args: SupportsIndex, **kwargs: SupportsIndex) -> TracedStr:
        """As `str.expandtabs`."""
        text = str.expandtabs(self, *args, **kwargs)
        return self if len(text) == len(self) and "\t" not in self else respaced(self, text)


TracedStr.__name__ = TracedStr.__qualname__ = "str"  # error messages and reprs name the type
TracedStr.__module__ = "builtins"


def traced(text: str, runs: Runs) -> TracedStr:
    """Return `text` with its runs, which must tile it."""
    made = str.__new__(TracedStr, text)
    made._runs = runs
    return made


def check_count(count: object) -> None:
    """Raise what `sequence * count` raises if `count` is not an integer."""
    if not hasattr(count, "__index__"):
        raise TypeError(f"can't multiply sequence by non-int of type '{type(count).__name__}'")


def plain(text: str) -> str:
    """Return the text alone."""
    return str.__str__(text)


def runs_of(text: str) -> Runs:
    """Return the runs of any text; unknown for one that carries none."""
    runs: Runs | None = getattr(text, "_runs", None)
    return unknown_runs(len(text)) if runs is None else runs


def literal(text: str, kind: RunKind, start: int, stop: int) -> TracedStr:
    """Return a text of the template, at `start:stop` of its source."""
    return traced(text, (Run(len(text), kind, None, start, stop),) if text else ())


def fitting(text: str, runs: Runs) -> TracedStr:
    """Return `text` with `runs` if they tile it, else with its origin unknown."""
    return traced(text, runs if total_length(runs) == len(text) else unknown_runs(len(text)))


def rewritten(original: TracedStr, text: str, encode: Encode | None = None) -> TracedStr:
    """Return `text`, which was made of all of `original`; see `rewritten_runs`."""
    return traced(text, rewritten_runs(plain(original), original._runs, text, encode))


def respaced(original: TracedStr, text: str) -> TracedStr:
    """Return `text`, which differs from `original` in its whitespace alone; anything else is taken as a whole."""
    return traced(text, respaced_runs(plain(original), original._runs, text))


def _unknown(text: str) -> TracedStr:
    return traced(text, unknown_runs(len(text)))


def _starts_joined(texts: Sequence[str], gap: int) -> list[int]:
    starts, position = [], 0
    for text in texts:
        starts.append(position)
        position += len(text) + gap
    return starts


def _starts_forward(whole: str, texts: Sequence[str]) -> list[int]:
    starts, position = [], 0
    for text in texts:
        position = str.find(whole, text, position)
        starts.append(position)
        position += len(text)
    return starts


def _starts_backward(whole: str, texts: Sequence[str]) -> list[int]:
    starts, position = [], len(whole)
    for text in reversed(texts):
        position = str.rfind(whole, text, 0, position)
        starts.append(position)
    return starts[::-1]


def _outside(whole: str, old: str, limit: int) -> list[tuple[int, int]]:
    """Return the stretches of `whole` before, between and after the first `limit` hits of `old`."""
    kept, position = [], 0
    while limit != 0:
        hit = str.find(whole, old, position)
        if hit < 0:
            break
        kept.append((position, hit))
        position = hit + len(old)
        limit -= 1
    return [*kept, (position, len(whole))]
