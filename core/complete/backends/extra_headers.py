"""Headers that a person adds to every request. Each may be a key, so they are held as one: never shown, never in clear.

They win over ours: a gateway that wants its key under `Authorization` gets that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from prompt_debugger.core.base.errors import BackendError, RequestError
from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.complete.backends.address import Address, may_carry_key

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# What makes up the exchange itself; another value would break it or lead it elsewhere.
_OURS = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "expect", "host", "te", "transfer-encoding"}
    | {"trailer", "upgrade"}
)
_SHORTEST_PART = 8


def read_headers(texts: Sequence[str], field: str) -> dict[str, str]:
    """Read headers as a person writes them: `Name: value` each, or a JSON object of several.

    Args:
        texts: What was written.
        field: What it was written in, such as `--extra-headers`.

    Raises:
        RequestError: One is not a header, or is given twice; no value is repeated.
    """
    headers: dict[str, str] = {}
    for name, value in _headers_in(texts, field):
        if name.lower() in (known.lower() for known in headers):
            raise RequestError(f"{field} gives the header `{name}` twice.", "Give each header once.", field=field)
        headers[name] = value
    return headers


def _headers_in(texts: Sequence[str], field: str) -> Iterator[tuple[str, str]]:
    hint = "Write it as 'X-Team: blue' or '{\"X-Team\": \"blue\"}'."
    for text in texts:
        if text.lstrip().startswith("{"):
            yield from _object_in(text, field, hint).items()
            continue
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise RequestError(f"A header of {field} has no name, or no colon after it.", hint, field=field)
        yield name.strip(), value.strip()


def _object_in(text: str, field: str, hint: str) -> Mapping[str, str]:
    read = decode_json(text)
    if not isinstance(read, dict) or not all(isinstance(value, str) for value in read.values()):
        raise RequestError(f"{field} is not a JSON object of strings.", hint, field=field)
    return {name: str(value) for name, value in read.items()}


def check_headers(address: Address, headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return headers as they are sent, names in lower case.

    Raises:
        BackendError: One must not or cannot be sent there (kind `refused`); no value is in the message.
    """
    checked: dict[str, str] = {}
    for name, value in (headers or {}).items():
        if not _NAME.fullmatch(name):
            raise _refusal("the name of an extra header contains a character that is not allowed in a header name")
        if name.lower() in _OURS:
            raise _refusal(f"the extra header `{name}` is part of the HTTP exchange and cannot be set")
        if not value.isascii() or not value.isprintable():
            raise _refusal(
                f"the value of the extra header `{name}` contains a character that is not allowed in a header"
            )
        checked[name.lower()] = value.strip()
    if checked and not may_carry_key(address.base_url):
        raise BackendError(
            f"Extra headers are not sent to {address.base_url}: the connection is not encrypted.",
            "They may contain a key. Use an https address, tunnel the port to 127.0.0.1, or leave them out.",
            kind="refused",
        )
    return checked


def secrets_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return what no message may repeat, longest first: the values, and the keys in such as `Bearer …`.

    >>> secrets_in({"authorization": "Bearer 0123456789", "x-team": "blue"})
    ('Bearer 0123456789', '0123456789', 'blue')
    """
    parts = {part for value in headers.values() for part in value.split() if len(part) >= _SHORTEST_PART}
    return tuple(sorted({*headers.values(), *parts}, key=lambda text: (-len(text), text)))


def _refusal(reason: str) -> BackendError:
    return BackendError(reason, "Leave it out, or write it as servers expect it.", kind="refused")
