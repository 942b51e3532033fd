"""What a log is read with: its text, with a budget for values, and marks of the lines that hold parts of a run.

A mark is the fixed beginning of a line with the function that reads what follows; `lines` has those of each engine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed

_MAX_READ = 8  # times the text, for values that begin and never end
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s*+")
# What a line of a log begins with: a raw text that was logged as it is ends there.
_LINE_START = re.compile(
    r"(?m)^(?:\[?\d{4}[-/]\d\d[-/]\d\d[ T]|\d{1,3}\.\d\d\.\d{3}\.\d{3} [A-Z] |time=|\[\d\d:\d\d|"
    r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR)\b|"
    r"(?:[DIWE] )?(?:srv|slot|que|res|main|init|llama_\w+|common_\w+|check_\w+)\b[ :]|"
    r"Pars(?:ing|ed) |Partial parse|Failed to parse |Cleaned up JSON|terminate called|Grammar|Chat format|"
    r"request: |response: |\{\"(?:role|error))"
)


class What(StrEnum):
    """Which part of a run an entry holds."""

    REQUEST = "request"
    PROMPT = "prompt"
    RAW = "raw"
    PIECE = "piece"
    PARSED = "parsed"
    IDS = "ids"
    CONTENT = "content"
    MESSAGE = "message"
    ANSWER = "answer"
    FLAGS = "flags"
    VERSION = "version"
    REASON = "reason"
    WARNING = "warning"
    START = "start"
    PARTIAL = "partial"


class Entry(NamedTuple):
    """One part of a run that a line holds.

    Attributes:
        at: Where the line is.
        engine: `kind` of the server's software; "" of a client's log.
        what: The part.
        value: Its value.
        key: The request that it belongs to, where the line says so.
    """

    at: int
    engine: str
    what: What
    value: JSON
    key: str = ""


class LogText:
    """A log, and how much of it may still be read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._left = _MAX_READ * len(text) + 10_000

    def printed(self, at: int) -> JSON:
        """Return what Python printed at a place; `None` if it is cut."""
        if self._left <= 0:
            return None
        read = read_printed(self.text, at)
        self._left -= 0 if read is None else read.stop - at
        if read is not None and read.is_cut:
            self._left -= len(self.text) - at
        return None if read is None or read.is_cut else plain(read.value)

    def json(self, at: int) -> JSON:
        """Return the JSON value at a place, or the dict that Python printed there."""
        if self._left <= 0:
            return None
        at = self._begin(at)
        try:
            value, stop = _DECODER.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            self._left -= max(1, error.pos - at) + error.pos // 16
            return self.printed(at) if self.text.startswith("{'", at) else None
        except (ValueError, RecursionError):
            return None
        self._left -= stop - at
        read: JSON = value
        return read

    def rest(self, at: int) -> str:
        """Return the text from a place to the next line of the log."""
        end = self.text.find("\n", at)
        if end < 0 or self._left <= 0:
            return self.text[at : len(self.text) if end < 0 else end].strip(" ")
        found = _LINE_START.search(self.text, end + 1)
        stop = len(self.text) if found is None else found.start()
        self._left -= stop - at
        return self.text[at:stop].strip(" ").rstrip("\n")

    def _begin(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return at if found is None else found.end()


Read: TypeAlias = Callable[[LogText, re.Match[str]], list[tuple[What, JSON]]]


class Mark(NamedTuple):
    """A line that holds parts of a run.

    Attributes:
        engine: `kind` of the server's software; "" of a client's log.
        pattern: Its fixed beginning; a group `id` names the request that it belongs to.
        read: Returns what follows the beginning.
    """

    engine: str
    pattern: re.Pattern[str]
    read: Read


def read_json(what: What) -> Read:
    """Return the function that reads a JSON value as one part."""
    return lambda log, match: [(what, log.json(match.end()))]


def read_python(what: What) -> Read:
    """Return the function that reads a value as Python prints it as one part."""
    return lambda log, match: [(what, log.printed(match.end()))]


def read_rest(what: What) -> Read:
    """Return the function that reads the text up to the next line of the log as one part."""
    return lambda log, match: [(what, log.rest(match.end()))]
