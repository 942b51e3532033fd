"""What is said in front of a server: by nginx, Caddy, Cloudflare, and the libraries that they are made of."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "a proxy in front of the server"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Client sent an HTTP request to an HTTPS server.",
        Stage.REQUEST,
        "The address uses http, but the port expects https.",
        "Write `https://` in the address.",
        "Go, net/http",
        cause=Cause.ADDRESS,
    ),
    KnownError(
        "The plain HTTP request was sent to HTTPS port",
        Stage.REQUEST,
        "The address uses http, but the port expects https.",
        "Write `https://` in the address.",
        "nginx, ngx_http_special_response",
        cause=Cause.ADDRESS,
    ),
    KnownError(
        "413 Request Entity Too Large",
        Stage.REQUEST,
        "The proxy does not accept a body of that size.",
        "Raise the proxy's limit (`client_max_body_size` of nginx, `LimitRequestBody` of Apache), or send less.",
        "nginx, ngx_http_special_response",
        cause=Cause.SETTING,
    ),
    KnownError(
        "upstream connect error or disconnect/reset before headers.",
        Stage.COMPLETE,
        "The proxy could not reach its upstream server.",
        "Check whether the server is running, and its log.",
        "Envoy",
        cause=Cause.SERVER,
    ),
    KnownError(
        "no healthy upstream",
        Stage.COMPLETE,
        "The proxy (Envoy) knows no server for this address that it considers healthy; none was asked.",
        "Check whether the server is running, and in the proxy its addresses and the result of its health check.",
        "Envoy, source/common/router/router.cc",
        cause=Cause.SERVER,
    ),
    KnownError(
        "error code: 1020",
        Stage.COMPLETE,
        "A firewall rule in front of the server (Cloudflare) turned the client away; the server never saw the request.",
        "Ask the site's owner to allow this client, address or country; the request itself needs no change.",
        "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/",
        cause=Cause.SETTING,
    ),
    KnownError(
        "error code: 1015",
        Stage.COMPLETE,
        "A rule in front of the server (Cloudflare) limits how often a client asks; the server never saw the request.",
        "Wait, and send fewer requests at a time; the owner of the site can raise the limit.",
        "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors/",
        cause=Cause.RATE,
    ),
    KnownError(
        "No available workers (all circuits open or unhealthy)",
        Stage.COMPLETE,
        "The router (vLLM's) asks none of its workers: it considers each of them unhealthy, after requests or health "
        "checks that failed.",
        "Check whether the workers are running and can be reached from the router; the router's log has the failures.",
        "vllm-router 0.1.17, src/routers/http/router.rs",
        cause=Cause.SERVER,
    ),
    KnownError(
        "storage error: not found: Response with id '{name:word}'",
        Stage.REQUEST,
        "`previous_response_id` names a response that this gateway (vLLM's agentic-api) has not stored.",
        "Send the whole conversation in `input` in place of `previous_response_id`, or an id that this gateway "
        "returned and stored.",
        "agentic-api 0.9, run before a vLLM",
        example="storage error: not found: Response with id 'resp_1'",
    ),
    KnownError(
        "Provider '{name:word}' not found",
        Stage.REQUEST,
        "The configuration has no provider with that name.",
        "Add a provider with that name to the configuration, or name one that it has: claude-code-router reads "
        "`provider,model` from `model` and from its `Router`, and the names of providers from its `Providers`.",
        "claude-code-router 2.0, run before a vLLM",
        cause=Cause.SETTING,
        example="Provider 'other' not found",
    ),
    KnownError(
        "RBAC: access denied",
        Stage.COMPLETE,
        "A policy of the proxy or mesh (Envoy, Istio) does not allow this client; the server never saw the request.",
        "Allow the client in that policy; the request itself needs no change.",
        "Envoy, envoy.filters.http.rbac",
        cause=Cause.SETTING,
    ),
)
