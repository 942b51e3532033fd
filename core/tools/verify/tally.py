"""Rows of the results, counted: K2VV's counters by their published definitions, and ours. Flat memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.report.wire.verification import Rate
from prompt_debugger.core.tools.verify.intervals import wilson
from prompt_debugger.core.tools.verify.minimax import LabelTally

_CALL_COUNTS = ("written", "returned", "dropped", "altered", "invented", "cut", "leaked")


class Tally:
    """Counts rows one by one; rows of K2VV without our key are counted as far as they go."""

    def __init__(self) -> None:
        self.success = self.failure = 0
        self.finish: Counter[str] = Counter()
        self.valid = self.invalid = 0
        self.usage: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.returned_compared = 0
        self.evidence: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.stages: Counter[str] = Counter()
        self.tools: dict[str, tuple[int, int]] = {}
        self.attempts = self.first_attempt = 0
        self.compared = self.judged = self.faulty = self.with_errors = 0
        self.leak_judged = self.leak_rows = 0
        self.draft_disagreements = self.prompt_differences = 0
        self.labels = LabelTally()
        self.model: str | None = None

    def add_all(self, rows: Iterable[JSONObject]) -> Tally:
        """Count rows; returns itself."""
        for row in rows:
            self.add(row)
        return self

    def add(self, row: JSONObject) -> None:
        """Count one row."""
        own = as_object(row.get("debugger"))
        self.attempts += _number(own.get("attempts"))
        self.labels.add(row, as_object(own.get("labels")))
        if row.get("status") != "success":
            self.failure += 1
            self._add_causes(own)
            return
        self.success += 1
        self.first_attempt += own.get("attempts") == 1
        self._add_finish(row)
        self._add_usage(as_object(row.get("response")))
        if own:
            self._add_account(own, row)
        model = as_object(row.get("request")).get("model")
        self.model = self.model or (model if isinstance(model, str) else None)

    def _add_finish(self, row: JSONObject) -> None:
        reason = row.get("finish_reason")
        self.finish[str(reason) if reason is not None else "null"] += 1
        if reason == "tool_calls" and row.get("tool_calls_valid") is not None:
            self.valid += row["tool_calls_valid"] is True
            self.invalid += row["tool_calls_valid"] is False

    def _add_usage(self, response: JSONObject) -> None:
        usage = as_object(response.get("usage"))
        for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
            self.usage[name] += _number(usage.get(name))

    def _add_account(self, own: JSONObject, row: JSONObject) -> None:
        self.judged += own.get("error") is None
        self.evidence[str(own.get("evidence") or "none")] += 1
        for name in _CALL_COUNTS:
            self.calls[name] += _number(own.get(name))
        if own.get("written") is not None:
            self.compared += 1
            self.returned_compared += _number(own.get("returned"))
        if own.get("leaked") is not None and row.get("finish_reason") == "stop":
            self.leak_judged += 1
            self.leak_rows += _number(own.get("leaked")) > 0
        self.faulty += isinstance(own.get("stage"), str)
        self.with_errors += bool(own.get("errors"))
        self._add_causes(own)
        for name, counts in as_object(own.get("tools")).items():
            written, lost = self.tools.get(name, (0, 0))
            if isinstance(counts, list):
                self.tools[name] = (written + _number(counts[0]), lost + _number(counts[1]))
        other = own.get("valid_2020_12")
        self.draft_disagreements += other is not None and other != row.get("tool_calls_valid")
        tokens = as_object(own.get("prompt_tokens"))
        both = tokens.get("server") is not None and tokens.get("local") is not None
        self.prompt_differences += both and tokens["server"] != tokens["local"]

    def _add_causes(self, own: JSONObject) -> None:
        codes, stage = own.get("codes"), own.get("stage")
        self.codes.update(str(code) for code in codes) if isinstance(codes, list) else None
        if isinstance(stage, str):
            self.stages[stage] += 1

    def rates(self) -> Mapping[str, Rate]:
        """Return all shares with their intervals and denominators."""
        calls, rows = self.calls, self.success + self.failure
        return {
            "success_rate": wilson(self.success, rows),
            "first_attempt_success_rate": wilson(self.first_attempt, rows),
            "tool_call_rate": wilson(self.finish["tool_calls"], self.success),
            "schema_accuracy": wilson(self.valid, self.valid + self.invalid),
            "dropped_rate": wilson(calls["dropped"], calls["written"]),
            "altered_rate": wilson(calls["altered"], calls["written"]),
            "cut_rate": wilson(calls["cut"], calls["written"]),
            "invented_rate": wilson(calls["invented"], self.returned_compared),
            "leaked_rate": wilson(self.leak_rows, self.leak_judged),
            "fault_rate": wilson(self.faulty, self.judged),
            "error_rate": wilson(self.with_errors, self.judged),
        }

    def minimax(self) -> Mapping[str, Rate] | None:
        """Return MiniMax's figures; `None` without a labelled row."""
        return self.labels.rates(
            success=self.success, attempts=self.attempts, valid=self.valid, with_calls=self.valid + self.invalid
        )


def _number(value: JSON) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
