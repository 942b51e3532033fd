"""Where a server is, and whether a key may travel there."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

import httpx

from prompt_debugger.core.base.errors import BackendError, shorten

_ENDPOINTS = ("/chat/completions", "/completions", "/models")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server.

    Attributes:
        base_url: Up to and including `/v1` (or what the server has in its place); no slash at the end.
        root_url: The same without `/v1`, for endpoints other than the OpenAI ones.
        is_loopback: Whether it is this machine.
        is_encrypted: Whether it is https.
    """

    base_url: str
    root_url: str
    is_loopback: bool
    is_encrypted: bool

    def url_of(self, path: str) -> str:
        """Return the URL of a path; `/v1/…` counts from `base_url`, any other from `root_url`."""
        if path.startswith("/v1/"):
            return self.base_url + path.removeprefix("/v1")
        return self.root_url + path


def read_address(base_url: str) -> Address:
    """Read what a person gave as server address.

    A missing scheme is taken as http, a missing path as `/v1`; an endpoint at the end, such as
    `/chat/completions`, is cut off.

    Raises:
        BackendError: It is not an address of a server (kind `refused`).
    """
    text = base_url.strip()
    if "://" not in text:
        text = f"http://{text}"
    parts = _split(text)
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        path = path.removesuffix(endpoint)
    path = f"{path.removesuffix('beta')}" if path.endswith("/v1beta") else path  # Gemini's, which counts from the root
    base = f"{parts.scheme.lower()}://{parts.netloc}{path or '/v1'}"
    is_here = _is_loopback(parts.hostname or "")
    return Address(base, base.removesuffix("/v1"), is_here, parts.scheme.lower() == "https")


def is_this_machine(base_url: str) -> bool:
    """Return whether a server address is one of this machine; False for what is not an address."""
    try:
        return read_address(base_url).is_loopback
    except BackendError:
        return False


def may_carry_key(base_url: str) -> bool:
    """Return whether an API key may travel there: encrypted, or without leaving this machine."""
    try:
        address = read_address(base_url)
    except BackendError:
        return False
    return address.is_encrypted or address.is_loopback


def check_key(address: Address, api_key: str | None) -> str | None:
    """Return the key to send, trimmed; `None` if there is none.

    Raises:
        BackendError: It must not or cannot be sent (kind `refused`); the key is not in the message.
    """
    key = (api_key or "").strip()
    if not key:
        return None
    if not key.isascii() or not key.isprintable():
        raise BackendError(
            "The API key contains a character that no HTTP header can carry.",
            "Copy the key again, without line breaks or typographic quotes.",
            kind="refused",
        )
    if not may_carry_key(address.base_url):
        raise BackendError(
            f"The API key is not sent to {address.base_url}: the connection is not encrypted.",
            "Use an https address, tunnel the port to 127.0.0.1, or run without an API key.",
            kind="refused",
        )
    return key


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname
    except ValueError as error:
        raise _refusal(text, str(error)) from None
    if parts.scheme.lower() not in ("http", "https"):
        raise _refusal(text, f"its scheme is `{parts.scheme}`")
    if not host or port == 0:
        raise _refusal(text, "it has no host")
    if not _can_be_asked_for(text):
        raise _refusal(text, "this is not a valid host name")
    if parts.username is not None or parts.password is not None:
        raise BackendError(
            "The server address contains a user name or password, which would end up in reports.",
            "Leave it out of the address; the API key is read from an environment variable.",
            kind="refused",
        )
    if parts.query or parts.fragment:
        raise BackendError(
            f"The server address {shorten(text.partition('?')[0])} continues with a query or fragment.",
            "Give the address up to and including `/v1`.",
            kind="refused",
        )
    return parts


def _can_be_asked_for(text: str) -> bool:
    """Return whether client and resolver can spell the host; they raise all sorts of things where they cannot."""
    try:
        url = httpx.URL(text)
        return bool(url.host and url.raw_host.decode("ascii").encode("idna"))
    except (httpx.InvalidURL, ValueError):  # errors of encodings are value errors
        return False


def _refusal(text: str, reason: str) -> BackendError:
    shown = text.rpartition("@")[2]  # whatever comes before it may be a password
    return BackendError(
        f"{shorten(shown)} is not a server address: {reason}",
        "Expected an address such as `http://127.0.0.1:8000/v1`.",
        kind="refused",
    )


def _is_loopback(host: str) -> bool:
    host = host.rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
