"""`verify --ray ADDRESS`: the shards of a dataset on a cluster, each as `verify` does one here.

A task asks and reads its shard and writes into the keeper's journal. Ray starts a task
again whose machine died; what was answered is in the journal, so it is not asked again.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.sandbox import close_sandboxes
from prompt_debugger.core.tools.verify import Budget, Outcome, Plan, Preparation, Progress, Shard, Stop, verify
from prompt_debugger.core.tools.verify.dataset import count_rows, read_rows
from prompt_debugger.ui.cli.spread.cluster import joined
from prompt_debugger.ui.cli.spread.keeper import FarJournal, Journals, Keeper, journal_paths
from prompt_debugger.ui.cli.target_options import api_key_for

_LOOK_S = 1.0
_RETRIES = 100  # of a task whose machine died; what it answered is not asked again
Finish = Callable[[Plan, Journals, Outcome], int]


class _Shared(NamedTuple):
    """What every task is given; no key: each machine has its own in its environment."""

    plan: Plan
    shards: int
    key_name: str | None
    path: Path


def verify_on_ray(
    options: argparse.Namespace, plan: Plan, finish: Finish, on_progress: Callable[[Progress], None]
) -> int:
    """Verify on a cluster, and return the exit status.

    Raises:
        RequestError: The options do not go together, or the cluster cannot be joined.
    """
    if any(target.base_url is None for target in plan.targets):
        raise RequestError("--ray needs an --endpoint that every machine can reach.", field="--ray")
    if any(target.extra_headers for target in plan.targets):
        raise RequestError(
            "--extra-headers are not sent to a cluster: they may contain keys.",
            "Run without --ray (there are --shard and `verify merge`), or use a gateway that adds them.",
            field="--extra-headers",
        )
    if any(target.ca_file for target in plan.targets):
        raise RequestError(
            "`--ca-file` names a file that the machines of a cluster may not have.",
            "Set SSL_CERT_FILE on each of them, and leave --ca-file out.",
            field="--ca-file",
        )
    if options.shard != "1/1":
        raise RequestError("--ray creates its own shards.", "Leave --shard out.", field="--shard")
    began = time.monotonic()
    with joined(options.ray) as processors:
        paths = journal_paths(plan.journal, processors)
        outcomes = _run_shards(plan, paths, options.api_key_env, on_progress)
    with Journals(paths) as journals:
        outcome = _together(plan, outcomes, journals, began)
        return finish(plan, journals, outcome)


def _run_shards(
    plan: Plan, paths: list[Path], key_name: str | None, on_progress: Callable[[Progress], None]
) -> list[Outcome]:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    keeper: Any = ray.remote(Keeper).options(num_cpus=0, scheduling_strategy=here).remote(plan.dataset.resolve(), [
        path.resolve() for path in paths
    ])  # fmt: skip
    bare = replace(plan, is_fresh=False, targets=tuple(replace(target, api_key=None) for target in plan.targets))
    shared = _Shared(bare, len(paths), key_name, plan.journal)
    task: Any = ray.remote(num_cpus=1, max_retries=_RETRIES)(_verify_shard)
    numbers = range(1, len(paths) + 1)
    if plan.is_fresh:  # once, and not again by a task that is started again
        ray.get([keeper.call.remote(number, "forget") for number in numbers])
    left = [task.remote(keeper, shared, number) for number in numbers if _has_rows(plan, number, len(paths))]
    every = list(left)
    progress = Progress(total=count_rows(plan.dataset, shard=Shard(), limit=plan.limit) * len(plan.targets))
    progress.read_before = ray.get(keeper.count.remote())[1]
    while left:
        try:
            _, left = ray.wait(left, num_returns=len(left), timeout=_LOOK_S)
            progress.answered, progress.read, progress.failed = ray.get(keeper.count.remote())
            on_progress(progress)
        except KeyboardInterrupt:
            ray.get(keeper.stop.remote())
    outcomes: list[Outcome] = ray.get(every)
    ray.get(keeper.close.remote())
    return outcomes


def _has_rows(plan: Plan, number: int, count: int) -> bool:
    return next(read_rows(plan.dataset, Preparation(), shard=Shard(number, count), limit=plan.limit), None) is not None


def _verify_shard(keeper: Any, shared: _Shared, number: int) -> Outcome:  # noqa: ANN401  # Ray's
    """Ask and read one shard; what a task of the cluster does."""
    with scratch("shard") as folder:
        dataset = folder / shared.plan.dataset.name
        _fetch(keeper, number, dataset)
        plan = replace(
            shared.plan,
            dataset=dataset,
            shard=Shard(number, shared.shards),
            targets=tuple(
                replace(one, api_key=api_key_for(str(one.base_url), shared.key_name)) for one in shared.plan.targets
            ),
            concurrency=_share(shared.plan.concurrency, shared.shards),
            budget=Budget(
                _share(shared.plan.budget.requests, shared.shards),
                _share(shared.plan.budget.tokens, shared.shards),
                shared.plan.budget.seconds,
            ),
        )
        try:
            return asyncio.run(_verify(plan, FarJournal(keeper, number, shared.path), keeper))
        finally:
            close_sandboxes()


def _fetch(keeper: Any, number: int, dataset: Path) -> None:  # noqa: ANN401
    import ray

    offset: int | None = 0
    with dataset.open("wb") as file:
        while offset is not None:
            lines, offset = ray.get(keeper.lines.remote(number, offset))
            file.write(lines)


async def _verify(plan: Plan, journal: FarJournal, keeper: Any) -> Outcome:  # noqa: ANN401
    stop = Stop()

    async def listen() -> None:
        while not await keeper.is_stopping.remote():
            await asyncio.sleep(_LOOK_S)
        stop.ask()

    listening = asyncio.ensure_future(listen())
    try:
        return await verify(plan, journal, clock=time.monotonic, stop=stop)
    finally:
        listening.cancel()


def _share(whole: int | None, count: int) -> int | None:
    return None if whole is None else max(1, -(-whole // count))


def _together(plan: Plan, outcomes: Sequence[Outcome], journals: Journals, began: float) -> Outcome:
    rows = count_rows(plan.dataset, shard=Shard(), limit=plan.limit)
    ran = [outcome for outcome in outcomes if outcome.rows]
    done = [sum(1 for _ in journals.rows(side)) for side in range(len(plan.targets))]
    return Outcome(
        stopped=next((outcome.stopped for outcome in ran if outcome.stopped), None),
        error=next((outcome.error for outcome in ran if outcome.error), None),
        names=next(outcome.names for outcome in ran),
        remaining=tuple(rows - count for count in done),
        started_at=min(outcome.started_at for outcome in ran),
        duration_ms=round((time.monotonic() - began) * 1000),
        rows=rows,
    )
