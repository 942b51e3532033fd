"""What every command prints and how it ends."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TextIO

from pygments import highlight
from pygments.formatters.terminal256 import Terminal256Formatter
from pygments.lexers.data import JsonLexer
from pygments.style import Style
from pygments.token import Comment, Keyword, Name, Number, String, Token

from prompt_debugger.core.base.errors import DebuggerError, RenderError, RequestError
from prompt_debugger.core.base.files import read_named
from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.machine import fault_of
from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import JSON, Finding, Request, Severity
from prompt_debugger.core.report import redact_json, redact_text
from prompt_debugger.core.report.wire import write_json
from prompt_debugger.core.request import MAX_CHARS, read_request
from prompt_debugger.ui.cli.progress import clear, log

OK, FOUND, COULD_NOT_RUN = 0, 1, 2

_MAX_SOURCE = 100  # characters of a template line


def print_json(document: JSON) -> None:
    """Print one JSON document on one line, on a terminal in colours; any text survives, lone surrogates included."""
    clear()
    sys.stdout.write(_shown(write_json(document)) + "\n")
    sys.stdout.flush()


def _shown(text: str) -> str:
    if not sys.stdout.isatty():
        return text  # nor is pygments imported

    return coloured_json(text, sys.stdout)


def print_text(text: str) -> None:
    """Print text, replacing what would drive the terminal and what its encoding cannot show."""
    clear()
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(printable(text).encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def print_result(options: argparse.Namespace, document: JSON, text: str) -> None:
    """Print what a command found: as its JSON document with `--json`, else as text."""
    if options.json:
        print_json(document)
    else:
        print_text(text)


def report_error(error: DebuggerError, *, as_json: bool) -> int:
    """Say why a command could not run; returns its exit status. A server's words may contain a key, and logs stay."""
    if as_json:
        try:
            print_json({"error": redact_json(error.to_json())})
        except OSError:  # it may be the very place that cannot be written
            stop_printing()
    sentence = redact_text(sentences(redact_text(error.message), redact_text(error.hint)))  # as `masked_line` does
    log(f"{type(error).__name__}: {sentence}")
    if isinstance(error, RenderError) and error.source_line is not None:
        log(template_place(error.template_line or 1, error.template_column, error.source_line))
    return COULD_NOT_RUN


