"""Which proxy answered in place of the server, and what it calls the setting that the answer comes of.

That a proxy is on the way proves nothing: nginx and Envoy put their names into the `server` header of every answer that
they pass on. What counts is what they write themselves:

    nginx, OpenResty   a page that ends in `<center>nginx/1.22.1</center>`
    HAProxy            a page without a title: `<html><body><h1>504 Gateway Time-out</h1>` and one of its sentences
    Envoy              `server: envoy` without `x-envoy-upstream-service-time`, with an empty body or words of its own
    Caddy              `server: Caddy` without `via`, and an empty body
    Apache             a page that ends in `<address>Apache/2.4.62 (Debian) Server …</address>`
    AWS load balancer  `server: awselb/2.0`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_SIGNATURE_CHARS = 4000  # at the end of a page
_PAGE_CHARS = 600
_NGINX = re.compile(r"<center>(?:nginx|openresty)(?:/[\w.]{1,30})?</center>", re.IGNORECASE)
_APACHE = re.compile(r"<address>Apache\b", re.IGNORECASE)
_HAPROXY = re.compile(
    r"<html><body><h1>\d{3} [^<\n]{1,60}</h1>\s{1,4}"
    r"(?:Your browser (?:sent|didn't)|Request forbidden by administrative rules|The request entity exceeds|"
    r"You have sent too many requests|An internal server error|The server (?:returned an invalid|didn't respond)|"
    r"No server is available)"
)
_ENVOY_WORDS = frozenset({"upstream request timeout", "stream timeout", "payload too large", "local_rate_limited"})


@dataclass(frozen=True, slots=True)
class _Proxy:
    """A proxy by what it writes itself.

    Attributes:
        name: What its makers call it.
        wrote: Whether it wrote an answer, by headers (in small letters) and body.
        remedies: What to do, by status.
    """

    name: str
    wrote: Callable[[Mapping[str, str], str], bool]
    remedies: Mapping[int, str]


def _is_of_nginx(_: Mapping[str, str], body: str) -> bool:
    return _NGINX.search(body[-_SIGNATURE_CHARS:]) is not None


def _is_of_haproxy(_: Mapping[str, str], body: str) -> bool:
    return _HAPROXY.match(body[:_PAGE_CHARS].lstrip()) is not None


def _is_of_envoy(headers: Mapping[str, str], body: str) -> bool:
    is_envoy = headers.get("server", "").lower() in ("envoy", "istio-envoy")
    words = body[:_PAGE_CHARS].strip().lower()
    return (
        is_envoy
        and "x-envoy-upstream-service-time" not in headers
        and (not words or words in _ENVOY_WORDS or words.startswith("jwt "))
    )


def _is_of_caddy(headers: Mapping[str, str], body: str) -> bool:
    return headers.get("server", "") == "Caddy" and "via" not in headers and not body.strip()


def _is_of_apache(_: Mapping[str, str], body: str) -> bool:
    return _APACHE.search(body[-_SIGNATURE_CHARS:]) is not None


def _is_of_aws(headers: Mapping[str, str], _: str) -> bool:
    return headers.get("server", "").lower().startswith("awselb/")


_PROXIES = (
    _Proxy(
        "nginx",
        _is_of_nginx,
        {
            413: "raise `client_max_body_size` (1 MB by default), or send less.",
            429: "`limit_req` or `limit_conn` holds this client back: wait, or raise their limits.",
            431: "raise `large_client_header_buffers`, or shorten the key and your extra headers.",
            502: "check that the server named by `proxy_pass` is running; nginx's error log says why it got no answer.",
            503: (
                "`limit_req` or `limit_conn` holds this client back, or the configuration itself answers 503 "
                "(maintenance): its error log says which."
            ),
            504: "raise `proxy_read_timeout` (60 s by default), or ask for a stream or fewer tokens.",
        },
    ),
    _Proxy(
        "HAProxy",
        _is_of_haproxy,
        {
            403: "an `http-request deny` turned the request away: change that rule, or ask from where it allows.",
            408: "`timeout http-request` ended before the whole request had arrived: raise it.",
            413: "an `http-request deny` with this status turned the request away: change that rule, or send less.",
            429: "an `http-request deny` with this status holds the client back: wait, or change that rule.",
            502: "the server broke off, or what it sent is not HTTP: check the server's log.",
            503: (
                "it has no server to ask: check that the servers of its backend are running and pass its `check`; its "
                "log says which are down."
            ),
            504: "raise `timeout server` of that backend, or ask for a stream or fewer tokens.",
        },
    ),
    _Proxy(
        "Envoy",
        _is_of_envoy,
        {
            401: (
                "one of its filters (`jwt_authn`, `ext_authz`) requires a token: send one that it accepts as the key, "
                "in the environment variable given by `--api-key-env`."
            ),
            403: "one of its filters (`rbac`, `ext_authz`) does not allow this client: allow it there.",
            404: "no route of it leads from this host and path to a server: check the address, and those routes.",
            413: (
                "raise `max_request_bytes` of its filter `buffer` or, where it has none, "
                "`per_connection_buffer_limit_bytes`; or send less."
            ),
            429: (
                "its rate limit holds this client back: wait, or raise the limit (`token_bucket`, where it says "
                "`local_rate_limited`)."
            ),
            503: (
                "it asked no server. Either a route answers this way, or names a cluster that the configuration lacks "
                "(`NC` in the access log), or Envoy is overloaded (`UO`)."
            ),
            504: (
                "raise the route's `timeout` (15 s by default; in Istio, that of the `VirtualService`) or, where it "
                "says `stream timeout`, `stream_idle_timeout`; or ask for fewer tokens."
            ),
        },
    ),
    _Proxy(
        "Caddy",
        _is_of_caddy,
        {
            404: "nothing in its configuration handles this path: check the address, and that site's `reverse_proxy`.",
            413: "raise `max_size` of `request_body`, or send less.",
            502: (
                "it got no answer from the server named by `reverse_proxy`: check that this server is running. Where "
                "`request_body` limits `max_size`, a larger request ends this way, too; Caddy's log says which."
            ),
            503: "`reverse_proxy` has no server that it considers healthy: check that its servers are running.",
            504: (
                "raise `response_header_timeout` (or `dial_timeout`, if the server did not take the connection) in "
                "the `transport` of `reverse_proxy`, or ask for a stream or fewer tokens."
            ),
        },
    ),
    _Proxy(
        "Apache",
        _is_of_apache,
        {
            413: "raise `LimitRequestBody`, or send less.",
            502: "check that the server named by `ProxyPass` is running; Apache's error log says why it got no answer.",
            503: (
                "it could not connect to the server named by `ProxyPass`: check that this server is running. After a "
                "failure Apache asks it again only after `retry` (60 s by default)."
            ),
            504: "raise `ProxyTimeout`, or ask for a stream or fewer tokens.",
        },
    ),
    _Proxy(
        "AWS's load balancer",
        _is_of_aws,
        {
            502: "its target broke off, or what it sent is not HTTP: check the server's log.",
            503: "its target group has no server: register one, and check that it is running.",
            504: "raise its idle timeout (60 s by default), or ask for a stream or fewer tokens.",
        },
    ),
)


def remedy_of_proxy(status: int, headers: Mapping[str, str], body: str) -> str:
    """Say which proxy answered in place of the server and what to change in it; "" where that is not known.

    Args:
        status: The answer's HTTP status.
        headers: Its headers, by names in small letters.
        body: Its text.

    >>> remedy_of_proxy(413, {"server": "Caddy"}, "")
    'Caddy answered in place of the server: raise `max_size` of `request_body`, or send less.'
    >>> remedy_of_proxy(413, {"server": "Caddy", "via": "1.1 Caddy"}, "")
    ''
    """
    for proxy in _PROXIES:
        if status in proxy.remedies and proxy.wrote(headers, body):
            return f"{proxy.name} answered in place of the server: {proxy.remedies[status]}"
    return ""
