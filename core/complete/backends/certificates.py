"""Whose certificates count, read once: a connection is opened for every question, and reading them takes a while."""

from __future__ import annotations

import ssl
from functools import cache
from pathlib import Path

import httpx

from prompt_debugger.core.base.errors import BackendError


@cache
def public_certificates(*, trust_env: bool = False) -> ssl.SSLContext:
    """Return the trust in those of the public internet, the same object at every call.

    Args:
        trust_env: Whether `SSL_CERT_FILE` and `SSL_CERT_DIR` may name others, as they do when this is first asked.
    """
    return httpx.create_ssl_context(trust_env=trust_env)


def certificates_of(ca_file: str | Path | None, *, trust_env: bool = False) -> ssl.SSLContext:
    """Return the trust in the certificates of the public internet, and in those of a file.

    Args:
        ca_file: Certificates in PEM form, such as those of a company's own authority; `None` for no others.
        trust_env: As `public_certificates` has it.

    Raises:
        BackendError: The file cannot be read, or holds no certificate (kind `refused`).
    """
    if ca_file is None:
        return public_certificates(trust_env=trust_env)
    trust = httpx.create_ssl_context(trust_env=trust_env)
    try:
        trust.load_verify_locations(cafile=ca_file)
    except ssl.SSLError:
        hint = "A certificate in PEM form begins with `-----BEGIN CERTIFICATE-----`."
        raise BackendError(f"{str(ca_file)!r} holds no certificate that can be read.", hint, kind="refused") from None
    except OSError as error:
        hint = "Name the file with the certificate that the server's is signed with."
        raise BackendError(f"{str(ca_file)!r} cannot be read: {error.strerror}.", hint, kind="refused") from None
    return trust
