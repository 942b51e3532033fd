"""When a lab that runs is of no more use: it does not answer, nothing comes of its work, or it takes all memory.

A judge that gets what was seen of a lab and when; its only I/O reads processor time and memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOOK_S = 4.0  # between two looks
_SILENT_S = 12.0  # without an answer although it works
_MUTE_S = 60.0  # without an answer, whatever it does
_CPU_OF_SILENCE = 0.5  # of one processor: so busy is a server that hangs, unless the machine is
_CPU_OF_WORK = 0.1  # of one processor: an idle server takes a fiftieth to be looked at, which adds up with the hours
_FRUITLESS_S = 30.0  # of processor time without a token; the miniature model takes thousandths of a second for one
_FRUITLESS_OF_OTHERS_S = 300.0  # a large model on a small machine reads a long prompt for minutes
_GROWTH_GB = 4.0  # more memory than at first; the miniature model takes a tenth of it for what people ask
_TICKS = 100.0  # of processor time in a second, as Linux tells it
_TOKENS = re.compile(r"^vllm:(?:generation|prompt)_tokens_total(?:\{[^}\n]*\})? ([0-9.e+]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a lab: processor time and memory of all its processes, tokens; `None` if unknown."""

    at_s: float
    is_answering: bool
    cpu_s: float | None
    tokens: float | None
    memory_gb: float | None = None


class Judge:
    """Tells from one look after the other whether a lab hangs."""

    def __init__(self, first: Look, *, is_small: bool) -> None:
        self._first = self._answered = first
        self._is_small = is_small
        self._fruitful = self._last = first
        self._fruitless_s = _FRUITLESS_S if is_small else _FRUITLESS_OF_OTHERS_S

    def verdict(self, look: Look) -> str:
        """Return what is wrong, "" if nothing is."""
        if look.is_answering:
            self._answered = look
        is_idle = _used(self._last, look) < (look.at_s - self._last.at_s) * _CPU_OF_WORK
        if look.tokens is not None and (look.tokens != self._fruitful.tokens or is_idle):
            self._fruitful = look
        self._last = look
        silent_s = look.at_s - self._answered.at_s
        used_s = _used(self._answered, look)
        if silent_s >= _MUTE_S or (silent_s >= _SILENT_S and used_s >= silent_s * _CPU_OF_SILENCE):
            return f"it did not answer for {silent_s:.0f} s"
        if self._fruitful.tokens is not None and _used(self._fruitful, look) >= self._fruitless_s:
            return f"it used {_used(self._fruitful, look):.0f} s of processor time without producing a single token"
        grown_gb = _grown(self._first, look)
        if self._is_small and grown_gb >= _GROWTH_GB:
            return f"it took {grown_gb:.0f} GB more memory than at its start"
        return ""


def tokens_of(metrics: str) -> float | None:
    """Return how many tokens a server has read and written, by its metrics; `None` if they do not tell."""
    counts = [float(match[1]) for match in _TOKENS.finditer(metrics)]
    return sum(counts) if counts else None


def cpu_of(pid: int | None, proc: Path = Path("/proc")) -> float | None:
    """Return the processor time of a process and all below it; `None` where the system does not tell."""
    found = [ticks for one in _tree(pid, proc) for ticks in _ticks(proc / str(one) / "stat")]
    return sum(found) / _TICKS if found else None


def memory_of(pid: int | None, proc: Path = Path("/proc")) -> float | None:
    """Return the memory in GB that a process and all below it occupy; `None` where the system does not tell."""
    found = [pages for one in _tree(pid, proc) for pages in _pages(proc / str(one) / "statm")]
    return sum(found) * os.sysconf("SC_PAGE_SIZE") / 1e9 if found else None


def _used(before: Look, after: Look) -> float:
    return 0.0 if before.cpu_s is None or after.cpu_s is None else after.cpu_s - before.cpu_s


def _grown(before: Look, after: Look) -> float:
    return 0.0 if before.memory_gb is None or after.memory_gb is None else after.memory_gb - before.memory_gb


def _tree(pid: int | None, proc: Path) -> Iterator[int]:
    """Yield a process and all below it."""
    if pid is None:
        return
    yield pid
    for file in (proc / str(pid) / "task").glob("*/children"):
        with suppress(OSError, ValueError):
            for child in file.read_text().split():
                yield from _tree(int(child), proc)


def _ticks(stat: Path) -> Iterator[int]:
    with suppress(OSError, ValueError, IndexError):
        words = stat.read_text().rpartition(")")[2].split()
        yield int(words[11]) + int(words[12])


def _pages(statm: Path) -> Iterator[int]:
    with suppress(OSError, ValueError, IndexError):
        yield int(statm.read_text().split()[1])
