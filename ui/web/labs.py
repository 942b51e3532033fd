"""The labs as the page sees them: one pool for all sessions, the first one booted in the background."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError, LabError
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool, LabSpec, LabState, vllm_version
from prompt_debugger.ui.web.lab_install import LabInstall, progress_words


class LabLine(NamedTuple):
    """What is said about a lab: `installing`, `starting`, `ready`, `failed` or `absent`; a sentence; the part done."""

    state: str
    sentence: str
    fraction: float | None = None


class PageLabs:
    """The pool, whether it may be used, and what is to be said about the lab that boots."""

    def __init__(self, pool: LabPool, *, enabled: bool, installs: LabInstall | None = None) -> None:
        """Make the labs of a page; none is booted yet."""
        self.pool = pool
        self.enabled = enabled and vllm_version() is not None
        self.installs = installs or LabInstall(is_offered=False)
        self._failure: DebuggerError | None = None

    @property
    def is_coming(self) -> bool:
        """Whether there is a lab, or will be without anyone's doing."""
        return self.enabled or self.installs.at_start

    @property
    def offers_install(self) -> bool:
        """Whether the page has something to install, and a button for it."""
        return self.installs.is_offered and not self.enabled

    def install(self, target: Target) -> None:
        """Install vLLM where there is none, then boot the lab of a target; return at once."""
        if not self.enabled:
            self.installs.start(lambda: self._use(target))

    def warm_up(self, target: Target) -> None:
        """Start booting the lab of a target that has no endpoint; return at once."""
        if self.enabled and target.base_url is None:
            threading.Thread(target=self._boot, args=(target.lab,), name="lab-warm-up", daemon=True).start()

    def describe(self, spec: LabSpec) -> LabLine:
        """Return what the page says about the lab of a spec."""
        if not self.enabled:
            return self._describe_absence()
        lab = self.pool.peek(spec)
        if self._failure is not None and (lab is None or lab.state is not LabState.READY):
            return LabLine("failed", f"The lab did not start: {self._failure.message}")
        if lab is None or lab.progress.state is not LabState.STARTING:
            return LabLine("ready", "")
        return LabLine("starting", lab.progress.sentence, round(lab.progress.fraction, 2))

    def _describe_absence(self) -> LabLine:
        progress = self.installs.progress
        if progress is not None:
            return LabLine("installing", f"{progress_words(progress)}; recorded runs until then", progress.fraction)
        if self.installs.failure is not None:
            return LabLine("failed", f"The lab was not installed: {self.installs.failure.message}")
        return LabLine("absent", "No lab here: examples open as recorded runs")

    def _use(self, target: Target) -> None:
        """Take an environment into use that was just installed."""
        self.enabled = vllm_version() is not None
        self.warm_up(target)

    def close(self) -> None:
        """Stop every lab and wait until they are gone; end an installation, which can be continued another time."""
        self.installs.cancel()
        self.pool.stop_all()

    def _boot(self, spec: LabSpec) -> None:
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(self.pool.get(spec))
        except LabError as error:
            self._failure = error
