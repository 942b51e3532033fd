"""Find a marker that the end of the text cut in two.

    Let me look.<|tool_calls_sec

Half a marker is markup: no server shows it as text, and no name ends with it.
What could be the end of ordinary text is believed only where the output was cut.
"""

from __future__ import annotations

import re
from functools import lru_cache

from prompt_debugger.core.parse.mentions import is_in_sentence

_SPECIAL = ("<|", "<｜", "]<]", "◁")  # how control tokens begin: no text ends so by itself
_LEAST_SPECIAL, _LEAST_CUT, _LEAST_PLAIN = 3, 2, 5
_BRACKETS = ("<", "[", "]", "◁")
_STRUCTURE_CHARS = 400  # no header is longer


def cut_marker_start(raw: str, markers: frozenset[str], finish_reason: str | None) -> int:
    """Return where half a marker begins at the end of `raw`; its length if there is none.

    Args:
        raw: The raw output.
        markers: Texts that are markup.
        finish_reason: The server's word; `length` means that the output was cut.
    """
    longest = 0
    tail = raw[-_longest(markers) :]
    for marker in markers:
        least = _least(marker, finish_reason)
        for size in range(min(len(marker) - 1, len(tail)), longest, -1):
            if not tail.endswith(marker[:size]):
                continue
            if size >= least or _is_markup_due(raw, len(raw) - size, marker, finish_reason):
                longest = size
                break
    start = len(raw) - longest
    return len(raw) if raw[start:] in markers else start


def cut_structure_start(raw: str, stop: int, pattern: re.Pattern[str], finish_reason: str | None) -> int:
    """Return where a header begins that the end of the text cut, its markers whole; `stop` if there is none.

    Args:
        raw: The raw output.
        stop: Where half a marker begins at its end, else its length.
        pattern: A header as far as it goes, up to the end.
        finish_reason: The server's word; without `length`, a marker that a sentence mentions is none.
    """
    found = pattern.search(raw, max(0, stop - _STRUCTURE_CHARS), stop)
    if found is None or (finish_reason != "length" and is_in_sentence(raw[: found.start()])):
        return stop
    return found.start()


def _is_markup_due(raw: str, position: int, marker: str, finish_reason: str | None) -> bool:
    """Say whether what begins at `position` is markup more likely than text, however little of it is there."""
    before = raw[max(0, position - 3) : position]
    if before.rstrip().endswith((">", "]", "}")):
        return marker.startswith(_BRACKETS)
    return finish_reason == "length" and marker.startswith(_BRACKETS) and not before.endswith((" ", "\t"))


def _least(marker: str, finish_reason: str | None) -> int:
    """Return how many characters of a marker must be there to be taken for one."""
    if finish_reason == "length":
        return _LEAST_CUT
    if marker.startswith(_SPECIAL):
        return _LEAST_SPECIAL
    return len(marker) if finish_reason == "stop" else _LEAST_PLAIN


@lru_cache(maxsize=64)
def _longest(markers: frozenset[str]) -> int:
    return max(map(len, markers), default=1)
