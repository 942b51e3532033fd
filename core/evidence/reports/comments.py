"""Lines that are comments of a program: what someone noted there of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

_COMMENT = re.compile(r"(?<![ \t])[ \t]*+(?:#|//) ?")


def strip_comment_marks(text: str) -> str:
    """Return a text whose lines are all comments without their marks; else the text."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines or not all(_COMMENT.match(line) for line in lines):
        return text
    return "\n".join(_COMMENT.sub("", line, count=1) for line in text.split("\n"))


def comment_runs(text: str) -> Iterator[str]:
    """Yield each run of lines that are all comments, without their marks."""
    if "#" not in text and "//" not in text:
        return
    for is_comment, lines in groupby(text.split("\n"), lambda line: _COMMENT.match(line) is not None):
        if is_comment:
            yield strip_comment_marks("\n".join(lines))
