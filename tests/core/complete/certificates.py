"""A certificate that no one but itself has signed, fresh for each run of the tests."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def self_signed_context(folder: Path, host: str = "127.0.0.1") -> ssl.SSLContext:
    """Return a server context for an address or a name; its files go into `folder`."""
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "cert.pem").write_bytes(_signed(key, host).public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def _signed(key: ec.EllipticCurvePrivateKey, host: str) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    is_name = host[-1].isalpha()
    address = x509.SubjectAlternativeName(
        [x509.DNSName(host) if is_name else x509.IPAddress(ipaddress.ip_address(host))]
    )
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1)
    builder = builder.not_valid_before(datetime.datetime(2020, 1, 1)).not_valid_after(datetime.datetime(2120, 1, 1))
    return builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
