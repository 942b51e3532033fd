"""Entries of one kind in one text, a JSON object a line or in a list: what a proxy logged, or the results of a batch.

    {"request": {…}, "response": {…}}
    {"custom_id": "a", "response": {"status_code": 200, "body": {…}}, "error": null}
    {"custom_id": "a", "result": {"type": "succeeded", "message": {…}}}

Sources: OpenAI's guide to the Batch API, Anthropic's reference of message batches, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.recognise import is_entry
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of
from prompt_debugger.core.request import body_text

_MAX_OTHERS = 10
_MAX_CHARS = 400_000  # of all of them


def entries_of(text: str) -> list[str]:
    """Return the entries of a text, each as JSON: its lines, or what its list holds."""
    if lines := json_lines(text):
        return lines
    value = json_of(text)
    return [body_text(one) for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def add_others(evidence: Evidence, entries: Sequence[str], read: Callable[[int], Evidence], first: int = 1) -> Evidence:
    """Return the evidence of the first entry with what the next ones show, for where nothing is wrong with it.

    Args:
        evidence: What the first entry shows.
        entries: All of them; only those that contain an answer are read.
        read: Reads one by its number, from 1.
        first: The number of the first entry.
    """
    if not _is_entry(entries[first - 1]):
        return evidence
    found: list[Evidence] = []
    left = _MAX_CHARS
    for number, entry in enumerate(entries[first : first + _MAX_OTHERS], start=first + 1):
        left -= len(entry)
        if left < 0:
            break
        if not _is_entry(entry):
            continue
        with suppress(RequestError):
            note = f"Entry {number} of {len(entries):,} is shown: no problem was found in those before it."
            one = read(number)
            found.append(replace(one, notes=(note, *one.notes)))
    return replace(evidence, others=tuple(found))


def _is_entry(text: str) -> bool:
    value: JSON = json_of(text)
    return isinstance(value, dict) and is_entry(value)
