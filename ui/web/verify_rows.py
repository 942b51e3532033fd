"""One server's rows for the verify panel, one by one: each is looked at once, however often the table is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Self

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.verify import About, Stored, Tally, summary_of
from prompt_debugger.core.tools.verify.clusters import Clusters
from prompt_debugger.ui.present.verification import Side
from prompt_debugger.ui.report.verification import Times


class SideSoFar:
    """What the rows so far come to."""

    def __init__(self) -> None:
        self._tally, self._clusters, self._times = Tally(), Clusters(), Times()

    def add_all(self, rows: Iterable[JSONObject]) -> Self:
        """Take rows; returns itself."""
        for row in rows:
            self._tally.add(row)
            self._clusters.add(row)
            self._times.add(row)
        return self

    def side(self, stored: Stored) -> Side:
        """Return what the panel draws of a server."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        count = self._tally.success + self._tally.failure
        about = About("", stored.endpoint, "1/1", count, 0, None, stored.started_at or now, 0)
        summary = summary_of(self._tally, about)
        return Side(stored.name, summary, self._clusters.ranked(), self._times.kept, stored.is_journal)
