"""Whose certificates count, read once: a connection is opened for every question, and reading them takes a while."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def public_certificates(*, trust_env: bool = False) -> ssl.SSLContext:
    """Return the trust in those of the public internet, the same object at every call.

    Args:
        trust_env: Whether `SSL_CERT_FILE` and `SSL_CERT_DIR` may name others, as they do when this is first asked.
    """
    return httpx.create_ssl_context(trust_env=trust_env)
