"""Printing a value in a template: like `str`, but keeping the origin of each character."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from jinja2.runtime import Undefined
from markupsafe import Markup

from prompt_debugger.core.render.trace.dumps import PYTHON, dumped
from prompt_debugger.core.render.trace.runs import Field, computed_runs, glue_all, stamp, unknown_runs
from prompt_debugger.core.render.trace.strings import TracedStr, runs_of, traced
from prompt_debugger.core.render.trace.values import mark_dumped, place_in, scalar_text

_LONGEST_CONSTANT = 5


def as_text(value: object) -> TracedStr:
    """Return `str(value)` with its runs."""
    if type(value) is TracedStr:
        return value
    if isinstance(value, (dict, list, tuple)):
        mark_dumped(value)
        return dumped(value, PYTHON, str(value))
    text = str(value)
    if type(text) is TracedStr:
        return text
    lost = isinstance(value, (str, Undefined, Markup))
    return traced(text, unknown_runs(len(text)) if lost else computed_runs(len(text)))


def print_value(value: object, site: int) -> TracedStr:
    """Return what an output at template offset `site` prints."""
    text = as_text(value)
    return traced(text, stamp(text._runs, site)) if text else text


def print_entry(container: object, key: object, get: Callable[[object, object], object], site: int) -> TracedStr:
    """Return what an output prints for `get(container, key)`; the container knows the field of a boolean or null."""
    value = get(container, key)
    if type(value) is TracedStr:
        return traced(value, stamp(value._runs, site)) if value else value
    if value is None or isinstance(value, bool):
        place = place_in(container, key)
        if place is not None:
            return print_value(scalar_text(str(value), place), site)
    return print_value(value, site)


def trace_constant(value: object, place: Callable[[], Field | None]) -> object:
    """Return a value about to be printed; a boolean or null of the request becomes text with its field as origin."""
    if value is None or value is True or value is False:
        found = place()
        return value if found is None else scalar_text(str(value), found)
    return value


def trace_filtered(text: object, value: Callable[[], object], place: Callable[[], Field | None]) -> object:
    """Return the result of a filter, about to be printed; see `trace_constant`."""
    if isinstance(text, str) and len(text) <= _LONGEST_CONSTANT and type(value()) in (bool, type(None)):
        found = place()
        return text if found is None else scalar_text(str.__str__(text), found)
    return text


def concatenate(values: Iterable[object]) -> TracedStr:
    """Return several values joined as by `~`."""
    texts = [as_text(value) for value in values]
    return traced("".join(texts), glue_all(text._runs for text in texts))


def join_output(pieces: Iterable[str]) -> TracedStr:
    """Return the pieces that a template or a macro printed as one text."""
    texts = list(pieces)
    joined = "".join(texts)  # first, because it raises on anything that is not text
    runs = [text._runs if type(text) is TracedStr else runs_of(text) for text in texts]
    return traced(joined, glue_all(runs))
