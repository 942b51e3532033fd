"""The head of an HTTP answer that refuses, and its JSON body: one block.

HTTP/1.0 404 Not Found            the status says nothing that the body does not say better
{"error": "…"}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_debugger.core.evidence.reports.blocks import Block, BlockKind

_STATUS = re.compile(r"[ \t]{0,9}(?:< )?HTTP/[\d.]{1,3} [45]\d\d\b")
_HEADER = re.compile(r"[ \t]{0,9}(?:< )?[A-Za-z][\w-]{1,60}: ")
_MAX_HEADERS = 60


def join_heads(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks, each JSON body together with the head above it."""
    above: Block | None = None
    for block in blocks:
        if above is not None and block.kind is BlockKind.JSON and (start := _start_of_head(above.text)) is not None:
            lines = above.text.split("\n")
            if any(line.strip() for line in lines[:start]):
                yield Block("\n".join(lines[:start]), above.kind)
            head = [line.strip() for line in lines[start:] if line.strip()]
            above = Block("\n".join([*head, block.text]), BlockKind.FENCED)
            continue
        if above is not None:
            yield above
        above = block
    if above is not None:
        yield above


def _start_of_head(text: str) -> int | None:
    """Return the line in which a head begins that goes to the end of a text."""
    lines = text.rstrip().split("\n")
    for number in range(len(lines) - 1, max(-1, len(lines) - _MAX_HEADERS), -1):
        if _STATUS.match(lines[number]):
            return number
        if lines[number].strip() and not _HEADER.match(lines[number]):
            return None
    return None
