"""Connections lie in small pools, the first with room is taken."""

import httpx
import pytest

from prompt_debugger.core.complete.backends.clients import Clients


class Built(list[httpx.AsyncClient]):
    def __call__(self) -> httpx.AsyncClient:
        self.append(httpx.AsyncClient(trust_env=False))
        return self[-1]


@pytest.fixture
def built():
    return Built()


async def test_few_questions_share_one_pool(built):
    clients = Clients(built)
    for _ in range(20):
        with clients.take(), clients.take():
            pass

    assert len(built) == 1
    await clients.close()


async def test_many_at_once_are_spread_and_pools_are_used_again(built):
    clients = Clients(built)
    taken = [clients.take() for _ in range(20)]
    first = [one.__enter__() for one in taken]
    for one in taken:
        one.__exit__(None, None, None)
    with clients.take() as again:
        pass

    assert len(built) == 3
    assert max(first.count(client) for client in built) == 8
    assert again is built[0]
    await clients.close()


async def test_closing_closes_all(built):
    clients = Clients(built)
    taken = [clients.take() for _ in range(9)]
    for one in taken:
        one.__enter__()

    await clients.close()

    assert [client.is_closed for client in built] == [True, True]
