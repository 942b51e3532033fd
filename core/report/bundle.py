"""A whole run in one JSON file that can be opened again: `write_bundle` and `read_bundle`.

The file is the `run --json` document of the contract, nothing left out (`core.report.wire`), and its header:

    {"schema_version": 1, "evidence": …, "request": …, …,
     "bundle": {"version": 2, "program": "0.1.0", "sha256": "…"}}

Scripts and this program read the same fields. Version 1 said everything twice, the
second time in `bundle.trace`. Secrets are not looked for here; who shares a trace
takes them out of it first.
"""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.types import JSON, SCHEMA_VERSION, JSONObject, Trace
from prompt_debugger.core.report.embedded import HTML_OPENING, MARK, NOT_INCLUDED
from prompt_debugger.core.report.wire import DamageError, trace_from_json, trace_to_json, write_json

BUNDLE_VERSION = 2

_AGAIN = "Use the original file as an attachment, not pasted into a text that changes quotes or line endings."
_HOW = "Bundles are written by Share, JSON bundle on the page, and by `run --report DIR`."


class Bundle(NamedTuple):
    """What a file held.

    Attributes:
        program: Version of the program that wrote it; "" if it did not know its own.
        is_edited: Whether the file was changed after it was written.
    """

    trace: Trace
    program: str
    is_edited: bool


def write_bundle(trace: Trace, program: str = "") -> str:
    """Return a run as the text of a bundle, with this program's version; `read_bundle` gives the equal trace back."""
    document = trace_to_json(trace, whole=True)
    more: JSONObject = {"version": BUNDLE_VERSION, "program": program}
    document["bundle"] = more
    document["bundle"] = {**more, "sha256": _digest(document)}
    lines = (f"{json.dumps(name)}: {write_json(value, is_dense=True)}" for name, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_bundle(text: str, *, max_chars: int | None = None) -> Bundle:
    """Read the text of a bundle; trusts nothing in it.

    Args:
        text: The file.
        max_chars: A longer text is refused.

    Raises:
        RequestError: It is not a bundle, or of a version that this program does not know, or damaged; says where and
            what to do.
    """
    if max_chars is not None and len(text) > max_chars:
        raise RequestError(
            f"The bundle has {len(text):,} characters; at most {max_chars:,} are read here.",
            "Open it on the command line: `run --bundle FILE`.",
        )
    document = _read_json(text)
    more = _checked_header(document)
    program, digest = more.get("program"), more.pop("sha256", None)
    is_edited = digest != _digest(document)
    del document["bundle"]
    written_by = program if isinstance(program, str) else ""
    try:
        return Bundle(trace_from_json(document), written_by, is_edited)
    except DamageError as damage:
        by = f" It was written by version {written_by}." if written_by else ""
        where = f" at `{damage.place}`" if damage.place else ""
        raise RequestError(
            f"The bundle is damaged{where}: {damage.problem}", _AGAIN + by, field=damage.place or None
        ) from None


def is_bundle(value: JSON) -> bool:
    """Return whether a JSON value claims to be a bundle."""
    return isinstance(value, dict) and isinstance(value.get("bundle"), dict)


def _read_json(text: str) -> JSONObject:
    try:
        document: JSON = json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        if problem := _other_file(text):
            raise problem from None
        is_cut = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated")
        where = "the end is missing" if is_cut else error.msg
        raise RequestError(
            f"The bundle is not valid JSON: {where}.", _AGAIN, line=error.lineno, column=error.colno
        ) from None
    except RecursionError:
        raise RequestError("The bundle cannot be read: its values are nested too deeply.", _AGAIN) from None
    except RequestError:
        raise
    except ValueError:  # of Python, about its own limit
        raise RequestError("The bundle cannot be read: one of its numbers has thousands of digits.", _AGAIN) from None
    if not isinstance(document, dict):
        raise RequestError(f"A bundle is a JSON object; this is {shorten(document)}.", _HOW)
    return document


def _other_file(text: str) -> RequestError | None:
    """Return why there is no run in a file that another form of sharing wrote; `None` if none of them did."""
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):  # a bundle whose texts speak of such files
        return None
    if text.rstrip().endswith(NOT_INCLUDED):
        return RequestError(
            "This Markdown report does not contain its run: the run was too long for it.",
            "Open the JSON bundle or the HTML report of the same run.",
        )
    for mark, name in ((HTML_OPENING, "HTML report"), (MARK, "Markdown report")):
        if mark in text:
            return RequestError(f"The run in this {name} did not arrive completely.", "Choose the file again.")
    return None


def _refuse_constant(name: str) -> None:
    raise RequestError(f"The bundle cannot be read: `{name}` is not JSON.", _AGAIN)


def _checked_header(document: JSONObject) -> JSONObject:
    """Return the `bundle` field of a document of a version that is known."""
    more = document.get("bundle")
    if not isinstance(more, dict):
        if "messages" in document:
            raise RequestError("This is a request, not a bundle of a run.", "Paste it as a request and run it.")
        if "schema_version" in document:
            raise RequestError("This is the output of `run --json`, which does not contain the whole run.", _HOW)
        raise RequestError("This JSON is not a bundle of a run: it has no field `bundle`.", _HOW, field="bundle")
    for name, found, known in (
        ("bundle.version", more.get("version"), BUNDLE_VERSION),
        ("schema_version", document.get("schema_version"), SCHEMA_VERSION),
    ):
        if type(found) is not int or found != known:
            hint = _AGAIN
            if type(found) is int:
                hint = "Update this program to open it." if found > known else _older(more)
            raise RequestError(f"`{name}` is {shorten(found)}; this program reads {known}.", hint, field=name)
    return more


def _older(more: JSONObject) -> str:
    by = more.get("program")
    writer = f"version {by}" if isinstance(by, str) and by else "the version that wrote it"
    return f"Open it with {writer}, or run its `request` again."


def _digest(document: JSONObject) -> str:
    text = write_json(document, is_dense=True, is_sorted=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
