"""Sharing labs: real servers, the quick kind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import httpx
import pytest

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.tools.lab import LabPool, LabProgress, LabSpec, LabState
from tests.patience import PATIENCE_S

WaitGone = Callable[[Iterable[int]], set[int]]


def wait_refused(port: int) -> None:
    """Wait until no one listens: a server that forked another process outlives the one that was killed."""
    for _ in range(PATIENCE_S * 100):
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.01)
    pytest.fail(f"somebody still listens on {port}")


@pytest.fixture
async def pool() -> AsyncIterator[LabPool]:
    pool = LabPool(max_running=1)
    yield pool
    pool.stop_all()


async def test_a_failed_boot_reaches_all_callers_and_frees_its_place(pool: LabPool, tmp_path: Path) -> None:
    spec = LabSpec(model_dir=tmp_path / "nowhere")

    results = await asyncio.gather(pool.get(spec), pool.get(spec), return_exceptions=True)
    with pytest.raises(LabError, match="There is no model folder"):
        await pool.get(LabSpec(model_dir=tmp_path / "nowhere either"))

    assert [type(result) for result in results] == [LabError, LabError]
    assert pool.labs == ()


@pytest.mark.lab
@pytest.mark.timeout(900)
async def test_callers_share_a_boot_and_one_that_leaves_takes_nothing_along(
    pool: LabPool, tokenizer_dir: Path, wait_gone: WaitGone
) -> None:
    spec = LabSpec(model_dir=tokenizer_dir, kind="renderer")
    booting = asyncio.Event()
    leaver = asyncio.create_task(pool.get(spec, lambda _: booting.set()))
    await booting.wait()

    others = asyncio.gather(pool.get(spec), pool.get(spec))
    leaver.cancel()
    first, second = await others

    assert leaver.cancelled()
    assert first is second
    assert pool.labs == (first,)
    assert pool.peek(spec) is first
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            first.base_url.removesuffix("/v1") + "/tokenize", json={"model": first.model, "prompt": "hello"}
        )
    assert answer.json()["count"] > 0
    pid = first.pid
    assert pid is not None

    pool.stop_all()

    assert wait_gone([pid]) == set()
    assert first.state is LabState.STOPPED
    assert not pool.labs


@pytest.mark.lab
@pytest.mark.timeout(900)
async def test_a_dead_lab_is_started_anew_and_a_busy_one_is_waited_for(
    pool: LabPool, tokenizer_dir: Path, wait_gone: WaitGone
) -> None:
    spec = LabSpec(model_dir=tokenizer_dir, kind="renderer")
    other = LabSpec(model_dir=tokenizer_dir, kind="renderer", tool_parser="hermes")
    dead = await pool.get(spec)
    assert dead.pid is not None

    os.kill(dead.pid, signal.SIGKILL)
    assert wait_gone([dead.pid]) == set()
    await asyncio.to_thread(wait_refused, dead.port)
    fresh = await pool.get(spec)

    assert fresh is not dead
    assert dead.state is LabState.FAILED
    failure = dead.failure()
    assert failure is not None
    assert "killed from outside" in failure.message

    waiting = asyncio.Event()
    sentences: list[str] = []

    def listen(progress: LabProgress) -> None:
        sentences.append(progress.sentence)
        waiting.set()

    async with pool.lease(spec) as held:
        newcomer = asyncio.create_task(pool.get(other, listen))
        await waiting.wait()
        assert held is fresh
        assert fresh.is_healthy()
        assert sentences == ["Waiting until one of 1 busy labs is free"]
    lab = await newcomer

    assert lab.spec is other
    assert fresh.state is LabState.STOPPED
    assert pool.labs == (lab,)