def template_place(line: int, column: int | None, source: str) -> str:
    """Return a line of a template with its number, and a caret below the column; of a long line the part around it.

    >>> print(template_place(62, 4, "{{ raise_exception('no') }}"))
      62 | {{ raise_exception('no') }}
         |    ^
    """
    start = 0 if column is None else max(0, column - 1 - _MAX_SOURCE // 2)
    shown = printable(source[start : start + _MAX_SOURCE].replace("\t", " "))
    number = f"  {line} | "
    if column is None:
        return number + shown
    return f"{number}{shown}\n{' ' * (len(number) - 2)}| {' ' * (column - 1 - start)}^"


def machine_fault(error: BaseException) -> DebuggerError | None:
    """Return the fault of the machine that an error reports, or what the system refused; `None` for any other.

    Where standard output cannot be written, nothing more is printed there.
    """
    if isinstance(error, OSError) and error.filename is None and not _can_flush():
        stop_printing()
        return fault_of(error, "writing to standard output") or RequestError(
            f"Cannot write to standard output: {error.strerror or error}."
        )
    fault = fault_of(error)
    if fault is not None or not isinstance(error, OSError):
        return fault
    named = "" if error.filename is None else f" ({str(error.filename)!r})"
    return RequestError(f"The system refused the operation{named}: {error.strerror or error}.")


def stop_printing() -> None:
    """Let what is printed from now on go nowhere, and what waits in a buffer with it."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _can_flush() -> bool:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return True


def sentences(message: str, hint: str) -> str:
    """Return a message and its hint on one line, with a full stop between them."""
    sentence, hint = one_line(message), one_line(hint or "")
    stop = "." if hint and not sentence.endswith((".", "!", "?", ":", ";")) else ""
    return f"{sentence}{stop} {hint}".rstrip()


def one_line(text: str) -> str:
    """Return `text` with its whitespace folded to single spaces."""
    return " ".join(text.split())


def masked_line(text: str) -> str:
    """Return `text` on one line, without keys: some are known by their line, others by what then is around them."""
    return redact_text(one_line(redact_text(text)))


def exit_status(findings: Iterable[Finding]) -> int:
    """Return 1 if there is a finding of severity `error`, else 0."""
    return FOUND if any(finding.severity is Severity.ERROR for finding in findings) else OK


def read_input(name: str) -> str:
    """Return the text of a file, or of standard input for `-`.

    Raises:
        RequestError: The file cannot be read, is too long, or is neither UTF-8 nor UTF-16 text.
    """
    return decoded(read_named(name), name)


_NO_TEXT = {
    b"\x89PNG\r\n\x1a\n": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "compressed with gzip",
    b"%PDF-": "a PDF document",
}
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")  # PowerShell's `>` begins its files with one
_AS_TEXT = "Give its words as text."
_UNPACK = "Unpack it first."
_HINT_BY_KIND = {
    "a picture (PNG)": "A picture that this program made of a run, and that nothing has saved anew since, opens with "
    "`run --bundle`. Of any other, give the words as text.",
    "a zip archive": _UNPACK,
    "compressed with gzip": _UNPACK,
}


def decoded(data: bytes, name: str) -> str:
    """Return what a file holds as text.

    Raises:
        RequestError: It is neither UTF-8 text, nor UTF-16 text with its mark.
    """
    if data.startswith(_UTF_16_MARKS):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        kind = next((kind for head, kind in _NO_TEXT.items() if data.startswith(head)), None)
        if kind is not None:
            raise RequestError(f"{name!r} is {kind}, not text.", _HINT_BY_KIND.get(kind, _AS_TEXT)) from None
        raise RequestError(f"{name!r} is not UTF-8 text (byte {error.start}).", "Save it as UTF-8.") from None


def read_request_file(name: str) -> Request:
    """Return the request in a file, or in standard input for `-`; of a long captured exchange only that counts.

    Raises:
        RequestError: The file cannot be read, or contains no request.
    """
    text = read_input(name)
    if len(text) > MAX_CHARS:
        value = decode_json(text)
        if isinstance(value, dict) and isinstance(inner := value.get("request"), dict) and "captured" in value:
            text = json.dumps(inner, ensure_ascii=False)
    try:
        return read_request(text)
    except RequestError:
        if (what := describe_other(text)) is not None:
            raise RequestError(f"This is {what}, without a request.", "`inspect` reads it.") from None
        raise


def describe_other(text: str) -> str | None:
    """Return in words what a text is that shows no request but an answer, an output or an error; else `None`."""
    from prompt_debugger.core.evidence import read_evidence

    try:
        evidence = read_evidence(text)
    except RequestError:
        return None
    return evidence.words if evidence.request is None else None


def read_json_file(name: str, subject: str) -> JSON:
    """Return the JSON value in a file.

    Raises:
        RequestError: It cannot be read, or is not JSON; names the line and column.
    """
    try:
        value: JSON = json.loads(read_input(name))
    except json.JSONDecodeError as error:
        raise RequestError(
            f"{subject} {name!r} is not JSON: {error.msg}", line=error.lineno, column=error.colno, field=subject
        ) from None
    except RecursionError:
        raise RequestError(f"{subject} {name!r} is nested too deeply to be read.", field=subject) from None
    return value


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--json` and `--report`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else on stdout")
    parser.add_argument("--report", metavar="DIR", help="write the shareable files into this folder")


MAX_COLOURED_CHARS = 200_000  # a longer document is for a program, and colouring it would take seconds


class PlainStyle(Style):
    """Colours of the 256 that every terminal has, those alone that can be told from white and from black."""

    styles = {  # noqa: RUF012  # pygments reads it from the class
        Token: "",
        Name.Tag: "#5f5fff",
        String: "#00875f",
        Number: "#af5f5f",
        Keyword: "#875fd7",
        Comment: "#767676",
    }


def wants_colour(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether a person looks at a stream and takes colours."""
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def coloured_json(text: str, stream: TextIO) -> str:
    """Return JSON text as a stream should show it; without its colours it is the same text."""
    if len(text) > MAX_COLOURED_CHARS or not wants_colour(stream, os.environ):
        return text
    return highlight(text, JsonLexer(stripnl=False, ensurenl=False), Terminal256Formatter(style=PlainStyle))
