# mypy: disable-error-code="override"
"""Text that is marked as safe HTML and still knows its origin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import SupportsIndex

import markupsafe

from prompt_debugger.core.render.trace.escapes import escape_html, escape_runs
from prompt_debugger.core.render.trace.runs import Runs, expand, glue
from prompt_debugger.core.render.trace.strings import TracedStr, plain, runs_of, traced


class TracedMarkup(markupsafe.Markup):
    """Safe text; printing, `+` and stripping keep its runs, what other operations make has none."""

    __slots__ = ("_runs",)
    _runs: Runs

    @classmethod
    def of(cls, text: str, runs: Runs) -> TracedMarkup:
        """Return `text` as safe, with its runs."""
        made = str.__new__(cls, text)
        made._runs = runs
        return made

    def __str__(self) -> TracedStr:
        return traced(str.__str__(self), runs_of(self))

    def __add__(self, other: object) -> TracedMarkup:
        if not (isinstance(other, str) or hasattr(other, "__html__")):
            return NotImplemented
        escaped = _escaped(other)
        return TracedMarkup.of(str.__add__(self, plain(escaped)), glue(runs_of(self), runs_of(escaped)))

    def __radd__(self, other: object) -> TracedMarkup:
        if not (isinstance(other, str) or hasattr(other, "__html__")):
            return NotImplemented
        escaped = _escaped(other)
        return TracedMarkup.of(str.__add__(plain(escaped), self), glue(runs_of(escaped), runs_of(self)))

    def strip(self, *args: str | None) -> TracedMarkup:
        """As `str.strip`."""
        return self._from(self.__str__().strip(*args))

    def lstrip(self, *args: str | None) -> TracedMarkup:
        """As `str.lstrip`."""
        return self._from(self.__str__().lstrip(*args))

    def rstrip(self, *args: str | None) -> TracedMarkup:
        """As `str.rstrip`."""
        return self._from(self.__str__().rstrip(*args))

    def lower(self) -> TracedMarkup:
        """As `str.lower`."""
        return self._from(self.__str__().lower())

    def upper(self) -> TracedMarkup:
        """As `str.upper`."""
        return self._from(self.__str__().upper())

    def title(self) -> TracedMarkup:
        """As `str.title`."""
        return self._from(self.__str__().title())

    def capitalize(self) -> TracedMarkup:
        """As `str.capitalize`."""
        return self._from(self.__str__().capitalize())

    def __iter__(self) -> Iterator[str]:
        return iter(self.__str__())

    def __getitem__(self, key: SupportsIndex | slice[int | None, int | None, int | None]) -> TracedMarkup:
        return self._from(self.__str__()[key])

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> TracedMarkup:
        """As `Markup.replace`, which escapes what it puts in."""
        return self._from(self.__str__().replace(old, _escaped(new).__str__(), count))

    def split(self, *args: object, **kwargs: object) -> list[TracedMarkup]:
        """As `str.split`."""
        return [self._from(part) for part in self.__str__().split(*args, **kwargs)]  # type: ignore[arg-type]  # as str does

    @staticmethod
    def _from(text: TracedStr) -> TracedMarkup:
        return TracedMarkup.of(plain(text), text._runs)


TracedMarkup.__name__ = TracedMarkup.__qualname__ = "Markup"
TracedMarkup.__module__ = "markupsafe"


def _escaped(value: object) -> TracedMarkup:
    if isinstance(value, TracedMarkup):
        return value
    if isinstance(value, str) and not hasattr(value, "__html__"):
        text = plain(value)
        return TracedMarkup.of(escape_html(text), escape_runs(expand(runs_of(value)), text, escape_html))
    text = plain(markupsafe.escape(value))
    return TracedMarkup.of(text, runs_of(text))
