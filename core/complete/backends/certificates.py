"""Whose certificates count, read once: a connection is opened for every question, and reading them takes a while."""

from __future__ import annotations

import ssl
from functools import cache
from pathlib import Path
from typing import NamedTuple

import httpx

from prompt_debugger.core.base.errors import BackendError, RequestError
from prompt_debugger.core.base.files import read_named

_MAX_BYTES = 16 << 20  # of a file of certificates; those of the public internet have 300 kB
_FILE_HINT = "Give the file with the certificate that signed the server's certificate."
_PEM_HINT = "A certificate in PEM form begins with `-----BEGIN CERTIFICATE-----`."


class Authorities(NamedTuple):
    """Certificates to trust besides the public ones, in PEM form.

    Attributes:
        file: A file of them, such as those of a company's own authority.
        text: The same as text.
    """

    file: str | Path | None = None
    text: str | None = None


PUBLIC = Authorities()


@cache
def public_certificates(*, trust_env: bool = False) -> ssl.SSLContext:
    """Return the trust in those of the public internet, the same object at every call.

    Args:
        trust_env: Whether `SSL_CERT_FILE` and `SSL_CERT_DIR` may name others, as they do when this is first asked.
    """
    return httpx.create_ssl_context(trust_env=trust_env)


def certificates_of(authorities: Authorities = PUBLIC, *, trust_env: bool = False) -> ssl.SSLContext:
    """Return the trust in the certificates of the public internet, and in others.

    Raises:
        BackendError: A file cannot be read, or there is no certificate in what was given (kind `refused`).
    """
    if authorities == PUBLIC:
        return public_certificates(trust_env=trust_env)
    trust = httpx.create_ssl_context(trust_env=trust_env)
    if authorities.file is not None:
        _trust_file(trust, authorities.file)
    if authorities.text is not None:
        try:
            trust.load_verify_locations(
                cadata=authorities.text.encode("ascii", "replace").decode()
            )  # with any remarks around the certificates
        except (ssl.SSLError, ValueError):
            raise BackendError(
                "The text given as certificates contains no certificate that can be read.", _PEM_HINT, kind="refused"
            ) from None
    return trust


def _trust_file(trust: ssl.SSLContext, file: str | Path) -> None:
    try:
        # The library would read a device without end; `-` is the name of a file here.
        data = read_named(str(Path(file).absolute()), most_bytes=_MAX_BYTES)
        trust.load_verify_locations(cadata=data.decode("ascii", "replace").replace("\ufffd", "?"))
    except RequestError as error:
        raise BackendError(error.message, _FILE_HINT, kind="refused") from None
    except (ssl.SSLError, ValueError):
        raise BackendError(
            f"{str(file)!r} contains no certificate that can be read.", _PEM_HINT, kind="refused"
        ) from None
