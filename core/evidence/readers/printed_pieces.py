"""Pieces of streamed calls as a person's loop prints their fields, one piece a line.

    index=0 id=call_a function=search args=
    index=0 id=None function=None args={"query":
    [2] index: 0 | id: None | name: None | arguments: ' "rain"}'

Each line has all four fields in one order; what is printed without quotation marks runs to the next field.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import read_stream
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, as_part, of_deltas_alone
from prompt_debugger.core.evidence.values.python_repr import read_printed

_MAX_CHARS = 400_000
_MAX_LINES = 5_000
_IS, _NEXT = r"[ \t]{0,3}[=:][ \t]{0,3}", r"[ \t]{0,3}[,;|]?[ \t]{1,3}"
_LINE = re.compile(
    rf"(?m)^[^\n={{}}]{{0,40}}?\bindex{_IS}(?P<index>\d{{1,3}}){_NEXT}(?:tool_call_)?id{_IS}(?P<id>[^\s,;|]{{1,120}}){_NEXT}"
    rf"(?:type{_IS}\S{{1,20}}{_NEXT})?(?:function|name|function_name|tool|func){_IS}(?P<name>[^\s,;|]{{1,120}}){_NEXT}"
    r"(?:args|arguments|args_delta|arguments_delta)[ \t]{0,3}[=:] ?(?P<arguments>[^\n]*)$"
)
_ABSENT = frozenset({"None", "null", "undefined", "<nil>", "''", '""', "-"})
_QUOTES = ("'", '"')


def _finds(paste: Paste) -> float:
    return 0.93 if paste.value is None and len(_pieces(paste.text)) > 1 else 0.0


def _read(paste: Paste) -> Evidence:
    pieces = _pieces(paste.text)
    lines = "\n".join(json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]}) for one in pieces)
    note = f"{len(pieces):,} printed lines were read as the pieces of a stream's calls."
    evidence = Evidence(Form.STREAM, "a streamed response", notes=(note,))
    return of_deltas_alone(add_answer(evidence, as_part(read_stream(lines))))


@lru_cache(maxsize=4)
def _pieces(text: str) -> tuple[JSONObject, ...]:
    """Return the pieces of calls that a text prints, the first of them with a name; none of any other text."""
    if len(text) > _MAX_CHARS or "index" not in text:
        return ()
    found = [_piece(line) for line in list(_LINE.finditer(text))[:_MAX_LINES]]
    is_stream = bool(found) and "name" in _function(found[0]) and not all("name" in _function(one) for one in found)
    return tuple(found) if is_stream else ()


def _piece(line: re.Match[str]) -> JSONObject:
    function: JSONObject = {"arguments": _text(line["arguments"], is_open=True)}
    piece: JSONObject = {"index": int(line["index"]), "function": function}
    if line["id"] not in _ABSENT:
        piece["id"] = _text(line["id"])
    if line["name"] not in _ABSENT:
        function["name"] = _text(line["name"])
    return piece


def _function(piece: JSONObject) -> JSONObject:
    function: JSON = piece["function"]
    return function if isinstance(function, dict) else {}


def _text(written: str, *, is_open: bool = False) -> str:
    """Return a value as it was before it was printed; what has no quotation marks is printed as it is."""
    stripped = written.strip()
    if is_open and stripped in _ABSENT:
        return ""
    read = read_printed(stripped) if stripped.startswith(_QUOTES) else None
    is_whole = read is not None and not read.is_cut and read.stop == len(stripped)
    return read.value if read is not None and is_whole and isinstance(read.value, str) else written


READER = Reader(Form.STREAM, _finds, _read)
