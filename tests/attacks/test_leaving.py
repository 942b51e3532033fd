"""After hostile visitors have left, nothing works on for them, and as many processes are there as always."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.conftest import start
from tests.attacks.page import RunningPage, Visitor, process_tree
from tests.patience import PATIENCE_S

HONEST = "127.0.0.8"
ENDLESS = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"
PAGES, PROBES = 10, 3  # of five addresses; a probe takes a second of processor time until a limit ends it
WORKERS = max(2, min(4, os.cpu_count() or 2)) + 1  # of each forkserver, the slow one included
LOOKS = 3
QUIET_S = 0.3  # of processor time, beside an honest visitor's questions
TICKS = os.sysconf("SC_CLK_TCK")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@pytest.fixture
def attacked(endpoint: str) -> Iterator[RunningPage]:
    """A public page of its own: others' work would be counted, too."""
    running = start("public", endpoint, is_cold=True)
    yield running
    running.end()


async def test_work_of_visitors_who_left_ends_and_its_processes_go(attacked: RunningPage) -> None:
    async with Visitor(attacked, HONEST) as honest:
        assert "ECHO MINE" in await honest.run("MINE")
        attack = asyncio.gather(*(send_and_listen(attacked, f"127.0.2.{number // 2 + 1}") for number in range(PAGES)))
        await Work(attacked).more_than(1.0)
        attack.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attack

        left = Work(attacked)
        async with asyncio.timeout(PATIENCE_S):
            while not await is_quiet(attacked, honest) or not left.is_back():
                await asyncio.sleep(0.2)

        assert "ECHO AGAIN" in await honest.run("AGAIN")
    assert left.used_s() < PAGES * PROBES / 3, "their work went on after them"


class Work:
    """What the processes of a page have used since now."""

    def __init__(self, page: RunningPage) -> None:
        self._page = page
        self._before_s = self._used_s()

    def used_s(self) -> float:
        """Return their processor time since then, also of those that have gone: their forkservers were told."""
        return self._used_s() - self._before_s

    async def more_than(self, seconds: float) -> None:
        """Wait until they have used so much."""
        async with asyncio.timeout(PATIENCE_S):
            while self.used_s() < seconds:
                await asyncio.sleep(0.02)

    def is_back(self) -> bool:
        """Say whether there are no more processes than the page keeps."""
        forkservers = children_of(self._page.process.pid)
        return all(len(children_of(forkserver)) <= WORKERS for forkserver in forkservers)

    def _used_s(self) -> float:
        return sum(map(used_s, process_tree(self._page.process.pid)[1:]))


async def is_quiet(page: RunningPage, honest: Visitor) -> bool:
    """Say whether nothing but an honest visitor's questions is worked on: what only waits for its turn works, too."""
    beside = Work(page)
    for _ in range(LOOKS):
        assert "process_completed" in await honest.ask("check_request", "{}")
        if any((stat_of(pid) or "Z")[0] in "RD" for pid in process_tree(page.process.pid)[1:]):
            return False
    return beside.used_s() < QUIET_S


async def send_and_listen(page: RunningPage, address: str) -> None:
    """Send work without an end from one page, and listen until its end."""
    async with Visitor(page, address) as visitor:
        for _ in range(PROBES):
            joined = await visitor.join("probe_template", ENDLESS)
            assert joined.status_code == 200, joined.text
        await visitor.listen()


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started, those that have ended left out."""
    return [child for child in process_tree(pid)[1:] if parent_of(child) == pid]


def parent_of(pid: int) -> int:
    fields = stat_of(pid)
    return int(fields[1]) if fields and fields[0] != "Z" else 0


def used_s(pid: int) -> float:
    """Return the processor time of a process and of those of its own that have ended."""
    return sum(map(int, stat_of(pid)[11:15])) / TICKS


def stat_of(pid: int) -> list[str]:
    """Return what the system says of a process from its state on, nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
