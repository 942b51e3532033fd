"""The runs a visitor can compare: the last ones of the page, and bundles; bounded, for they stay in memory."""

from __future__ import annotations

import itertools
import logging
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.ui.present import pack_payload
from prompt_debugger.ui.present.comparison import NamedRun, run_badge
from prompt_debugger.ui.web.sharing import Sharing
from prompt_debugger.ui.web.work import compare_runs

MAX_RUNS = 6
MAX_PUBLIC_RUNS = 3
MAX_TOKENS = 600_000  # of all prompts that are kept

Runs = tuple[NamedRun, ...]

_log = logging.getLogger(__name__)


class Choices(NamedTuple):
    """What there is to choose from after a run came in.

    Attributes:
        runs: Oldest first.
        left: Name of the run to show as A; `None` if there is but one.
        right: Name of the run to show as B.
    """

    runs: Runs
    left: str | None
    right: str | None


class Comparing:
    """What the events of the compare panel do."""

    def __init__(self, sharing: Sharing) -> None:
        self.sharing = sharing
        self._most = MAX_PUBLIC_RUNS if sharing.settings.public else MAX_RUNS
        self._numbers = itertools.count(1)

    def keep(self, runs: Runs, trace: Trace | None, word: str = "Run") -> Choices | None:
        """Return the choices with a run among them; `None` if there is nothing new."""
        if trace is None or trace.verdict is None or any(run.trace is trace for run in runs):
            return None
        kept = [*runs, NamedRun(_name(runs, trace, word), trace)][-self._most :]
        while len(kept) > 2 and sum(map(_size, kept)) > MAX_TOKENS:
            del kept[0]
        return Choices(tuple(kept), kept[-2].name if len(kept) > 1 else None, kept[-1].name)

    def add_bundle(self, runs: Runs, packed: str) -> tuple[Choices | None, str]:
        """Return the choices with a bundle among them, and a note for the view; nothing is run."""
        try:
            bundle = self.sharing.read(packed)
            choices = self.keep(runs, bundle.trace, "Bundle")
        except DebuggerError as error:
            return None, self._note(f"{error.message[:1].upper()}{error.message[1:]}. {error.hint}".strip(), "error")
        if choices is None:
            return None, self._note("That bundle holds no finished run.", "error")
        return choices, self._note("Added: it is among the choices.")

    def compare(self, runs: Runs, left: str | None, right: str | None) -> str | None:
        """Return the payload of two of the runs; `None` if two are not chosen."""
        by_name = {run.name: run for run in runs}
        if left not in by_name or right not in by_name:
            return None
        try:
            return sandbox_of().call(compare_runs, by_name[left], by_name[right])
        except Exception as error:  # noqa: BLE001  # a bundle can be whole and still tell nonsense
            _log.info("two runs could not be compared: %r", error)
            return self._note("These two runs cannot be compared: the parts of one do not fit each other.", "error")

    def _note(self, sentence: str, tone: str = "") -> str:
        number = next(self._numbers)  # a note equal to the last one would not be noticed
        return pack_payload({"kind": "note", "note": sentence, "tone": tone, "number": number})


def _name(runs: Runs, trace: Trace, word: str) -> str:
    number = 1 + max((int(run.name.split()[1]) for run in runs), default=0)
    server = trace.server
    parts = (run_badge(trace), server.model if server else None, server.tool_parser if server else None)
    return " · ".join((f"{word} {number}", *(part[:40] for part in parts if part)))


def _size(run: NamedRun) -> int:
    prompts = (run.trace.prompt, run.trace.local_prompt)
    return sum(len(prompt.tokens or prompt.text) for prompt in prompts if prompt is not None)
