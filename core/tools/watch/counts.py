"""Counts of the watched exchanges by outcome, cause, model, tool and client; as a document and for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.report.wire.verification import Rate
from prompt_debugger.core.tools.verify.intervals import wilson
from prompt_debugger.core.tools.verify.results import About, summary_of
from prompt_debugger.core.tools.verify.stored import open_stored
from prompt_debugger.core.tools.verify.tally import Tally
from prompt_debugger.core.tools.watch.reading import model_of

SCHEMA_VERSION = 1
OUTCOMES = ("written", "returned", "dropped", "altered", "cut", "invented", "leaked")
_MAX_NAMES = 50  # of models and of clients, each; later ones count among the others
_OTHERS = "others"


@dataclass(frozen=True, slots=True)
class ClientRecord:
    """What one client sent.

    Attributes:
        exchanges: How many.
        at_fault: Share of those in which an error was found.
    """

    exchanges: int
    at_fault: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchDocument:
    """What `watch --open --json` prints.

    Attributes:
        schema_version: Version of this form.
        exchanges: All exchanges.
        read: Those that were read.
        unread: Those that were not.
        unread_because: Why not, with counts.
        failed: Those that the server refused.
        streams_differ: Streams that the server's own parsers read differently from the whole output.
        grammars: Requests with a grammar, by whether it was in force.
        read_on: With `--ray`, exchanges that other machines read, by their address; empty for a file that is opened.
        counts: As `debugger` of the summary of `verify`, without `api`: each exchange has its own.
        by_code: Exchanges by the rule that found something.
        by_tool: Calls of each tool: written, and dropped, altered or cut.
        by_model: Counts and rates by the model that was asked for.
        by_client: By what the client calls itself.
    """

    schema_version: int = SCHEMA_VERSION
    exchanges: int
    read: int
    unread: int
    unread_because: Mapping[str, int]
    failed: int
    streams_differ: int
    grammars: Mapping[str, int]
    read_on: Mapping[str, int]
    counts: JSONObject
    by_code: JSONObject
    by_tool: JSONObject
    by_model: Mapping[str, JSONObject]
    by_client: Mapping[str, ClientRecord]


@dataclass(slots=True)
class Counts:
    """The counts so far.

    Attributes:
        total: All rows.
        by_model: Rows by the model that was asked for.
        by_client: Exchanges by what the client calls itself: all, and those at fault.
        unread: Exchanges that were not read, by reason.
        exchanges: All of them.
        canary_changes: Known requests whose answers changed class.
        streams_differ: Streamed answers that the server's own parsers read differently from the whole output.
        grammars: Exchanges whose request asks for a grammar, by whether it was in force.
        read_on: Exchanges that other machines read, by their address.
    """

    total: Tally = field(default_factory=Tally)
    by_model: dict[str, Tally] = field(default_factory=dict)
    by_client: dict[str, Counter[str]] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    exchanges: int = 0
    canary_changes: int = 0
    streams_differ: int = 0
    grammars: Counter[str] = field(default_factory=Counter)
    read_on: Counter[str] = field(default_factory=Counter)

    @property
    def read(self) -> int:
        """How many were read."""
        return self.total.success + self.total.failure

    def add(self, row: JSONObject, client: str) -> None:
        """Count an exchange that was read."""
        self.total.add(row)
        self.by_model.setdefault(_bounded(model_of(row), self.by_model), Tally()).add(row)
        counter = self.by_client.setdefault(_bounded(client, self.by_client), Counter())
        counter["exchanges"] += 1
        counter["at fault"] += is_bad(row)
        own = as_object(row.get("debugger"))
        self.streams_differ += bool(own.get("stream_differs"))
        if isinstance(status := own.get("grammar"), str):
            self.grammars[status] += 1

    def document(self) -> JSONObject:
        """Return the document of `watch --open`."""
        about = About("", "", "1/1", self.exchanges, self.exchanges - self.read, None, "", 0)
        counted = as_object(summary_of(self.total, about)["debugger"])
        counts = {name: value for name, value in counted.items() if name != "api"}  # of each exchange its own
        document = WatchDocument(
            exchanges=self.exchanges,
            read=self.read,
            unread=self.exchanges - self.read,
            unread_because=dict(self.unread.most_common(20)),
            failed=self.total.failure,
            streams_differ=self.streams_differ,
            grammars=dict(sorted(self.grammars.items())),
            read_on=dict(sorted(self.read_on.items())),
            counts=counts,
            by_code=as_object(counts["by_code"]),
            by_tool=as_object(counts["by_tool"]),
            by_model={name: _count_model(tally) for name, tally in sorted(self.by_model.items())},
            by_client={
                name: ClientRecord(counter["exchanges"], wilson(counter["at fault"], counter["exchanges"]))
                for name, counter in sorted(self.by_client.items())
            },
        )
        return dump_document(document)

    def metrics(self) -> str:
        """Return them as Prometheus reads them (text format 0.0.4)."""
        return "".join(f"{line}\n" for line in self._metrics())

    def _metrics(self) -> Iterator[str]:
        yield "# HELP prompt_debugger_calls_total Tool calls by outcome."
        yield "# TYPE prompt_debugger_calls_total counter"
        for model, tally in sorted(self.by_model.items()):
            for outcome in OUTCOMES:
                labels = {"outcome": outcome, "model": model}
                yield f"prompt_debugger_calls_total{_labels(labels)} {tally.calls[outcome]}"
        yield "# HELP prompt_debugger_exchanges_total Exchanges by the rule that found an error or a warning."
        yield "# TYPE prompt_debugger_exchanges_total counter"
        for code, count in sorted(self.total.codes.items()):
            yield f"prompt_debugger_exchanges_total{_labels({'code': code})} {count}"
        for name, count, words in (
            ("seen", self.exchanges, "Exchanges of the APIs that are read"),
            ("read", self.read, "Exchanges that were read"),
            ("unread", sum(self.unread.values()), "Exchanges that were not read"),
            ("failed", self.total.failure, "Exchanges that the server refused"),
        ):
            yield from _counter(f"prompt_debugger_exchanges_{name}_total", words, count)
        if self.read_on:
            yield "# HELP prompt_debugger_exchanges_read_on_total Exchanges that other machines read."
            yield "# TYPE prompt_debugger_exchanges_read_on_total counter"
        for place, count in sorted(self.read_on.items()):
            yield f"prompt_debugger_exchanges_read_on_total{_labels({'machine': place})} {count}"
        yield "# HELP prompt_debugger_grammars_total Exchanges that ask for a grammar, by whether it was in force."
        yield "# TYPE prompt_debugger_grammars_total counter"
        for status in ("in-force", "never", "unknown"):
            yield f"prompt_debugger_grammars_total{_labels({'status': status})} {self.grammars[status]}"
        words = "Streamed answers that differ from the same output read whole"
        yield from _counter("prompt_debugger_streams_differ_total", words, self.streams_differ)
        words = "Known requests whose answers changed class"
        yield from _counter("prompt_debugger_canary_changes_total", words, self.canary_changes)


def _counter(name: str, words: str, count: int) -> Iterator[str]:
    yield f"# HELP {name} {words}."
    yield f"# TYPE {name} counter"
    yield f"{name} {count}"


def open_watched(path: str) -> Counts:
    """Return what a file of `watch` holds, counted.

    Raises:
        RequestError: The file is not one of `watch`.
    """
    stored = open_stored(path)[0]
    if not stored.is_journal:
        raise RequestError(
            f"{path!r} is not a file of `watch`.", "Give the file that was named with --store.", field="--open"
        )
    counts, clients = Counts(), stored.clients()
    for row in stored.rows():
        index = row.get("data_index")
        counts.add(row, clients.get(index, "") if isinstance(index, int) else "")
    counts.unread = Counter(stored.unread())
    counts.exchanges = counts.read + sum(counts.unread.values())
    return counts


def is_bad(row: JSONObject) -> bool:
    """Return whether someone should look at an exchange: a call did not come through, or an error was found."""
    own = as_object(row.get("debugger"))
    if own.get("errors") or own.get("stream_differs") or own.get("grammar") == "never":
        return True
    return any(own.get(name) for name in OUTCOMES[2:])


def _count_model(tally: Tally) -> JSONObject:
    rates = tally.rates()
    shown = {name: rates[name] for name in ("dropped_rate", "altered_rate", "cut_rate", "leaked_rate", "fault_rate")}
    return {
        "exchanges": tally.success + tally.failure,
        **{name: tally.calls[name] for name in OUTCOMES},
        "rates": {name: _rate(rate) for name, rate in shown.items()},
    }


def _rate(rate: Rate) -> JSON:
    return {"value": rate.value, "low": rate.low, "high": rate.high, "n": rate.n}


def _bounded(name: str, known: Mapping[str, object]) -> str:
    name = name[:120] or "unknown"
    return name if name in known or len(known) < _MAX_NAMES else _OTHERS


def _labels(values: Mapping[str, str]) -> str:
    def escaped(text: str) -> str:
        return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

    return "{" + ",".join(f'{name}="{escaped(value)}"' for name, value in values.items()) + "}"
