"""A page for strangers reaches listed servers at public addresses, and no spelling, redirect or rebinding gets past."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.complete import NetworkGuard, ServerClient, guard_of
from prompt_debugger.core.complete.backends.guard import build_transport, is_public_address, origin_of
from prompt_debugger.core.complete.backends.outside import resolve_name
from tests.core.complete.faulty_server import FaultyServer, answer, faulty_server

LISTED = "http://model.example"
PUBLIC = ["8.8.8.8", "1.1.1.1", "100.63.255.255", "172.32.0.1", "192.0.1.1", "223.255.255.255", "2606:4700::1111"]
CLOSED = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.255", "168.63.129.16",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1",
    "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::8.8.8.8", "::ffff:0:8.8.8.8",
    "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:20::1", "2001:db8::1",
    "2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%lo", "fec0::1", "ff02::1",
    "2606:4700::1%lo", "", "localhost", "2130706433", "0x7f.1", "127.1", "0177.0.0.1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_public_internet_is_public(address: str) -> None:
    assert is_public_address(address)


@pytest.mark.parametrize("address", CLOSED)
def test_any_other_address_is_not(address: str) -> None:
    assert not is_public_address(address)


def test_no_address_that_python_calls_private_is_public() -> None:
    """A second opinion on the tables: the library's own, over addresses at the edges of every network."""
    import ipaddress

    from prompt_debugger.core.complete.backends.guard import _CLOSED_IPV4, _CLOSED_IPV6

    networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = [*_CLOSED_IPV4, *_CLOSED_IPV6]
    edges = [
        network[index] + step
        for network in networks
        for index, step in ((0, -1), (0, 0), (-1, 0), (-1, 1))
        if 0 <= int(network[index]) + step < 2**network.max_prefixlen
    ]

    assert [
        str(edge) for edge in edges if is_public_address(str(edge)) and not ipaddress.ip_address(edge).is_global
    ] == []


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.Example.com/v1", "https://api.example.com:443"),
        ("http://h:80/v1", "http://h:80"),
        ("https://h:8443/v1", "https://h:8443"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example:443"),
        ("http://[2606:4700::1]/v1", "http://[2606:4700::1]:80"),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "https://listed.example.evil.example/v1", "http://listed.example/v1", "https://listed.example:8443/v1",
        "https://evil.example/v1#listed.example", "https://sub.listed.example/v1", "https://8.8.8.8/v1",
        "file:///etc/passwd", "https://listed.example@evil.example/v1", "gopher://listed.example/", "http://127.0.0.1/v1",
        "https://listed.example/other/v1", "https://listed.example/v1/../admin",
    ],
)  # fmt: skip
def test_what_is_not_listed_is_refused(url: str) -> None:
    guard = guard_of(["https://listed.example/v1"])

    with pytest.raises(BackendError) as caught:
        ServerClient(url, guard=guard)

    assert caught.value.kind == "refused"


@pytest.mark.parametrize(
    "url", ["https://listed.example/v1", "https://LISTED.example:443/v1/", "https://listed.example"]
)
def test_what_is_listed_is_not_refused(url: str) -> None:
    ServerClient(url, guard=guard_of(["https://listed.example/v1"]))


def test_a_refusal_names_what_is_listed() -> None:
    with pytest.raises(BackendError) as caught:
        ServerClient("https://other.example/v1", guard=guard_of(["https://listed.example/v1"]))

    assert "https://other.example" in caught.value.message
    assert "https://listed.example" in caught.value.hint


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "017700000001", "[::1]", "[::ffff:127.0.0.1]"]
)
async def test_no_spelling_of_this_machine_gets_through_even_if_listed(host: str) -> None:
    """With the machine's own resolver, which understands all of these."""
    async with faulty_server(answer(200, {"data": []})) as server:
        url = f"http://{host}:{_port(server)}/v1"
        error = await _refused(ServerClient(url, guard=guard_of([url])))

    assert "not public" in error.message
    assert server.received == []


@pytest.mark.parametrize("addresses", [["8.8.8.8", "127.0.0.1"], ["10.0.0.1"], ["::ffff:7f00:1"], []])
async def test_one_address_that_is_not_public_is_enough_to_refuse(addresses: Sequence[str]) -> None:
    guard = guard_of([f"{LISTED}:80"], _resolver(addresses))

    error = await _refused(ServerClient(f"{LISTED}/v1", guard=guard))

    assert (error.kind, "not public" in error.message) == ("refused", True)
    assert not any(address in error.message for address in addresses), "what a name means inside is nobody's business"


