"""Who may use the proxy: programs that call it by this machine's name, and no page of another site.

A page in a browser can make its visitor's browser ask this machine, under a name of its own that it points here, or
from its own origin. Programs send no `Origin`, pages of this machine send their own.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import urlsplit

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?")


def refusal_of(host_header: str, origin: str | None, names: Collection[str]) -> str | None:
    """Return why a request is refused; `None` if it is not.

    >>> refusal_of("evil.example", None, ["box.example"])
    'this proxy does not accept the name in the Host header (`--host-name` adds one)'
    >>> refusal_of("box.example:8765", None, ["box.example"]) is refusal_of("localhost:8765", None, []) is None
    True
    """
    name = _name_in(host_header)
    if name not in names and not _is_local_name(name) and not _is_address(name):
        return "this proxy does not accept the name in the Host header (`--host-name` adds one)"
    if origin is not None and not _may_ask(origin):
        return "a page of another site may not use this proxy"
    return None


def is_loopback(host: str) -> bool:
    """Return whether anyone who listens on a host is heard on this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return _is_local_name(host.lower())


def _may_ask(origin: str) -> bool:
    """Return whether an origin is a page of this machine, or no page of a site: an extension, an app."""
    scheme, slashes, place = origin.lower().partition("://")
    if scheme not in ("http", "https"):
        return bool(slashes)  # `null` is what a site can be, too
    return is_loopback(_name_in(place))


def _name_in(host_header: str) -> str:
    return (urlsplit(f"//{host_header}").hostname or "").lower() if _HOST.fullmatch(host_header) else ""


def _is_local_name(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost")


def _is_address(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False
