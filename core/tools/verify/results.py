"""From the journal to the files: the rows of the results, one JSON line each by number, and the summary."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.types import Api, JSONObject
from prompt_debugger.core.report import redact_body, redact_json, redact_text
from prompt_debugger.core.report.wire import dump_document, write_json
from prompt_debugger.core.report.wire.verification import PairedRecord, Rate, SummaryAccount, UsageRecord, VerifySummary
from prompt_debugger.core.tools.verify.gates import Gate
from prompt_debugger.core.tools.verify.tally import Tally


class About(NamedTuple):
    """What a summary says besides its counts.

    Of rows asked by several APIs, `differing` says how many differ from the first one's; `None` where there is one API.
    """

    dataset: str
    endpoint: str
    shard: str
    rows: int
    remaining: int
    stopped: str | None
    started_at: str
    duration_ms: int
    error: DebuggerError | None = None
    api: Api = Api.CHAT
    differing: Rate | None = None


class Kept(Protocol):
    """What was kept of a verification: a journal, or those of all its shards."""

    def rows(self, side: int) -> Iterable[JSONObject]:
        """Yield the rows of a server, by their number."""

    def trace(self, side: int, index: int) -> JSONObject | None:
        """Return the whole run of a row."""


def write_rows(path: Path, rows: Iterable[JSONObject]) -> None:
    """Write the rows of the results; anyone who reads the file meanwhile sees the old one or the new one, whole.

    Results are passed on, so secrets are taken out of them; the journal has what was sent and said.

    Raises:
        RequestError: The file cannot be written.
    """
    lines = (write_json(_mask_secrets(row)) + "\n" for row in rows)
    write_named(path, lines, encoding="ascii", field="--output")


def _mask_secrets(row: JSONObject) -> JSONObject:
    request = row.get("request")
    redacted = {name: redact_json(value) for name, value in row.items() if name in ("request", "response")}
    if isinstance(request, dict):
        redacted["request"] = redact_body(request)
    return {**row, **redacted}


def merged_rows(files: Sequence[Iterable[JSONObject]]) -> Iterator[JSONObject]:
    """Yield the rows of several results by their number; of one that comes twice, the answered or else the newest.

    Each file must be sorted by number, as `verify` writes them.
    """
    kept: JSONObject | None = None
    for row in heapq.merge(*files, key=lambda row: int(str(row["data_index"]))):
        if kept is not None and kept["data_index"] == row["data_index"]:
            kept = max(kept, row, key=lambda one: (one.get("status") == "success", str(one.get("last_run_at"))))
            continue
        if kept is not None:
            yield kept
        kept = row
    if kept is not None:
        yield kept


def summary_of(
    tally: Tally, about: About, *, baseline: PairedRecord | None = None, gates: Mapping[str, bool] | None = None
) -> JSONObject:
    """Return the summary: K2VV's fields, and ours under `debugger`."""
    others = {name: count for name, count in sorted(tally.finish.items()) if name not in ("stop", "tool_calls")}
    document = VerifySummary(
        model=tally.model,
        success_count=tally.success,
        failure_count=tally.failure,
        finish_stop=tally.finish["stop"],
        finish_tool_calls=tally.finish["tool_calls"],
        finish_others=sum(others.values()),
        finish_others_detail=others,
        schema_validation_error_count=tally.invalid,
        successful_tool_call_count=tally.valid,
        usage=UsageRecord(
            prompt_tokens=tally.usage["prompt_tokens"],
            completion_tokens=tally.usage["completion_tokens"],
            total_tokens=tally.usage["total_tokens"],
        ),
        eval_started_at=about.started_at,
        eval_finished_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        eval_duration_ms=about.duration_ms,
        debugger=_account(tally, about, baseline, gates or {}),
    )
    return dump_document(document)


def gated_summary(
    rows: Iterable[JSONObject], about: About, gates: Iterable[Gate], baseline: PairedRecord | None = None
) -> tuple[JSONObject, dict[str, bool]]:
    """Return the summary of some rows, and which of the gates hold for it."""
    tally = Tally().add_all(rows)
    plain = summary_of(tally, about, baseline=baseline)
    held = {gate.text: gate.holds(plain) for gate in gates}
    return summary_of(tally, about, baseline=baseline, gates=held), held


def _account(tally: Tally, about: About, baseline: PairedRecord | None, gates: Mapping[str, bool]) -> SummaryAccount:
    minimax = tally.minimax()
    return SummaryAccount(
        dataset=about.dataset,
        endpoint=about.endpoint,
        shard=about.shard,
        rows=about.rows,
        remaining=about.remaining,
        stopped=None if about.stopped is None else redact_text(about.stopped),
        evidence=dict(sorted(tally.evidence.items())),
        compared=tally.compared,
        written=tally.calls["written"],
        returned=tally.calls["returned"],
        dropped=tally.calls["dropped"],
        altered=tally.calls["altered"],
        invented=tally.calls["invented"],
        cut=tally.calls["cut"],
        leaked=tally.calls["leaked"],
        rates=tally.rates(),
        by_code=dict(_ranked(tally.codes)),
        by_stage=dict(_ranked(tally.stages)),
        by_tool=dict(sorted(tally.tools.items())),
        attempts=tally.attempts,
        first_attempt_success=tally.first_attempt,
        draft_disagreements=tally.draft_disagreements,
        prompt_token_differences=tally.prompt_differences,
        minimax=minimax,
        not_judged=tally.labels.not_judged(),
        baseline=baseline,
        gates=gates,
        error=None if about.error is None else _error_json(about.error),
        api=about.api,
        rows_that_differ=about.differing,
    )


def _error_json(error: DebuggerError) -> JSONObject:
    reported = redact_json(error.to_json())
    assert isinstance(reported, dict)
    return reported


def _ranked(counts: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    yield from sorted(counts.items(), key=lambda item: (-item[1], item[0]))
