"""A log as Rich lays it out, in columns: time, level, words over several lines, and the place in the program.

[05/04/26 15:21:22] WARNING  Result failed 1/3 times: Error      service.py:1286
                             code: 400 - {'error': {'message':
                             "No such model"}}
"""

from __future__ import annotations

import re

_ENTRY = re.compile(
    r"(?:\[[^\]\n]{8,30}\])? {1,24}(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) {1,8}"
    r"(?P<words>(?:\S[^\n]{0,400}?)??) {2,200}[\w.]{1,60}\.py:\d{1,6}[ \t]{0,40}"
)
_BELOW = re.compile(r" {16,60}(?P<words>\S[^\n]{0,400})")
_MIN_ENTRIES = 2
_MAX_LINES = 4_000


def plain_of_rich(text: str) -> str:
    r"""Return a log of Rich with each entry in one line, after its level; any other text as it is.

    >>> plain_of_rich(f"{' ' * 20}INFO     ask                a.py:1\n{' ' * 20}ERROR    no such       a.py:2\n"
    ...               f"{' ' * 29}model").split("\n")[1]
    'ERROR: no such model'
    """
    if ".py:" not in text:
        return text
    lines = text.split("\n")[:_MAX_LINES]
    found = [_ENTRY.fullmatch(line) for line in lines]
    if sum(one is not None for one in found) < _MIN_ENTRIES:
        return text
    entries: list[str] = []
    for line, entry in zip(lines, found, strict=True):
        below = _BELOW.fullmatch(line) if entry is None and entries else None
        if entry is not None:
            entries.append(f"{entry['level']}: {entry['words']}")
        elif below is not None:
            entries[-1] += f" {below['words'].rstrip()}"
        else:
            entries.append(line)
    return "\n".join(entries)
