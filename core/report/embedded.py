"""A bundle inside another file: report, picture and Markdown hold the run that they show.

A bundle travels as gzip in URL-safe base64 without padding: in the report a block of data, in the picture a `tEXt`
chunk, in the Markdown a fold that begins with `pd-bundle.1.` and ends with a full stop. Anyone who reads one looks for
these bytes alone; nothing else of the file is parsed, and nothing of it is run.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Iterator

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.packed import GZIP, TooLongError, unpack

PNG_KEYWORD = b"prompt-debugger"
MARK = "pd-bundle.1."
HTML_OPENING = '<script type="application/json" id="pd-bundle">"'
HTML_ENDING = '"</script>'
NOT_INCLUDED = "The run is too long to be included here: attach its JSON bundle or the HTML report, which contain it."

_PNG = b"\x89PNG\r\n\x1a\n"
_CHUNK_EDGES = 12  # bytes of a chunk besides its data: length, type, checksum
_PACKED = re.compile(r"[\w-]+", re.ASCII)
_COLUMNS = 120


def pack_bundle(text: str) -> str:
    """Return a bundle as it travels inside other files.

    >>> unpack_bundle(pack_bundle('{"bundle": {}}'), 100)
    '{"bundle": {}}'
    """
    packer = zlib.compressobj(9, wbits=GZIP)
    data = packer.compress(text.encode("utf-8")) + packer.flush()
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def unpack_bundle(packed: str, limit: int) -> str:
    """Return the bundle that was packed.

    Raises:
        RequestError: It is incomplete, or longer than `limit` characters can be.
    """
    try:
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        return unpack(data, limit * 4, form=GZIP).decode("utf-8")
    except TooLongError:
        message = f"The bundle is longer than {limit:,} characters."
        raise RequestError(message, "Open it with `run --bundle FILE`.") from None
    except ValueError:
        raise RequestError("The bundle did not arrive completely.", "Choose the file again.") from None


def html_block(bundle: str) -> str:
    """Return the block of data for a report: no byte of it is markup, for a bundle is packed."""
    return f"{HTML_OPENING}{pack_bundle(bundle)}{HTML_ENDING}"


def markdown_fold(bundle: str, room: int) -> str:
    """Return the fold for a Markdown text; a sentence in its place where it has more than `room` characters."""
    packed = f"{MARK}{pack_bundle(bundle)}."
    if len(packed) * (_COLUMNS + 1) // _COLUMNS > room:
        return f"{NOT_INCLUDED}\n"
    lines = [packed[at : at + _COLUMNS] for at in range(0, len(packed), _COLUMNS)]
    summary = "<summary>The whole run: paste this text into Prompt Debugger, or drop the file on its page</summary>"
    return "\n".join(("<details>", summary, "", "```text", *lines, "```", "", "</details>", ""))


def find_bundle(data: bytes) -> str | None:
    """Return the packed bundle that a report, picture or Markdown text contains; `None` if there is none."""
    if data.startswith(_PNG):
        return next((text for text in _png_texts(data) if _PACKED.fullmatch(text)), None)
    if data.lstrip()[:1] in (b"{", b"["):  # JSON, such as a bundle whose prompt speaks of such marks
        return None
    text = data.decode("utf-8", "replace")
    # In a report nothing of the run is markup, and its script comes after the block; in Markdown the fold comes last.
    inside = _between(text, HTML_OPENING, HTML_ENDING, text.find(HTML_OPENING))
    return inside or _between(text, MARK, ".", text.rfind(MARK))


def _between(text: str, opening: str, ending: str, start: int) -> str | None:
    end = text.find(ending, start + len(opening)) if start >= 0 else -1
    packed = "".join(text[start + len(opening) : end].split()) if end >= 0 else ""
    return packed if _PACKED.fullmatch(packed) else None


def _png_texts(data: bytes) -> Iterator[str]:
    at = len(_PNG)
    while at + _CHUNK_EDGES <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        keyword, separator, text = body.partition(b"\0")
        if kind == b"tEXt" and separator and keyword == PNG_KEYWORD and len(body) == length:
            yield text.decode("latin-1")
        at += length + _CHUNK_EDGES
