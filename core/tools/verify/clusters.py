"""Rows at fault, put together by cause; of each cause the smallest requests and the first numbers. Flat memory."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject

UNANSWERED = "no answer"
_MAX_ROWS = 1000  # whose numbers are kept, of each cause


class Example(NamedTuple):
    """A row at fault, with the last question of the user, and the run in one sentence or why there is no answer."""

    size: int
    row: int
    question: str
    verdict: str


@dataclass(slots=True)
class Cluster:
    """The rows of one cause.

    Attributes:
        codes: The rules that found it; `no answer` for rows that were given up.
        stage: The guilty stage.
        count: How many rows.
        smallest: Those with the smallest requests, smallest first.
        rows: The numbers of the first `_MAX_ROWS` of them, in the order of the results.
    """

    codes: tuple[str, ...]
    stage: str | None
    count: int = 0
    smallest: list[Example] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)


def cluster_rows(rows: Iterable[JSONObject], *, keep: int = 5) -> list[Cluster]:
    """Return the causes, those with most rows first, each with `keep` rows as examples."""
    clusters = Clusters(keep)
    for row in rows:
        clusters.add(row)
    return clusters.ranked()


class Clusters:
    """Puts rows with one cause together, as they come."""

    def __init__(self, keep: int = 5) -> None:
        self._keep = keep
        self._found: dict[tuple[tuple[str, ...], str | None], Cluster] = {}

    def add(self, row: JSONObject) -> None:
        """Take one row."""
        own = as_object(row.get("debugger"))
        stage = own.get("stage")
        if isinstance(stage, str):
            key: tuple[tuple[str, ...], str | None] = (_codes(own), stage)
        elif row.get("status") != "success":
            key = ((UNANSWERED,), None)
        else:
            return
        cluster = self._found.setdefault(key, Cluster(*key))
        cluster.count += 1
        if len(cluster.rows) < _MAX_ROWS:
            cluster.rows.append(int(str(row["data_index"])))
        cluster.smallest = heapq.nsmallest(self._keep, [*cluster.smallest, _example(row, own)])

    def ranked(self) -> list[Cluster]:
        """Return the causes so far, those with most rows first."""
        return sorted(self._found.values(), key=lambda one: (-one.count, one.codes))


def _codes(own: JSONObject) -> tuple[str, ...]:
    codes = own.get("errors") or own.get("codes")
    return tuple(str(code) for code in codes) if isinstance(codes, list) else ()


def _example(row: JSONObject, own: JSONObject) -> Example:
    request = as_object(row.get("request"))
    verdict = own.get("verdict") or as_object(row.get("response")).get("error") or ""
    return Example(len(json.dumps(request)), int(str(row["data_index"])), _question(request), str(verdict))


def _question(request: JSONObject) -> str:
    messages = request.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            content: JSON = message.get("content")
            return content if isinstance(content, str) else json.dumps(content)
    return ""
