"""Jinja filters that keep the runs of their value, in place of those that would drop them.

Each first calls the filter that it replaces: that one's text and errors are what counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial, wraps
from typing import Protocol

import markupsafe
from jinja2 import filters, pass_environment
from jinja2.environment import Environment

from prompt_debugger.core.render.trace.dumps import PYTHON, dumped, json_notation, plain_value
from prompt_debugger.core.render.trace.escapes import escape_html, escape_runs
from prompt_debugger.core.render.trace.formatting import formatted
from prompt_debugger.core.render.trace.markup import TracedMarkup
from prompt_debugger.core.render.trace.printing import as_text
from prompt_debugger.core.render.trace.printing import join_output as join_texts
from prompt_debugger.core.render.trace.runs import computed_runs, cut_many, expand, glue_all
from prompt_debugger.core.render.trace.strings import TracedStr, plain, respaced, rewritten, runs_of, traced
from prompt_debugger.core.render.trace.values import mark_dumped

_PRINTS_FIRST = ("trim", "upper", "lower", "capitalize", "replace", "center")
_TOJSON_NAMES = ("ensure_ascii", "indent", "separators", "sort_keys")


class Filter(Protocol):
    """A Jinja filter."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Return what the filter makes of its first argument."""


def tracing_filters(originals: Mapping[str, Filter]) -> dict[str, object]:
    """Return the filters of a tracing environment, made over those of the plain one."""
    made: dict[str, object] = dict(originals)
    made["tojson"] = partial(_to_json, originals["tojson"])
    made["pprint"] = partial(_pretty, originals["pprint"])
    made["format"] = partial(_format, originals["format"])
    made["join"] = _join
    made["indent"] = _indent
    made["title"] = _title
    made["string"] = _string
    made["safe"] = _mark_safe
    for name in ("e", "escape"):
        made[name] = _escape
    made["forceescape"] = _force_escape
    made["truncate"] = _truncating(originals["truncate"])
    made["wordwrap"] = _wrapping(originals["wordwrap"])
    for name in ("striptags", "urlencode", "xmlattr", "filesizeformat", "urlize"):
        made[name] = _made_of(originals[name])
    for name in _PRINTS_FIRST:
        made[name] = _printing_first(originals[name])
    return made


def _to_json(original: Filter, value: object, *args: object, **kwargs: object) -> TracedStr:
    text = str(original(plain_value(value), *args, **kwargs))
    mark_dumped(value)
    options = dict(zip(_TOJSON_NAMES, args, strict=False)) | kwargs
    return dumped(value, json_notation(**options), text)


def _pretty(original: Filter, value: object) -> TracedStr:
    text = str(original(plain_value(value)))
    mark_dumped(value)
    if text == repr(plain_value(value)):
        return dumped(value, PYTHON, text)
    return rewritten(as_text(value), plain(text))


def _format(original: Filter, value: object, *args: object, **kwargs: object) -> object:
    template = value if isinstance(value, str) else str(value)
    text = original(template, *args, **kwargs)
    if type(template) is not TracedStr or not isinstance(text, str):
        return text
    return formatted(template, kwargs or args, plain(text))


@pass_environment
def _join(environment: Environment, value: Iterable[object], d: object = "", attribute: str | int | None = None) -> str:
    if attribute is not None:
        value = map(filters.make_attrgetter(environment, attribute), value)
    return as_text(d).join([as_text(item) for item in value])


def _indent(s: object, width: int | str = 4, *args: bool, **kwargs: bool) -> str:
    if isinstance(s, markupsafe.Markup):
        return filters.do_indent(s, width, *args, **kwargs)
    text = plain(filters.do_indent(plain(s) if isinstance(s, str) else s, width, *args, **kwargs))  # type: ignore[arg-type]  # as given
    options = dict(zip(("first", "blank"), args, strict=False)) | kwargs
    level = as_text(width) if isinstance(width, str) else traced(" " * width, computed_runs(max(0, width)))
    whole = as_text(s)
    lines = (whole + traced("\n", computed_runs(1))).splitlines(keepends=True)
    pieces: list[TracedStr] = [level] if options.get("first") else []
    for index, line in enumerate(lines):
        if index and (options.get("blank") or line.strip("\r\n")):
            pieces.append(level)
        pieces.append(line)
    made = join_texts(pieces)[:-1]
    return made if plain(made) == text else rewritten(whole, text)


def _title(s: object) -> str:
    text = filters.do_title(s)  # type: ignore[arg-type]  # what Jinja passes
    return as_text(s)._cased(plain(text))


def _string(value: object) -> str:
    return value if isinstance(value, str) else as_text(value)


def _mark_safe(value: object) -> markupsafe.Markup:
    text = as_text(value)
    return TracedMarkup.of(plain(text), text._runs)


def _escape(value: object) -> markupsafe.Markup:
    if hasattr(value, "__html__"):
        return markupsafe.escape(value)
    text = as_text(value)
    return TracedMarkup.of(escape_html(text), escape_runs(expand(runs_of(text)), plain(text), escape_html))


def _force_escape(value: object) -> markupsafe.Markup:
    return _escape(str(value.__html__()) if hasattr(value, "__html__") else value)


def _truncating(original: Filter) -> Filter:
    """Return the filter that cuts a text, its value traced: the environment, the text, then its options."""

    @wraps(original)
    def truncate(*args: object, **kwargs: object) -> object:
        value, text = args[1] if len(args) > 1 else None, original(*args, **kwargs)
        ending = args[4] if len(args) > 4 else kwargs.get("end", "...")
        if type(value) is not TracedStr or not isinstance(text, str) or not isinstance(ending, str):
            return text
        return value if len(text) == len(value) else _append_ending(value, plain(text), ending)

    return truncate


def _append_ending(original: TracedStr, text: str, ending: str) -> TracedStr:
    """Return `text`, which is the front of `original` and then `ending`, made by the template."""
    kept = len(text) - len(ending)
    if plain(original)[:kept] + plain(ending) != text:
        return rewritten(original, text)
    runs = runs_of(ending) if type(ending) is TracedStr else computed_runs(len(ending))
    return traced(text, glue_all((cut_many(original._runs, ((0, kept),))[0], runs)))


def _wrapping(original: Filter) -> Filter:
    """Return the filter that breaks a text into lines, its value traced."""

    @wraps(original)
    def wrap(*args: object, **kwargs: object) -> object:
        value, text = args[1] if len(args) > 1 else None, original(*args, **kwargs)
        return respaced(value, plain(text)) if type(value) is TracedStr and isinstance(text, str) else text

    return wrap


def _made_of(original: Filter) -> Filter:
    """Return a filter whose text comes from its whole value, with no part that can be traced further."""
    place = 0 if getattr(original, "jinja_pass_arg", None) is None else 1

    @wraps(original)
    def filtered(*args: object, **kwargs: object) -> object:
        made = original(*args, **kwargs)
        if not isinstance(made, str) or hasattr(made, "__html__") or len(args) <= place:
            return made
        mark_dumped(args[place])
        return rewritten(as_text(args[place]), plain(made))

    return filtered


def _printing_first(original: Filter) -> Filter:
    """Return a filter that prints its value with runs before the original sees it."""
    place = 0 if getattr(original, "jinja_pass_arg", None) is None else 1  # after the context, if it takes one

    @wraps(original)
    def filtered(*args: object, **kwargs: object) -> object:
        values = list(args)
        if len(values) > place and not isinstance(values[place], str):
            values[place] = as_text(values[place])
        return original(*values, **kwargs)

    return filtered
