"""Escaping, one character at a time: what JSON, `repr` and HTML do to a text inside quotes."""

from __future__ import annotations

from json.encoder import encode_basestring, encode_basestring_ascii

import markupsafe

from prompt_debugger.core.render.trace.runs import Encode, EscapedField, Field, Run, RunKind, Runs


def escape_json(text: str) -> str:
    """Return `text` as it appears between the quotes of a JSON string."""
    return encode_basestring(text)[1:-1]


def escape_json_ascii(text: str) -> str:
    """Return `text` as it appears between the quotes of an ASCII-only JSON string."""
    return encode_basestring_ascii(text)[1:-1]


def escape_repr(text: str) -> str:
    """Return `text` as it appears in a `repr` that uses single quotes."""
    return repr('"' + str.__str__(text))[2:-1]  # a double quote inside makes repr choose single ones


def escape_repr_double(text: str) -> str:
    """Return `text`, which contains no double quote, as it appears in a `repr` that uses double quotes."""
    return repr("'" + str.__str__(text))[2:-1]


def escape_html(text: str) -> str:
    """Return `text` as HTML escaping leaves it."""
    return str.__str__(markupsafe.escape(str.__str__(text)))


def choose_repr(text: str) -> Encode:
    """Return the escape that `repr` applies to `text`, by the quotes it will choose."""
    return escape_repr_double if "'" in text and '"' not in text else escape_repr


def escape_runs(runs: Runs, text: str, encode: Encode) -> Runs:
    """Return the runs of `encode(text)`; `runs` tile `text` and hold no dumps.

    Every escape here works on one character at a time, so runs can be escaped one by one;
    what another `encode` does to its neighbours is for the caller to check.
    """
    if len(runs) == 1:
        return (_resized(runs[0], len(encode(text)), encode),)
    out: list[Run] = []
    position = 0
    for run in runs:
        out.append(_resized(run, len(encode(text[position : position + run.length])), encode))
        position += run.length
    return tuple(out)


def _resized(run: Run, length: int, encode: Encode) -> Run:
    return run if length == run.length else escape_run(run, length, encode)


def escape_run(run: Run, length: int, encode: Encode) -> Run:
    """Return what a run becomes whose text `encode` changed, and which has `length` characters then."""
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
