"""What an engine's parser made of an output: read from the helper."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, Divergence, JSONObject, SplitTrial, VllmOutcome


def outcome_from_json(value: JSON, version: str, layer: str, engine: str = "vllm") -> VllmOutcome:
    """Return the outcome that the helper wrote as JSON."""
    fields: JSONObject = value if isinstance(value, dict) else {"error": "the helper returned no outcome"}
    calls, log = fields.get("tool_calls"), fields.get("log")
    equal, usual, tried = (fields.get(name) for name in ("stream_equal", "usual_equal", "splits_tried"))
    called, split, parts_at = (fields.get(name) for name in ("tools_called", "smallest_split", "parts_at"))
    return VllmOutcome(
        reasoning=_text(fields.get("reasoning")),
        content=_text(fields.get("content")),
        tool_calls=tuple(call for call in calls if isinstance(call, dict)) if isinstance(calls, list) else (),
        error=_text(fields.get("error")),
        finish_reason=_text(fields.get("finish_reason")),
        stream_equal=equal if isinstance(equal, bool) else None,
        splits_tried=tried if isinstance(tried, int) else 0,
        first_unequal=_text(fields.get("first_unequal")),
        stand_in=_text(fields.get("stand_in")),
        usual_stream_equal=usual if isinstance(usual, bool) else None,
        smallest_split=tuple(map(str, split)) if isinstance(split, list) else (),
        parts_at=parts_at if isinstance(parts_at, int) else None,
        usual_unequal=_text(fields.get("usual_unequal")),
        trials=_trials(fields.get("trials")),
        parting=_divergence(fields.get("parting")),
        log=tuple(map(str, log)) if isinstance(log, list) else (),
        vllm_version=version if engine == "vllm" else "",
        engine=engine,
        release=version.partition("+")[0],
        words=_words(fields),
        layer="parser" if layer == "parser" else "server",
        tools_called=called if isinstance(called, bool) else None,
    )


def _words(fields: JSONObject) -> str | None:
    """Return what the engine itself said: why it failed, else the first line that it logged."""
    log = fields.get("log")
    return _text(fields.get("error")) or (_text(log[0]) if isinstance(log, list) and log else None)


def _trials(value: JSON) -> tuple[SplitTrial, ...]:
    rows = [row for row in value if isinstance(row, list) and len(row) == 3] if isinstance(value, list) else []
    return tuple(SplitTrial(str(name), int(str(deltas)), _text(difference)) for name, deltas, difference in rows)


def _divergence(value: JSON) -> Divergence | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    before, after, streamed = (part if isinstance(part, dict) else None for part in value)
    return Divergence(before, after, streamed)


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None
