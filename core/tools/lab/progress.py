"""How far a boot is: server log lines in, a plain sentence and an estimate out. No I/O, no clock."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class LabState(StrEnum):
    """Where a lab server is in its life."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class LabProgress:
    """One report on a boot.

    Attributes:
        state: Where the server is in its life.
        sentence: What it is doing, for people.
        fraction: Estimate of the part done, 0 to 1; 1 means ready.
        elapsed_s: Seconds since the boot began.
    """

    state: LabState
    sentence: str
    fraction: float
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Milestone:
    """A stretch of the boot and the log line that opens it.

    Attributes:
        opening: What its first log line contains, a regular expression; "" for the stretch before any line.
        sentence: What the server is doing during it.
        fraction: Part of the boot that is done when it opens, 0 to 1.
        usual_s: How long it takes on an idle machine of 2 cores, in seconds.
    """

    opening: str
    sentence: str
    fraction: float
    usual_s: float


_IMPORT = Milestone("", "Python is loading vLLM", 0.0, 6.0)
_SERVE = Milestone(r"Starting vLLM server on", "The HTTP server is starting", 0.97, 0.4)

# Fractions as measured with the miniature model: half the time goes into loading vLLM twice, once per process.
ENGINE_MILESTONES = (
    _IMPORT,
    Milestone(r"version \d+\.\d+", "vLLM is reading the model's configuration", 0.42, 1.0),
    Milestone(r"Resolved architecture", "vLLM is starting its engine process, which loads vLLM again", 0.46, 6.0),
    Milestone(r"Initializing a V1 LLM engine", "The engine is setting up", 0.82, 1.0),
    Milestone(r"Starting to load model", "The engine is loading the model's weights", 0.87, 0.6),
    Milestone(r"KV cache size", "The engine is reserving its cache", 0.93, 0.6),
    _SERVE,
)
RENDERER_MILESTONES = (
    _IMPORT,
    Milestone(r"version \d+\.\d+", "vLLM is reading the tokenizer and the chat template", 0.90, 0.6),
    _SERVE,
)


class BootMeter:
    """Follows one boot by its log lines.

    Attributes:
        milestone_index: The stretch it is in, from 0.
    """

    def __init__(self, kind: Literal["engine", "renderer"]) -> None:
        self._milestones = ENGINE_MILESTONES if kind == "engine" else RENDERER_MILESTONES
        self._openings = tuple(re.compile(milestone.opening) for milestone in self._milestones)
        self._entered_s = 0.0
        self.milestone_index = 0

    def read_line(self, line: str, elapsed_s: float) -> None:
        """Take one log line; milestones are only ever passed forwards, and some may be skipped."""
        for index in range(self.milestone_index + 1, len(self._milestones)):
            if self._openings[index].search(line):
                self.milestone_index = index
                self._entered_s = elapsed_s

    def measure(self, elapsed_s: float) -> LabProgress:
        """Return the progress at a moment; it creeps towards the next milestone and never reaches it on its own."""
        milestone = self._milestones[self.milestone_index]
        following = self._milestones[self.milestone_index + 1 :]
        end = following[0].fraction if following else 1.0
        share = 1 - math.exp(-max(0.0, elapsed_s - self._entered_s) / milestone.usual_s)
        fraction = milestone.fraction + (end - milestone.fraction) * 0.95 * share
        return LabProgress(LabState.STARTING, milestone.sentence, fraction, elapsed_s)
