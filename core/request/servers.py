"""Server addresses as pasted, without what must not be kept with them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_ENDPOINTS = re.compile(r"/(?:chat/completions|completions|responses|messages|models|tokenize)(?:/.*)?/?\Z")
_VERSION = re.compile(r"/v1(?=/|\Z)")


def base_of_url(url: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the base address of an endpoint's address, and what is to be said about it.

    The base runs up to and including `/v1`; without one, up to the endpoint's
    own name. User names, passwords and queries are dropped.

    >>> base_of_url("http://localhost:8000/v1/chat/completions")
    ('http://localhost:8000/v1', ())
    """
    if "$" in url or "{" in url or "`" in url:
        return None, ("The server's address contains a shell variable; give the server yourself.",)
    text = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname
    except ValueError:
        return None, ("The server's address could not be read; give the server yourself.",)
    if parts.scheme not in ("http", "https") or not host:
        return None, ("The server's address is neither http nor https; give the server yourself.",)
    said: list[str] = []
    version = _VERSION.search(parts.path)
    if version is not None:
        path, after = parts.path[: version.end()], parts.path[version.end() :]
        if after.rstrip("/") not in ("", "/chat/completions"):
            said.append(f"The address points to `{after[:40]}`; the request is read as one for `/chat/completions`.")
    else:
        path = _ENDPOINTS.sub("", parts.path).rstrip("/")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{path}", tuple(said)
