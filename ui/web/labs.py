"""The labs as the page sees them: one pool for all sessions, the first one booted behind the page."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import NamedTuple

from prompt_debugger.core.errors import DebuggerError, LabError
from prompt_debugger.core.lab import LabPool, LabSpec, LabState, vllm_version
from prompt_debugger.core.pipeline import Target


class LabLine(NamedTuple):
    """What is said about a lab: `starting`, `ready`, `failed` or `absent`; a sentence; the part of the boot done."""

    state: str
    sentence: str
    fraction: float | None = None


class PageLabs:
    """The pool, whether it may be used, and what is to be said about the lab that boots.

    Attributes:
        pool: The labs.
        enabled: Whether the page may boot any.
    """

    def __init__(self, pool: LabPool, *, enabled: bool) -> None:
        self.pool = pool
        self.enabled = enabled and vllm_version() is not None
        self._failure: DebuggerError | None = None

    def warm_up(self, target: Target) -> None:
        """Start booting the lab of a target that has no endpoint; return at once."""
        if self.enabled and target.base_url is None:
            threading.Thread(target=self._boot, args=(target.lab,), name="lab-warm-up", daemon=True).start()

    def describe(self, spec: LabSpec) -> LabLine:
        """Return what the page says about the lab of a spec."""
        if not self.enabled:
            return LabLine(
                "absent", "No lab here: worked cases are recorded runs; name an endpoint under Target to run"
            )
        lab = self.pool.peek(spec)
        if self._failure is not None and (lab is None or lab.state is not LabState.READY):
            return LabLine("failed", f"The lab did not start: {self._failure.message}")
        if lab is None or lab.progress.state is not LabState.STARTING:
            return LabLine("ready", "")
        return LabLine("starting", lab.progress.sentence, round(lab.progress.fraction, 2))

    def close(self) -> None:
        """Stop every lab and wait until they are gone."""
        self.pool.stop_all()

    def _boot(self, spec: LabSpec) -> None:
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(self.pool.get(spec))
        except LabError as error:
            self._failure = error
