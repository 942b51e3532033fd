"""What constrained decoding would have made of a raw output → what its view draws. Steered, never broken."""

from __future__ import annotations

import json

from prompt_debugger.core.base.types import JSON, JSONObject, Span, Trace
from prompt_debugger.core.tools.grammar import GrammarStatus, GrammarVerdict, Intervention, SecondOpinion, TokenReading
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.tool_state import jump_of
from prompt_debugger.ui.present.words import joined, shortened

_WORDS = {
    GrammarStatus.OFF: "nothing enforced",
    GrammarStatus.LEGAL: "let through",
    GrammarStatus.STEERED: "would have been changed",
    GrammarStatus.INCOMPLETE: "accepted so far",
    GrammarStatus.REFUSED: "grammar refused",
}
_READINGS = {"tokens": "checked by token ids", "text": "checked by text, without ids"}


def constrained_payload(trace: Trace, verdict: GrammarVerdict) -> str:
    """Return the payload of the first illegal token."""
    tag = verdict.structural_tag
    return pack_payload(
        {
            "state": "done",
            "status": verdict.status.value,
            "word": _WORDS[verdict.status],
            "sentence": verdict.sentence,
            "source": joined(
                f"format {verdict.family}",
                f"structural tag `{tag}`" if tag else "no structural tag",
                f"level `{verdict.enforcement}`",
                _READINGS.get(verdict.reading, verdict.reading) if tag else None,
            ),
            "constrains": verdict.constrains,
            "starts": _starts(trace, verdict),
            "interventions": [_intervention(trace, item) for item in verdict.interventions],
            "then": verdict.then,
            "opinion": None if verdict.second_opinion is None else _opinion(trace, verdict.second_opinion),
            "reading": None if verdict.token_reading is None else _reading(trace, verdict.token_reading),
            "notes": [*verdict.notes],
        }
    )


def _starts(trace: Trace, verdict: GrammarVerdict) -> JSON:
    if not verdict.starts_at:
        return None
    text = f"The grammar applies from character {verdict.starts_at:,}, where the reasoning has ended."
    return {"text": text, "jump": jump_of(trace, Span(verdict.starts_at, verdict.starts_at + 1))}


def _intervention(trace: Trace, item: Intervention) -> JSONObject:
    place = f"character {item.char_offset:,}"
    if item.token_index is not None:
        place = f"token {item.token_index:,} · {place}"
    rule = item.rule
    return {
        "place": place,
        "jump": _jump(trace, item.token_index, item.char_offset),
        "token": item.token_text,
        "id": item.token_id,
        "accepted": item.accepted,
        "allowed": [*item.allowed],
        "anything_but": item.anything_but,
        "may_end": item.may_end,
        "cause": item.cause.value.replace("-", " "),
        "sentence": item.sentence,
        "rule": None if rule is None else {"path": rule.path, "text": shortened(_json_text(rule.rule), 300)},
        "forgiven": item.forgiven_by or "",
    }


def _jump(trace: Trace, token_index: int | None, char_offset: int) -> JSONObject:
    if token_index is not None and trace.raw is not None and trace.raw.tokens is not None:
        return {"in": "raw", "token_span": [token_index, token_index + 1]}
    return jump_of(trace, Span(char_offset, char_offset + 1))


def _opinion(trace: Trace, opinion: SecondOpinion) -> JSONObject:
    if not opinion.is_json:
        schema = "unknown: the arguments are not complete JSON"
    elif opinion.schema_errors:
        schema = "; ".join(opinion.schema_errors)
    else:
        schema = "has no objection"
    offset = opinion.llguidance_offset
    return {
        "call": opinion.call,
        "schema": schema,
        "llguidance": opinion.llguidance + ("" if offset is None else f" at character {offset:,}"),
        "jump": None if offset is None else jump_of(trace, Span(offset, offset + 1)),
        "note": opinion.note,
    }


def _reading(trace: Trace, reading: TokenReading) -> JSONObject:
    offset = reading.char_offset
    return {
        "word": _WORDS[reading.status],
        "sentence": reading.sentence,
        "jump": None if offset is None else _jump(trace, reading.token_index, offset),
    }


def _json_text(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
