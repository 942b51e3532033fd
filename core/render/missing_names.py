"""A filter or test that a template names and Jinja does not have: which, where, and what was probably meant."""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

import jinja2

_SAID = re.compile(r"No (filter|test) named '([^']{1,100})'(?: found)?\.")


class MissingName(NamedTuple):
    """A name that a template uses and its environment lacks.

    Attributes:
        kind: `filter` or `test`.
        name: The name.
        line: Line of its first use, from 1.
        column: Column of it, from 1.
    """

    kind: str
    name: str
    line: int | None
    column: int | None

    @property
    def meant(self) -> str:
        """The name that was probably meant; "" if none is near."""
        environment = jinja2.Environment()
        known = [*(environment.filters if self.kind == "filter" else environment.tests)]
        close = difflib.get_close_matches(self.name, known, n=1, cutoff=0.6)
        return close[0] if close else ""


def missing_name(error: Exception, message: str, template: str) -> MissingName | None:
    """Return what an error of Jinja says is missing, with its place; `None` if it says something else.

    A template can raise the same words itself; that is another class of errors.
    """
    said = _SAID.fullmatch(message)
    if said is None or not isinstance(error, jinja2.TemplateRuntimeError | jinja2.TemplateAssertionError):
        return None
    kind, name = said[1], said[2]
    line = _line_of(template, kind, name)
    if line is None:
        return MissingName(kind, name, None, None)
    use = rf"\|\s*({re.escape(name)})\b" if kind == "filter" else rf"\bis\s+(?:not\s+)?({re.escape(name)})\b"
    text = template.splitlines()[line - 1]
    found = re.search(use, text) or re.search(rf"\b({re.escape(name)})\b", text)
    return MissingName(kind, name, line, None if found is None else found.start(1) + 1)


def _line_of(template: str, kind: str, name: str) -> int | None:
    """Return the line of the first use; texts and comments that hold the same word are none."""
    before: tuple[str, ...] = ()
    in_block = False
    try:
        for line, token, value in jinja2.Environment().lex(template):
            if token in ("whitespace", "data"):
                continue
            is_use = before[-1:] == ("|",) if kind == "filter" else before[-1:] == ("is",) or before == ("is", "not")
            if token == "name" and value == name and (is_use or in_block):
                return line
            in_block = kind == "filter" and token == "name" and value == "filter" and before[-1:] == ("{%",)
            before = (*before[-1:], value.strip("-+") if token == "block_begin" else value)
    except jinja2.TemplateSyntaxError:
        return None
    return None
