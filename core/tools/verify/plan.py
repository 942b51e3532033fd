"""What a verification is asked to do, its progress, and how it ended."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import Api
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.tools.verify.asking import Budget, Patience
from prompt_debugger.core.tools.verify.dataset import Preparation, Shard
from prompt_debugger.core.tools.verify.results import About


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be verified.

    Attributes:
        dataset: The file.
        targets: The server, and the one it is compared with, if any.
        journal: Where answers are kept.
        preparation: What is changed in every request.
        shard: Which part of the dataset.
        limit: Most rows of the dataset.
        concurrency: Questions under way at once; `None` finds a number.
        timeout_s: How long an answer may take.
        patience: How often to try.
        budget: What may be used.
        is_fresh: Whether what the journal holds is forgotten.
    """

    dataset: Path
    targets: tuple[Target, ...]
    journal: Path
    preparation: Preparation = field(default_factory=Preparation)
    shard: Shard = field(default_factory=Shard)
    limit: int | None = None
    concurrency: int | None = None
    timeout_s: float = 600.0
    patience: Patience = field(default_factory=Patience)
    budget: Budget = field(default_factory=Budget)
    is_fresh: bool = False

    @property
    def apis(self) -> tuple[Api, ...]:
        """By which API each target is asked."""
        return tuple(target.api or Api.CHAT for target in self.targets)


@dataclass(slots=True)
class Progress:
    """How far it is, in rows over all servers, and in calls that were lost in this session.

    `limit` is how many questions may be under way, `read_before` what was read when this session began.
    """

    total: int = 0
    answered: int = 0
    read: int = 0
    failed: int = 0
    lost: int = 0
    limit: int = 0
    read_before: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended.

    Attributes:
        stopped: Why it ended before every row was done; `None` if it did not.
        error: The failure that ended it, if one did.
        names: The servers, as a reader knows them.
        remaining: Rows without a result, by server.
        started_at: When the first session began.
        duration_ms: Time of all sessions.
        rows: Rows to be asked of each server.
    """

    stopped: str | None
    error: DebuggerError | None
    names: tuple[str, ...]
    remaining: tuple[int, ...]
    started_at: str
    duration_ms: int
    rows: int

    def about(self, plan: Plan, side: int = 0) -> About:
        """Return what the summary of a server says besides its counts."""
        return About(
            dataset=plan.dataset.name,
            endpoint=self.names[side],
            shard=str(plan.shard),
            rows=self.rows,
            remaining=self.remaining[side],
            stopped=self.stopped,
            started_at=self.started_at,
            duration_ms=self.duration_ms,
            error=self.error,
            api=plan.apis[side],
        )


class Stop:
    """Asks a session to end: once, and what was answered is still read; twice, and that is left for the next time."""

    def __init__(self) -> None:
        self.asking = asyncio.Event()
        self.reading = asyncio.Event()

    def ask(self) -> None:
        """Ask it to end; the second time at once."""
        (self.reading if self.asking.is_set() else self.asking).set()
