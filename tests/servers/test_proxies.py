"""Real proxies before a server: what they answer by themselves is laid to them, with the name of their own setting."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Basis
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.tools.lab import LabSpec
from tests.servers.processes import free_port
from tests.servers.running_proxies import Limits, Proxy, caddy, envoy, haproxy, missing, nginx, vllm_router
from tests.servers.scenarios import body_of, debug
from tests.servers.truth import EXPECTED_CALLS, assert_healthy, returned_calls

pytestmark = pytest.mark.servers

PROXIES: dict[str, Proxy] = {"nginx": nginx, "caddy": caddy, "haproxy": haproxy, "envoy": envoy}
TIGHT = Limits(wait_s=1, most_bytes=2000)


@pytest.fixture
def silent_url() -> Iterator[str]:
    """Base URL of a server that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def started(name: str) -> Proxy:
    if why := missing(name):
        pytest.skip(why)
    return PROXIES[name]


async def failure_at(base_url: str, text: str = "hi") -> BackendError:
    async with ServerClient(base_url) as client:
        with pytest.raises(BackendError) as caught:
            await client.chat({"model": "m", "messages": [{"role": "user", "content": text}]})
    return caught.value


@pytest.mark.parametrize(
    ("name", "status", "setting"),
    [
        ("nginx", 504, "`proxy_read_timeout`"),
        ("caddy", 504, "`response_header_timeout`"),
        ("haproxy", 504, "`timeout server`"),
        ("envoy", 504, "the route's `timeout`"),
    ],
)
def test_a_proxy_that_waited_too_long(name, status, setting, silent_url, tmp_path):
    with started(name)(tmp_path, silent_url, TIGHT) as base_url:
        error = asyncio.run(failure_at(base_url))

    assert error.status == status
    assert setting in error.hint
    assert [other for other in PROXIES if other != name and other in error.hint.lower()] == []


@pytest.mark.parametrize(
    ("name", "statuses", "setting"),
    [
        ("nginx", {413}, "`client_max_body_size`"),
        ("caddy", {413, 502}, "`max_size`"),
        ("haproxy", {413}, "`http-request deny`"),
        ("envoy", {413}, "`max_request_bytes`"),
    ],
)
def test_a_body_that_a_proxy_does_not_take(name, statuses, setting, silent_url, tmp_path):
    with started(name)(tmp_path, silent_url, TIGHT) as base_url:
        error = asyncio.run(failure_at(base_url, "hi " * 2000))

    assert error.status in statuses
    assert setting in error.hint


@pytest.mark.parametrize(
    ("name", "status", "advice"),
    [
        ("nginx", 502, "named by `proxy_pass` is running"),
        ("caddy", 502, "named by `reverse_proxy`: check that this server is running"),
        ("haproxy", 503, "check that the servers of its backend are running"),
        ("envoy", 503, "Check whether the server is running"),
    ],
)
def test_a_proxy_whose_server_is_gone(name, status, advice, tmp_path):
    with started(name)(tmp_path, f"http://127.0.0.1:{free_port()}/v1", TIGHT) as base_url:
        error = asyncio.run(failure_at(base_url))

    assert error.status == status
    assert advice in error.hint


@pytest.mark.lab
@pytest.mark.parametrize("fields", [{}, {"stream": True}])
@pytest.mark.parametrize("name", [*PROXIES, "vllm_router"])
def test_a_healthy_run_passes_with_its_ids(name, fields, labs, tmp_path, lab_model_dir):
    upstream = asyncio.run(labs.get(LabSpec())).base_url
    before = vllm_router(tmp_path, upstream) if not missing(name) and name == "vllm_router" else None
    with before or started(name)(tmp_path, upstream, Limits()) as base_url:
        trace = debug(base_url, body_of("healthy", **fields), tokenizer=lab_model_dir)

    assert returned_calls(trace) == EXPECTED_CALLS["healthy"]
    assert_healthy(trace)
    assert trace.evidence is Basis.SAME_RUN
