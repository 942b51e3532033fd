"""A verification → what its view draws: rates with intervals, causes, stages, tools, time, rows, and two compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.diagnose import RULES
from prompt_debugger.core.tools.verify import Cluster, wilson
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import count_of, joined, shortened

RATE_WORDS: Mapping[str, str] = {
    "dropped_rate": "calls dropped",
    "altered_rate": "calls altered",
    "cut_rate": "calls cut short",
    "invented_rate": "calls invented",
    "leaked_rate": "answers with a call in their text",
    "fault_rate": "answers with a fault",
    "schema_accuracy": "answers whose calls are valid",
    "tool_call_rate": "answers with calls",
    "success_rate": "requests answered",
    "first_attempt_success_rate": "answered at the first attempt",
}
_DIFFERENCE_WORDS = {
    "tool_call_rows": ("answers with calls", 0),
    "valid_call_rows": ("answers with valid calls", 1),
    "dropped_rows": ("answers with a dropped call", -1),
    "altered_rows": ("answers with an altered call", -1),
    "leaked_rows": ("answers with a call in their text", -1),
    "fault_rows": ("answers with a fault", -1),
}
_LONGEST = 300
_MAX_BINS = 60
_MAX_CHANGED = 40


class Side(NamedTuple):
    """One server's rows, counted.

    Attributes:
        name: Of the file.
        summary: As `verify --json` prints it.
        clusters: Rows at fault by cause.
        times: When each row was answered, and whether it is at fault; in any order.
        has_runs: Whether the whole run of a row is kept.
    """

    name: str
    summary: JSONObject
    clusters: Sequence[Cluster]
    times: Sequence[tuple[str, bool]]
    has_runs: bool


class Changed(NamedTuple):
    """A row that is at fault on one side alone."""

    row: int
    is_worse: bool
    question: str
    verdict: str


class Pair(NamedTuple):
    """The first side compared with another one: the paired figures, and the rows at fault on one of the two alone."""

    figures: JSONObject
    changed: Sequence[Changed]


def verification_payload(sides: Sequence[Side], pairs: Sequence[Pair] = ()) -> str:
    """Return the payload of the view; `pairs` compare the first side with each further one, in their order."""
    return pack_payload(
        {
            "state": "done",
            "sentence": _sentence(sides, pairs),
            "source": joined(*(_source(side) for side in sides)),
            "sides": [_side(side) for side in sides],
            "pairs": [_pair(pair) for pair in pairs],
        }
    )


def row_of(choice: Mapping[str, JSON]) -> tuple[int, int]:
    """Return which row was pressed: the side, and its number; -1 for what is missing or not a number."""
    side, index = choice.get("side"), choice.get("index")
    return (side if isinstance(side, int) else -1), (index if isinstance(index, int) else -1)


def cause_words(code: str) -> str:
    """Return a rule's code with its name."""
    rule = RULES.get(code)
    return code if rule is None else f"{code} {rule.name}"


def _sentence(sides: Sequence[Side], pairs: Sequence[Pair]) -> str:
    if pairs:
        return " ".join(_pair_words(sides[at].name if len(pairs) > 1 else "", one) for at, one in enumerate(pairs, 1))
    return own_sentence(_own(sides[0]))


def own_sentence(figures: JSONObject) -> str:
    """Return the figures of one verification in words."""
    rate = as_object(as_object(figures["rates"])["fault_rate"])
    if rate["value"] is None:
        return "No row could be checked."
    return f"{_faults_words(rate['value'], _int(rate['n']))} {_dropped_words(figures)}".strip()


def _faults_words(value: JSON, answers: int) -> str:
    if answers == 1:
        return "The answer has a fault." if value else "The answer has no fault."
    if not value:
        return f"None of {count_of(answers, 'answer')} has a fault."
    return f"{_percent(value)} of {count_of(answers, 'answer')} have a fault."


def _dropped_words(figures: JSONObject) -> str:
    """Return how many calls were dropped; "" where that is not known."""
    written, dropped = figures["written"], figures["dropped"]
    if not isinstance(written, int):
        return ""
    if not written:
        return "No call was written."
    return f"{dropped} of {count_of(written, 'call')} written {'was' if written == 1 else 'were'} dropped."


def _pair_words(other: str, pair: Pair) -> str:
    difference = as_object(as_object(pair.figures["differences"])["fault_rows"])
    rows = f"in {count_of(_int(pair.figures['n_compared']), 'row')} that both answered."
    beside = f"Beside `{other}`: " if other else ""
    return f"{beside}{_compared_words(difference)}, {rows}"


def _compared_words(difference: JSONObject) -> str:
    value, low, high = (difference[name] for name in ("value", "low", "high"))
    if value is None:
        return "Whether there are more faults is unknown"
    if isinstance(low, int | float) and low > 0:
        return f"More answers have a fault than in the baseline: {_signed(value)}"
    if isinstance(high, int | float) and high < 0:
        return f"Fewer answers have a fault than in the baseline: {_signed(value)}"
    return f"No significant difference in faults: {_signed(value)}"


def _source(side: Side) -> str:
    own = _own(side)
    return joined(f"`{side.name}`", str(own["endpoint"]) or None, None if side.has_runs else "only rows, no runs")


