"""Certificates are read once, not for every connection."""

from __future__ import annotations

import ssl

import pytest

from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.complete.backends.certificates import public_certificates


def test_they_are_checked_and_so_is_the_name() -> None:
    trust = public_certificates()

    assert (trust.verify_mode, trust.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert trust.cert_store_stats()["x509_ca"] > 50


async def test_clients_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    public_certificates(trust_env=False)
    public_certificates(trust_env=True)

    def fail(self: ssl.SSLContext, *locations: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", fail)
    for base_url in ("http://127.0.0.1:1/v1", "https://model.example/v1"):
        async with ServerClient(base_url):
            pass
