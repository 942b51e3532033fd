"""What a connection to a server needs besides its address and key: headers of a gateway, certificates of one's own."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON

_FLAG = "--extra-headers"


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        _FLAG,
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="a header to send to --endpoint with every request, such as a gateway's; may be repeated, or be a JSON "
        "object; its value is kept nowhere",
    )
    parser.add_argument(
        "--ca-file", metavar="FILE", help="certificates (PEM) to trust besides the public ones, for an https --endpoint"
    )


def extra_headers(options: argparse.Namespace) -> dict[str, str]:
    """Return the headers to add to every request.

    Raises:
        RequestError: One is not a header, or is given twice; no value is repeated.
    """
    headers: dict[str, str] = {}
    for name, value in _headers_in(options.extra_headers):
        if name.lower() in (known.lower() for known in headers):
            raise RequestError(f"{_FLAG} gives the header `{name}` twice.", "Give it once.", field=_FLAG)
        headers[name] = value
    return headers


def _headers_in(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        if text.lstrip().startswith("{"):
            yield from _object_in(text).items()
            continue
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise _refusal("A header of --extra-headers has no name, or no colon after it.")
        yield name.strip(), value.strip()


def _object_in(text: str) -> Mapping[str, str]:
    read: JSON
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict) or not all(isinstance(value, str) for value in read.values()):
        raise _refusal("--extra-headers is not a JSON object of texts.")
    return {name: str(value) for name, value in read.items()}


def _refusal(reason: str) -> RequestError:
    return RequestError(reason, "Write it as 'X-Team: blue' or '{\"X-Team\": \"blue\"}'.", field=_FLAG)
