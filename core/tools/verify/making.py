"""A dataset from what was recorded: requests of HARs, logs, saved runs and lines of JSON; near-duplicates folded.

Two requests are near-duplicates if roles, tools and parameters are the same, and so are the texts but for digits,
ids, case and whitespace: the same question about another order number shows the same fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.tools.verify.stored import JOURNALS, open_stored

# Ids of calls, UUIDs, hashes and numbers, longest first.
_CHANGING = re.compile(
    r"(?:call|chatcmpl|tool|toolu|msg|req)[-_][0-9A-Za-z_-]{6,}|"
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?=[0-9a-f]*[0-9])[0-9a-f]{16,}\b|[0-9]+",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Unread:
    """What held no request.

    Attributes:
        unread: Of lines and files without a request, why: the first few.
        n_unread: How many those are.
    """

    unread: list[str] = field(default_factory=list)
    n_unread: int = 0

    def note(self, problem: str) -> None:
        """Count what contains no request."""
        self.n_unread += 1
        if len(self.unread) < 5:
            self.unread.append(problem)


@dataclass(slots=True)
class Made(Unread):
    """What came of it."""

    found: int = 0
    kept: int = 0


def make_dataset(files: Iterable[Path], made: Made) -> Iterator[JSONObject]:
    """Yield the requests of files, each kind once.

    Args:
        files: HARs, logs, saved runs, requests, or lines of any of those; files of `watch` and journals of `verify`.
        made: Counts what is found.

    Raises:
        RequestError: A file cannot be read.
    """
    seen: set[bytes] = set()
    for path in files:
        for body in _bodies_of(path, made):
            made.found += 1
            key = fold_key(body)
            if key not in seen:
                seen.add(key)
                made.kept += 1
                yield body


def fold_key(body: JSONObject) -> bytes:
    """Return what near-duplicates have in common.

    >>> one = {"messages": [{"role": "user", "content": "Where is order 17?"}]}
    >>> two = {"messages": [{"role": "user", "content": "where is  order 4711?"}]}
    >>> three = {"messages": [{"role": "user", "content": "Where is my order?"}]}
    >>> fold_key(one) == fold_key(two), fold_key(one) == fold_key(three)
    (True, False)
    """
    body_folded = {name: value for name, value in body.items() if name not in ("messages", "stream_options", "user")}
    body_folded["messages"] = folded(body.get("messages"))
    return sha256(json.dumps(body_folded, sort_keys=True).encode()).digest()


def folded(value: JSON) -> JSON:
    """Return a value without what changes from one request to its near-duplicate."""
    if isinstance(value, str):
        return _SPACE.sub(" ", _CHANGING.sub("0", value)).strip().casefold()
    if isinstance(value, list):
        return [folded(one) for one in value]
    if isinstance(value, dict):
        return {name: folded(one) for name, one in value.items()}
    return value


def _bodies_of(path: Path, made: Made) -> Iterator[JSONObject]:
    if path.suffix in JOURNALS:
        stored = open_stored(str(path))[0]
        bodies = (as_object(row.get("request")) for row in stored.rows())
        yield from (body for body in bodies if isinstance(body.get("messages"), list))
        for line in stored.unread_lines():
            yield from _bodies_in(line, f"an exchange of {str(path)!r}", made)
        return
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = file.readline()
            if all(isinstance(decode_json(line), dict) for line in (first, file.readline())):
                file.seek(0)
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield from _bodies_in(line, f"line {number} of {str(path)!r}", made)
                return
            file.seek(0)
            yield from _bodies_in(file.read(), repr(str(path)), made)
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"Cannot read {str(path)!r}: {error}", field="--make-dataset") from None


def _bodies_in(text: str, place: str, made: Made) -> Iterator[JSONObject]:
    """Yield the requests of one recorded thing."""
    row, rows = 1, 1
    while row <= rows:
        try:
            pasted = read_evidence(text, None, row)
            request = pasted.run.request if pasted.run is not None else pasted.request
            if request is None or not isinstance(request.body.get("messages"), list):
                made.note(f"{place} contains no chat request, only {pasted.words}.")
            else:
                yield dict(request.body)
            rows = max(rows, pasted.rows)
        except DebuggerError as error:
            made.note(f"{place}: {error.message}")
        row += 1
