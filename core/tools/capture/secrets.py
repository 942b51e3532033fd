"""What a client sends to show who it is: never written, and taken out of whatever repeats it."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable
from urllib.parse import parse_qsl

_HEADERS = frozenset(
    {
        "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key", "x-auth-token",
        "ocp-apim-subscription-key",
    }
)  # fmt: skip
# What clients tell of themselves by `X-` headers; any other may be a key of a gateway.
_PUBLIC_X = (
    "x-stainless-",
    "x-forwarded-",
    "x-real-ip",
    "x-title",
    "x-requested-with",
    "x-app",
    "x-request-id",
    "x-client-name",
    "x-client-version",
    "x-cloud-trace-context",
    "x-b3-",
    "x-datadog-",
    "x-amzn-trace-id",
    "x-envoy-",
    "x-request-start",
)
_WORDS = ("key", "token", "secret", "auth", "password", "credential", "session")
_WORD = re.compile(r"[A-Z]?[a-z_-]{0,19}")
_SHORTEST = 8  # of what is looked for: `EMPTY` and `none` are words of prompts


def secrets_of(headers: Iterable[tuple[bytes, bytes]], query: bytes) -> tuple[str, ...]:
    """Return the texts to be taken out, longest first.

    >>> secrets_of([(b"authorization", b"Bearer 0123456789"), (b"accept", b"application/json")], b"api_key=abcdefghij")
    ('Bearer 0123456789', '0123456789', 'abcdefghij')
    """
    found: set[str] = set()
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
        if name in _HEADERS or any(word in name for word in _WORDS) or _is_unknown_x(name, value):
            found |= {value, *value.split(), *_login_in(value)}
        if name in ("cookie", "set-cookie"):
            found |= {part.partition("=")[2].strip() for part in value.split(";")}
    for name, value in parse_qsl(query.decode("latin-1")):
        if any(word in name.lower() for word in (*_WORDS, "sig")):
            found.add(value)
    return tuple(sorted((text for text in found if len(text) >= _SHORTEST), key=lambda text: (-len(text), text)))


def _is_unknown_x(name: str, value: str) -> bool:
    """Return whether a header may be a secret; `x-env: production` is none, as its value is a word of prompts."""
    return name.startswith("x-") and not name.startswith(_PUBLIC_X) and not _WORD.fullmatch(value)


def _login_in(value: str) -> set[str]:
    """Return name with password, and password, of basic authentication."""
    scheme, _, packed = value.partition(" ")
    if scheme.lower() != "basic":
        return set()
    try:
        login = b64decode(packed, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return set()
    return {login, login.partition(":")[2]}
