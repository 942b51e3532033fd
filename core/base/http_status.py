"""The names of HTTP statuses, the older ones of RFC 7231 and those of RFC 9110, whatever Python calls them.

Python 3.13 took on RFC 9110's names; servers and proxies send either.
"""

from __future__ import annotations

from http import HTTPStatus

_BOTH = {
    413: ("Content Too Large", "Payload Too Large", "Request Entity Too Large"),
    414: ("URI Too Long", "Request-URI Too Long"),
    416: ("Range Not Satisfiable", "Requested Range Not Satisfiable"),
    422: ("Unprocessable Content", "Unprocessable Entity"),
}
STATUS_NAMES: dict[int, tuple[str, ...]] = {
    status.value: _BOTH.get(status.value, (status.phrase,)) for status in HTTPStatus
}


def status_name(status: int) -> str:
    """Return the name of a status as the current standard has it; "" if it has none."""
    return STATUS_NAMES.get(status, ("",))[0]
