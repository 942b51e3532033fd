"""Who asks: the address by which a visitor is counted.

A header that names the visitor is believed only if it comes from a proxy that the operator named, or, in a Space, from
the Hub's own. Each proxy adds the address it saw at the right; the first one from the right that is not a proxy is the
visitor. What is further left the visitor may have written.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# In a Space the Hub's proxy comes from a private address; no one else can reach the container.
SPACE_PROXIES = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "127.0.0.0/8", "::1/128")
_HOME_BITS = 64  # one household or server has a whole /64 of IPv6
_MAX_HOPS = 20
_UNKNOWN = "unknown"


def read_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return networks from addresses such as `10.0.0.5` and `10.0.0.0/8`.

    Raises:
        ValueError: One is neither.
    """
    return tuple(ipaddress.ip_network(text.strip(), strict=False) for text in texts)


def visitor_of(peer: str | None, forwarded: Iterable[str], proxies: tuple[Network, ...]) -> str:
    """Return the name by which a visitor is counted: an IPv4 address, or the /64 of an IPv6 one."""
    address = _address(peer or "")
    if address is None:
        return _UNKNOWN
    if _is_proxy(address, proxies):
        hops = [hop for value in forwarded for hop in value.split(",")]
        for hop in reversed(hops[-_MAX_HOPS:]):
            named = _address(hop)
            if named is None:
                break  # the word of a proxy ends at what is not an address
            address = named
            if not _is_proxy(named, proxies):
                break
    return _home(address)


def is_trusted(peer: str | None, proxies: tuple[Network, ...]) -> bool:
    """Return whether a connection comes from a proxy whose word is believed."""
    address = _address(peer or "")
    return address is not None and _is_proxy(address, proxies)


def _is_proxy(address: Address, proxies: tuple[Network, ...]) -> bool:
    return any(address.version == network.version and address in network for network in proxies)


def _address(text: str) -> Address | None:
    """Return the address in `1.2.3.4`, `1.2.3.4:5`, `::1`, `[::1]` or `[::1]:5`."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return address if mapped is None else mapped


def _home(address: Address) -> str:
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((int(address), _HOME_BITS), strict=False))
