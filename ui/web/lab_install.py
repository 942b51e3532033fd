"""The lab's environment installed from the page, once for all visitors; those who may not start it see its progress."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.tools.lab.environment import Installation, InstallPlan, InstallProgress, plan_install

_EARLY = 0.05  # before that no time left is foretold

_log = logging.getLogger(__name__)


class LabInstall:
    """An installation that runs alongside the page; visitors may start and cancel it on their own machine only."""

    def __init__(
        self,
        *,
        is_offered: bool,
        at_start: bool = False,
        plan: Callable[[], InstallPlan] = plan_install,
        check: tuple[str, ...] = (),
    ) -> None:
        """Do nothing yet; `check` has statements that the new environment must run, if not the usual ones."""
        self.is_offered = is_offered
        self.at_start = at_start
        self.failure: LabError | None = None
        self._plan = plan
        self._check = check
        self._lock = threading.Lock()
        self._running: Installation | None = None

    @property
    def progress(self) -> InstallProgress | None:
        """How far it is; `None` while none is running."""
        running = self._running
        return None if running is None else running.progress

    def describe(self) -> str:
        """Return what would be installed, where, how big; or why it cannot be."""
        try:
            return self._plan().sentence
        except LabError as error:
            return f"The lab cannot be installed: {error.message} {error.hint}"

    def start(self, on_done: Callable[[], None]) -> None:
        """Begin, unless one is running; returns at once. When the environment is there, a thread calls `on_done`."""
        with self._lock:
            if self._running is not None:
                return
            self.failure = None
            try:
                self._running = Installation(self._plan(), check=self._check)
            except LabError as error:
                self._fail(error)
                return
            threading.Thread(target=self._run, args=(self._running, on_done), name="lab-install", daemon=True).start()

    def cancel(self) -> None:
        """End it; what is done is kept."""
        running = self._running
        if running is not None:
            running.cancel()

    def _run(self, installation: Installation, on_done: Callable[[], None]) -> None:
        try:
            installation.run()
            on_done()
        except LabError as error:
            if not installation.is_cancelled:
                self._fail(error)
        except Exception as error:  # a bug of ours must not look like an installation that is still running
            self._fail(LabError(f"This program failed: {type(error).__name__}"))
            raise
        finally:
            self._running = None

    def _fail(self, error: LabError) -> None:
        self.failure = error
        _log.warning("the lab could not be installed: %s (%s)\n%s", error.message, error.hint, error.log_tail)


def progress_words(progress: InstallProgress) -> str:
    """Return how far an installation is, and when the lab will be there, a sentence."""
    left = ""
    if progress.fraction > _EARLY:
        left = f", {_duration(progress.elapsed_s * (1 - progress.fraction) / progress.fraction)} left"
    return f"The lab is being installed: {progress.fraction:.0%}{left}"


def _duration(seconds: float) -> str:
    return f"about {max(1, round(seconds / 60))} min"
