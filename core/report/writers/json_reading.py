"""The reading of an output as JSON: calls and their outcomes, the ledger, what other parsers made of it."""

from __future__ import annotations

from dataclasses import fields

from prompt_debugger.core.account import count_characters, outcomes_of_calls, tally_parsers
from prompt_debugger.core.types import (
    JSON,
    CallMatch,
    CallOutcome,
    JSONObject,
    Ledger,
    Parse,
    ParserOutcome,
    Span,
    ToolCallAttempt,
)


def reading_to_json(parse: Parse) -> JSONObject:
    """Return the fields of the `parse` document that come from the reading."""
    outcomes = outcomes_of_calls(parse).values()
    characters, tally = count_characters(parse.raw, parse.ledger), tally_parsers(parse.parsers)
    return {
        "raw": parse.raw,
        "format": parse.parsed.format,
        "format_scores": {name: score.score for name, score in parse.format_scores.items()},
        "format_evidence": {name: score.evidence for name, score in parse.format_scores.items() if score.score > 0},
        "reasoning": parse.parsed.reasoning,
        "content": parse.parsed.content,
        "calls": [_call(call, outcome) for call, outcome in zip(parse.parsed.calls, outcomes, strict=True)],
        "compared": _compared(parse.ledger),
        "characters": None if characters is None else {**characters._asdict(), "accounted": characters.accounted},
        "ledger": _entries(parse.ledger),
        "matches": [_match(match) for match in parse.ledger.matches],
        "invented": list(parse.ledger.invented),
        "stream_ledger": None if parse.stream_ledger is None else _entries(parse.stream_ledger),
        "parsers": {name: _outcome(outcome) for name, outcome in parse.parsers.items()},
        "parser_tally": {"asked": tally.asked, "ran": tally.ran, "reading": [*tally.reading]},
    }


def span_to_json(span: Span | None) -> JSON:
    """Return a span as `[start, stop]`."""
    return None if span is None else [span.start, span.stop]


def _compared(ledger: Ledger) -> JSON:
    """Return whether output and message were held against each other, and why not; `null` without a message."""
    if ledger.comparability is None:
        return None
    certainty = ledger.comparability.certainty
    return {"certainty": None if certainty is None else certainty.value, "reason": ledger.comparability.reason}


def _call(call: ToolCallAttempt, outcome: CallOutcome) -> JSON:
    return {
        "name": call.name,
        "arguments": call.arguments,
        "arguments_json": call.arguments_json,
        "id": call.id,
        "status": call.status.value,
        "place": call.place.value,
        "char_span": span_to_json(call.char_span),
        "token_span": span_to_json(call.token_span),
        "name_span": span_to_json(call.name_span),
        "id_span": span_to_json(call.id_span),
        "arguments_span": span_to_json(call.arguments_span),
        "problem": call.problem,
        "outcome": outcome.value,
    }


def _entries(ledger: Ledger) -> JSON:
    return [
        {"char_span": span_to_json(entry.char_span), "fate": entry.fate.value, "target": entry.target}
        for entry in ledger.entries
    ]


def _match(match: CallMatch) -> JSON:
    return {
        "raw_index": match.raw_index,
        "message_index": match.message_index,
        "altered": list(match.altered),
        "outcome": match.outcome.value,
    }


def _outcome(outcome: ParserOutcome) -> JSON:
    document: JSONObject = {
        "reasoning": outcome.reasoning,
        "content": outcome.content,
        "tool_calls": [dict(call) for call in outcome.tool_calls],
        "error": outcome.error,
        "finish_reason": outcome.finish_reason,
        "stream_equal": outcome.stream_equal,
        "splits_tried": outcome.splits_tried,
        "first_unequal": outcome.first_unequal,
    }
    account = outcome.account
    document["account"] = None if account is None else {one.name: getattr(account, one.name) for one in fields(account)}
    for more in fields(outcome):  # what an engine has to add: the release, its log, a stand-in vocabulary
        value = getattr(outcome, more.name)
        if more.name not in document and (value is None or isinstance(value, str | int | float)):
            document[more.name] = value
        elif more.name == "log":
            document["log"] = [str(line) for line in value]
    return document