async def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    """The name resolves to a good address when judged, and would to another one if anyone looked again."""
    asked: list[str] = []

    async def rebind(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.66"]

    async with (
        faulty_server(answer(200, {"data": [{"id": "m"}]})) as server,
        _loopback_at("127.0.0.66", server) as trap,
    ):
        guard = guard_of([f"{LISTED}:{_port(server)}"], rebind, lambda address: address == "127.0.0.1")
        async with _client(guard) as client:
            found = await client.get(f"{LISTED}:{_port(server)}/v1/models")

    assert found.json() == {"data": [{"id": "m"}]}
    assert server.received[0].headers["host"] == f"model.example:{_port(server)}"
    assert (asked, trap.received) == (["model.example"], [])


async def test_a_name_that_is_rebound_between_two_requests_is_refused_at_the_second() -> None:
    answers = iter([["127.0.0.1"], ["127.0.0.66"]])

    async def rebind(_host: str, _port: int) -> Sequence[str]:
        return next(answers)

    async with faulty_server(answer(200, {})) as server:
        guard = guard_of([f"{LISTED}:{_port(server)}"], rebind, lambda address: address == "127.0.0.1")
        async with _client(guard) as client:
            url = f"{LISTED}:{_port(server)}/v1/models"
            first = await client.get(url)
            with pytest.raises(BackendError, match="not public"):
                await client.get(url)

    assert first.status_code == 200
    assert len(server.received) == 1


@pytest.mark.parametrize("target", ["http://127.0.0.1:{port}/x", "http://other.example/x", "http://model.example:1/x"])
async def test_each_redirect_is_judged(target: str) -> None:
    """Our client follows none; the guard would hold if it did."""
    async with faulty_server(answer(200, {"secret": True})) as inside:
        location = target.format(port=_port(inside))
        async with faulty_server(answer(307, b"", location=location)) as server:
            origin = f"{LISTED}:{_port(server)}"
            guard = guard_of([origin], _resolver(["127.0.0.1"]), lambda _: True)
            async with _client(guard, follow_redirects=True) as client:
                with pytest.raises(BackendError, match="sends nothing to"):
                    await client.get(f"{origin}/v1/models")

    assert inside.received == []


async def test_a_redirect_within_the_listed_server_passes_the_guard() -> None:
    async with faulty_server({"/old": answer(307, b"", location="/new"), "/new": answer(200, {"ok": True})}) as server:
        origin = f"{LISTED}:{_port(server)}"
        guard = guard_of([origin], _resolver(["127.0.0.1"]), lambda _: True)
        async with _client(guard, follow_redirects=True) as client:
            found = await client.get(f"{origin}/old")

    assert found.json() == {"ok": True}


async def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would resolve the name itself, where no one judges it."""
    async with faulty_server(answer(200, {})) as proxy, faulty_server(answer(200, {"data": []})) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{_port(proxy)}")
        guard = guard_of([f"{LISTED}:{_port(server)}"], _resolver(["127.0.0.1"]), lambda _: True)
        async with ServerClient(f"{LISTED}:{_port(server)}/v1", guard=guard) as client:
            await client.probe()

    assert proxy.received == []
    assert server.received != []


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async with faulty_server(answer(200, {"data": []})) as server:
        guard = guard_of([f"{LISTED}:{_port(server)}"], _resolver(["127.0.0.66", "127.0.0.1"]), lambda _: True)
        async with ServerClient(f"{LISTED}:{_port(server)}/v1", guard=guard) as client:
            await client.probe()

    assert server.received != []


async def test_a_host_that_does_not_exist_is_unreachable() -> None:
    async def fail(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    error = await _refused(ServerClient(f"{LISTED}/v1", guard=guard_of([f"{LISTED}:80"], fail)))

    assert error.kind == "unreachable"
    assert "the host `model.example` was not found" in error.message


@pytest.mark.parametrize(("name", "is_trusted"), [("model.example", True), ("other.example", False)])
async def test_the_certificate_is_checked_against_the_name_not_the_address(
    tmp_path: Path, name: str, is_trusted: bool
) -> None:
    pytest.importorskip("cryptography", reason="makes the certificate; comes along with vLLM")
    from tests.core.complete.certificates import self_signed_context

    context = self_signed_context(tmp_path, "model.example")
    trust = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    async with faulty_server(answer(200, {"ok": True}), tls=context) as server:
        origin = f"https://{name}:{_port(server)}"
        guard = guard_of([origin], _resolver(["127.0.0.1"]), lambda _: True)
        async with httpx.AsyncClient(transport=build_transport(guard, httpx.Limits(), trust)) as client:
            if is_trusted:
                assert (await client.get(f"{origin}/x")).json() == {"ok": True}
            else:
                with pytest.raises(httpx.ConnectError, match="Hostname mismatch"):
                    await client.get(f"{origin}/x")


async def test_the_machines_resolver_reads_odd_spellings_and_repeats_nothing() -> None:
    assert await resolve_name("2130706433", 80) == ("127.0.0.1",)
    assert "127.0.0.1" in await resolve_name("localhost", 80)


async def test_without_a_guard_this_machine_is_reached() -> None:
    async with faulty_server(answer(200, {"data": []})) as server, ServerClient(server.base_url) as client:
        await client.probe()

    assert server.received != []


def _port(server: FaultyServer) -> int:
    return httpx.URL(server.base_url).port or 0


def _client(guard: NetworkGuard, *, follow_redirects: bool = False) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=build_transport(guard, httpx.Limits()), follow_redirects=follow_redirects)


def _resolver(addresses: Sequence[str]) -> Callable[[str, int], asyncio.Future[Sequence[str]]]:
    def resolve(_host: str, _port: int) -> asyncio.Future[Sequence[str]]:
        found: asyncio.Future[Sequence[str]] = asyncio.get_running_loop().create_future()
        found.set_result(addresses)
        return found

    return resolve


async def _refused(client: ServerClient) -> BackendError:
    async with client:
        with pytest.raises(BackendError) as caught:
            await client.probe()
    return caught.value


@asynccontextmanager
async def _loopback_at(host: str, beside: FaultyServer) -> AsyncIterator[FaultyServer]:
    """Run a server on another loopback address, at the same port."""
    state = FaultyServer("", {"*": answer(200, {"trap": True})})
    server = await asyncio.start_server(state.serve, host, _port(beside))
    async with server:
        yield state
