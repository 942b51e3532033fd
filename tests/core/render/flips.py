"""Flip one letter of a request and see where the prompt changes: the oracle of attribution.

It knows nothing of runs: it renders plainly twice and compares.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from prompt_debugger.core.base.types import JSON, SpanKind
from prompt_debugger.core.render.job import RenderJob, RenderOutcome
from prompt_debugger.core.render.trace.runs import join_path
from prompt_debugger.core.render.traced_render import run_job


@dataclass(frozen=True, slots=True)
class Probe:
    """One flipped letter.

    Attributes:
        field: Path of the string.
        index: Index of the letter in it.
        claimed: Characters of the prompt said to be this letter.
        possible: Characters of escapes said to contain it.
        changed: Characters that changed; `None` if the length or the outcome changed.
    """

    field: str
    index: int
    claimed: frozenset[int]
    possible: frozenset[int]
    changed: frozenset[int] | None


def probe(job: RenderJob, outcome: RenderOutcome, count: int, seed: int, now: datetime) -> Iterator[Probe]:
    """Yield up to `count` probes of random letters of the messages and tools."""
    letters = [(path, keys, i) for path, keys, text in leaves(job) for i, char in enumerate(text) if _is_letter(char)]
    for path, keys, index in random.Random(seed).sample(letters, min(count, len(letters))):
        flipped = run_job(replace(_flip(job, keys, index), is_traced=False), now=now)
        claimed, possible = claims(outcome, path, index)
        changed = None
        if flipped.fault is None and len(flipped.text) == len(outcome.text):
            pairs = zip(flipped.text, outcome.text, strict=True)
            changed = frozenset(i for i, (a, b) in enumerate(pairs) if a != b)
        yield Probe(path, index, claimed, possible, changed)


def claims(outcome: RenderOutcome, path: str, index: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the prompt characters said to be letter `index` of `path`, and those of escapes around it."""
    claimed: set[int] = set()
    possible: set[int] = set()
    for span in outcome.spans:
        if span.field != path or span.field_span is None:
            continue
        start, stop = span.field_span
        if not start <= index < stop:
            continue
        one_to_one = stop - start == span.char_span.stop - span.char_span.start
        if span.kind is SpanKind.REQUEST or one_to_one:
            claimed.add(span.char_span.start + index - start)
        else:
            possible.update(range(*span.char_span))
    return frozenset(claimed), frozenset(possible)


def leaves(job: RenderJob) -> Iterator[tuple[str, tuple[str | int, ...], str]]:
    """Yield path, keys and text of every string of the messages and tools."""
    for variable in job.variables:
        if variable.name in ("messages", "tools", "documents"):
            yield from _leaves(variable.value, variable.name, (variable.name,))


def _leaves(value: JSON, path: str, keys: tuple[str | int, ...]) -> Iterator[tuple[str, tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, keys, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, join_path(path, key), (*keys, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, join_path(path, index), (*keys, index))


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _flip(job: RenderJob, keys: tuple[str | int, ...], index: int) -> RenderJob:
    return replace(
        job,
        variables=tuple(
            replace(one, value=_flipped(one.value, keys[1:], index)) if one.name == keys[0] else one
            for one in job.variables
        ),
    )


def _flipped(value: JSON, keys: tuple[str | int, ...], index: int) -> JSON:
    root = [copy.deepcopy(value)]
    here: object = root
    steps: list[str | int] = [0, *keys]
    for key in steps[:-1]:
        here = here[key]  # type: ignore[index]  # walks JSON
    text = here[steps[-1]]  # type: ignore[index]  # walks JSON
    letter = text[index]
    other = {"z": "a", "Z": "A"}.get(letter) or chr(ord(letter) + 1)
    here[steps[-1]] = text[:index] + other + text[index + 1 :]  # type: ignore[index]  # walks JSON
    return root[0]
