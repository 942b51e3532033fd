"""What the header of a Kimi K2 call means: an id, with the tool name in it."""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Span
from prompt_debugger.core.parse.header_calls import MAX_HEADER_CHARS, Header
from prompt_debugger.core.parse.scan import trim_span

OFF_ID = "its id is not `functions.NAME:N`"
_PREFIX = "functions."
_INDEX = re.compile(r":\d+\Z")
# An id that contains no tool name: `call_ab12cd`, `chatcmpl-tool-…`, `call00003`, `3`.
_BARE_ID = re.compile(r"(?:call[_-]?\d+|call_(?=\w*\d)\w{6,}|chatcmpl-tool-\w+|toolu_\w+|\d+)(?::\d+)?\Z", re.I)
_LENIENT = re.compile(r"(?:functions[._:]?)?(?P<name>.+?)[:_\-]?\d*\Z", re.DOTALL)
_ID = re.compile(r"functions\.[\w.-]+:\d+")
_BARE_INDEXED = re.compile(r"[\w.-]+:\d+")


def read_header(text: str, span: Span, names: frozenset[str]) -> Header | None:
    """Read `functions.NAME:N` and what models write instead; `None` for prose.

    Args:
        text: The whole raw text.
        span: Between the call's opening marker and its arguments.
        names: Names of the request's tools; they decide what is doubtful.

    Returns:
        Name and id with their places.
    """
    id_span = trim_span(text, span.start, span.stop)
    written = text[id_span.start : id_span.stop]
    if len(written) > MAX_HEADER_CHARS or len(written.split()) > 1:
        return None
    if not written:
        return Header(None, None, problem="its header is empty")
    name_span = _name_place(written, names)
    if name_span is None:
        return Header(None, None, written, id_span, problem=f"its header {written!r} is an id without a tool name")
    start, stop = name_span
    name = Span(id_span.start + start, id_span.start + stop)
    return Header(written[start:stop], name, written, id_span)


def id_problem(call_id: str) -> str | None:
    """Return what is off in a Kimi K2 tool call id, and what it does; `None` for `functions.NAME:N`.

    >>> id_problem("functions.search:0") is None
    True
    """
    if _ID.fullmatch(call_id):
        return None
    if _BARE_INDEXED.fullmatch(call_id):
        return "it lacks the prefix `functions.`: vLLM up to 0.11 fails on it, later releases accept it"
    if re.search(r":\d+$", call_id) is None:
        return (
            "it has no index `:N` at its end: vLLM's `kimi_k2` drops the call silently (0.32), or leaves it in the "
            "content of a whole answer (0.27.1)"
        )
    return "its name contains characters that no tool name has: parsers that match a pattern fail on it"


def _name_place(header: str, names: frozenset[str]) -> tuple[int, int] | None:
    index = _INDEX.search(header)
    stop = len(header) if index is None or index.start() == 0 else index.start()
    start = len(_PREFIX) if header.startswith(_PREFIX) and stop > len(_PREFIX) else 0
    plain = header[start:stop]
    if plain in names:
        return start, stop
    if header in names:
        return 0, len(header)
    if header[:stop] in names:
        return 0, stop
    lenient = _LENIENT.match(header)
    if lenient is not None and lenient.group("name") in names:
        return lenient.span("name")
    if header.startswith("functions") and (bare := header.removeprefix("functions").rstrip("0123456789")) in names:
        return len("functions"), len("functions") + len(bare)
    return None if _BARE_ID.match(plain) else (start, stop)
