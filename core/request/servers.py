"""Server addresses as pasted, without what must not be kept with them."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from prompt_debugger.core.base.types import Api

_ENDPOINTS = re.compile(r"/(?:chat/completions|completions|responses|messages|models|tokenize)(?:/.*)?/?\Z")
_VERSION = re.compile(r"/v1(?=/|\Z)")
_GEMINI = re.compile(r"(?:/v1beta\d*|/v1alpha)?/models/([^:?#]{1,200}):(g|streamG)enerateContent\b")
_OF_APIS = {"/chat/completions": None, "": None, "/responses": Api.RESPONSES, "/messages": Api.MESSAGES}


class Named(NamedTuple):
    """What an address names besides its server: the API if not chat completions, its model, and whether it streams."""

    api: Api | None = None
    model: str = ""
    is_streamed: bool = False


def named_in_url(url: str) -> Named:
    """Return what an endpoint's address names.

    >>> named_in_url("http://localhost:4000/v1beta/models/m:streamGenerateContent?alt=sse")
    Named(api=<Api.GEMINI: 'gemini'>, model='m', is_streamed=True)
    >>> named_in_url("http://localhost:8000/v1/messages").api
    <Api.MESSAGES: 'messages'>
    """
    if (gemini := _GEMINI.search(url)) is not None:
        return Named(Api.GEMINI, gemini[1], gemini[2] == "streamG")
    path = re.split(r"[?#]", url, maxsplit=1)[0].rstrip("/")
    return Named(next((api for end, api in _OF_APIS.items() if api is not None and path.endswith(f"/v1{end}")), None))


def base_of_url(url: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the base address of an endpoint's address, and what is to be said about it.

    The base runs up to and including `/v1`; without one, up to the endpoint's
    own name. User names, passwords and queries are dropped.

    >>> base_of_url("http://localhost:8000/v1/chat/completions")
    ('http://localhost:8000/v1', ())
    """
    if "$" in url or "{" in url or "`" in url:
        return None, ("The server's address contains a shell variable; give the server yourself.",)
    url = _GEMINI.sub("/v1", url)  # the other endpoints are next to this path
    text = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname
    except ValueError:
        return None, ("The server's address could not be read; give the server yourself.",)
    if parts.scheme not in ("http", "https") or not host:
        return None, ("The server's address is neither http nor https; give the server yourself.",)
    remarks: list[str] = []
    version = _VERSION.search(parts.path)
    if version is not None:
        path, after = parts.path[: version.end()], parts.path[version.end() :]
        if after.rstrip("/") not in _OF_APIS:
            remarks.append(f"The address points to `{after[:40]}`; the request is read as one for `/chat/completions`.")
    else:
        path = _ENDPOINTS.sub("", parts.path).rstrip("/")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{path}", tuple(remarks)
