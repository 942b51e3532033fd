"""`watch --ray ADDRESS`: exchanges are read by the machines of a cluster; what was read is kept where the proxy is.

    process beside the proxy   the line of an exchange  ──►  a worker of the cluster, whichever has least to do
                               row and run, packed  ◄──  written into the journal here

A worker that dies has written nothing, so another one reads what it was at, and one more is started in its place.
Where none is there (the cluster is being joined, or is gone), exchanges are read here.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.watch.reading import Filing, Reader
from prompt_debugger.ui.cli.spread.cluster import joined
from prompt_debugger.ui.cli.target_options import api_key_for

READERS_PER_PROCESSOR = 2


@dataclass(slots=True, eq=False)
class _Worker:
    """A reader on the cluster."""

    actor: Any
    busy: int = 0


class FarReader:
    """Reads lines on a cluster; a reader as `watch` wants one. Each machine has the key in its own environment."""

    def __init__(self, address: str, key_name: str | None, target: Target | None) -> None:
        self._address = address
        self._key_name = key_name
        self._here = Reader(target)
        self._bare = None if target is None else replace(target, api_key=None)
        self._ready: list[_Worker] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._stack = ExitStack()
        self._joining = asyncio.create_task(self._join())

    async def file(self, number: int, line: str) -> Filing | str:
        """See `core.tools.watch.reading.Files`."""
        import ray

        while self._ready:
            worker = min(self._ready, key=lambda one: one.busy)
            worker.busy += 1
            try:
                found, seen = await worker.actor.file.remote(number, line, dict(self._here.reasoning_parsers))
            except ray.exceptions.RayTaskError:  # it lives: reading failed
                break
            except ray.exceptions.RayError:
                self._replace(worker)
                continue
            finally:
                worker.busy -= 1
            self._here.reasoning_parsers.update(seen)
            answer: Filing | str = found
            return answer
        return await self._here.file(number, line)

    async def close(self) -> None:
        """Leave the cluster; its workers end with that."""
        self._joining.cancel()
        for starting in self._starting:
            starting.cancel()
        await asyncio.gather(self._joining, *self._starting, return_exceptions=True)
        await in_thread(self._stack.close)
        await self._here.close()

    async def _join(self) -> None:
        try:
            processors = await in_thread(self._stack.enter_context, joined(self._address))
        except DebuggerError:
            return
        for _ in range(processors):
            self._start()

    def _start(self) -> None:
        task = asyncio.create_task(self._add())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _add(self) -> None:
        """Start a worker; until the cluster has room for it, it is not asked."""
        import ray

        kind: Any = ray.remote(num_cpus=1, max_concurrency=READERS_PER_PROCESSOR)(_FarReading)
        try:
            actor = kind.remote(self._bare, self._key_name)
            await actor.begin.remote()
        except ray.exceptions.RayError:
            return
        self._ready.append(_Worker(actor))

    def _replace(self, worker: _Worker) -> None:
        if worker in self._ready:
            self._ready.remove(worker)
            self._start()


class _FarReading:
    """What a worker of the cluster does."""

    def __init__(self, target: Target | None, key_name: str | None) -> None:
        if target is not None and target.base_url is not None:
            target = replace(target, api_key=api_key_for(target.base_url, key_name))
        self._reader = Reader(target)

    async def begin(self) -> None:
        """Answer as soon as it is there."""

    async def file(self, number: int, line: str, seen: dict[str, bool]) -> tuple[Filing | str, dict[str, bool]]:
        """Return what is kept of an exchange, and what is known of the models since."""
        import ray

        self._reader.reasoning_parsers.update(seen)
        found = await self._reader.file(number, line)
        if isinstance(found, Filing):
            found = found._replace(place=ray.util.get_node_ip_address())
        return found, self._reader.reasoning_parsers