def _side(side: Side) -> JSONObject:
    own, summary = _own(side), side.summary
    judged = _int(as_object(as_object(own["rates"])["fault_rate"])["n"])
    return {
        "name": side.name,
        "has_runs": side.has_runs,
        "tiles": [
            ["rows", own["rows"]],
            ["calls written", own["written"]],
            ["dropped", own["dropped"]],
            ["altered", own["altered"]],
            ["cut", own["cut"]],
            ["in the text", own["leaked"]],
            ["schema errors", summary["schema_validation_error_count"]],
            ["failed", summary["failure_count"]],
        ],
        "evidence": ", ".join(f"{name} {count}" for name, count in as_object(own["evidence"]).items()),
        "rates": _rates(as_object(own["rates"])),
        "causes": _shares(as_object(own["by_code"]), judged, cause_words),
        "stages": _shares(as_object(own["by_stage"]), judged, str),
        "tools": _tools(as_object(own["by_tool"])),
        "times": _times(side.times),
        "clusters": [_cluster(one) for one in side.clusters],
    }


def _rates(rates: JSONObject) -> list[JSON]:
    found = [(words, as_object(rates.get(name))) for name, words in RATE_WORDS.items()]
    return [
        _bar(words, rate["value"], rate["low"], rate["high"], f"of {rate['n']}")
        for words, rate in found
        if rate.get("n")
    ]


def _shares(counts: JSONObject, n: int, name: Callable[[str], str]) -> list[JSON]:
    made: list[JSON] = []
    for key, count in counts.items():
        rate = wilson(min(_int(count), n), n)
        made.append(_bar(name(key), rate.value, rate.low, rate.high, f"{count} of {n}", code=key))
    return made


def _tools(tools: JSONObject) -> list[JSON]:
    made: list[JSON] = []
    for name, counts in tools.items():
        if isinstance(counts, list) and len(counts) == 2:
            rate = wilson(_int(counts[1]), _int(counts[0]))
            made.append(_bar(name, rate.value, rate.low, rate.high, f"{counts[1]} of {counts[0]}"))
    return made


def _bar(label: str, value: JSON, low: JSON, high: JSON, note: str, *, code: str = "") -> JSONObject:
    return {"label": label, "value": value, "low": low, "high": high, "note": note, "code": code}


def _times(times: Sequence[tuple[str, bool]]) -> JSONObject | None:
    """Return how many answers came in their order, and how many of each stretch are at fault."""
    ordered = sorted(times)
    if len(ordered) < 2:
        return None
    count = min(_MAX_BINS, len(ordered))
    bins = [[0, 0] for _ in range(count)]
    for place, (_, is_faulty) in enumerate(ordered):
        bins[place * count // len(ordered)][is_faulty] += 1
    return {
        "bins": [[good, bad] for good, bad in bins],
        "span": f"{ordered[0][0][:19].replace('T', ' ')} to {ordered[-1][0][:19].replace('T', ' ')} UTC",
    }


def _cluster(cluster: Cluster) -> JSONObject:
    return {
        "codes": [[code, getattr(RULES.get(code), "name", ""), code in RULES] for code in cluster.codes],
        "stage": cluster.stage,
        "count": cluster.count,
        "rows": [
            {
                "index": one.row,
                "size": one.size,
                "question": shortened(one.question, _LONGEST),
                "verdict": shortened(one.verdict, _LONGEST),
            }
            for one in cluster.smallest
        ],
    }


def _pair(pair: Pair) -> JSONObject:
    paired, changed = pair
    rows: list[JSON] = []
    for name, rate in as_object(paired["differences"]).items():
        words, better = _DIFFERENCE_WORDS.get(name, (name.replace("_", " "), 0))
        reported = as_object(rate)
        rows.append(
            {**_bar(words, reported["value"], reported["low"], reported["high"], _change(reported)), "better": better}
        )
    return {
        "differences": rows,
        "words": f"{paired['n_compared']} rows compared, {paired['n_skipped']} skipped. TP {paired['tp']}, "
        f"FP {paired['fp']}, FN {paired['fn']}, TN {paired['tn']}; tool call F1 {_value(paired['tool_call_f1'])}."
        + (f" The requests of {paired['requests_differ']} rows differ." if paired["requests_differ"] else ""),
        "changed": [
            {
                "index": one.row,
                "is_worse": one.is_worse,
                "question": shortened(one.question, 160),
                "verdict": shortened(one.verdict, 200),
            }
            for one in changed[:_MAX_CHANGED]
        ],
        "more_changed": max(0, len(changed) - _MAX_CHANGED),
    }


def _change(rate: JSONObject) -> str:
    if rate["value"] is None:
        return "unknown"
    ends = f" ({_signed(rate['low'])} to {_signed(rate['high'])})" if rate["low"] is not None else ""
    return f"{_signed(rate['value'])}{ends}"


def _value(rate: JSON) -> str:
    value = as_object(rate).get("value")
    return "unknown" if value is None else _percent(value)


def _percent(value: JSON) -> str:
    return f"{float(str(value)):.1%}"


def _signed(value: JSON) -> str:
    return f"{float(str(value)):+.1%}".replace("-", "−")


def _own(side: Side) -> JSONObject:
    return as_object(side.summary["debugger"])


def _int(value: JSON) -> int:
    return int(str(value))
