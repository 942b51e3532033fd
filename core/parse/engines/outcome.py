"""What a vLLM parser made of an output, with what the helper has to add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from prompt_debugger.core.types import JSON, JSONObject, ParserOutcome


class SplitTrial(NamedTuple):
    """One chunking that was tried: what it is, how many deltas it has, in what its message differs, if it does."""

    name: str
    deltas: int
    difference: str | None


class Parting(NamedTuple):
    """Assistant messages as streamed: before and after the delta at which they leave the whole one, and at the end.

    `None` where there is none: before the first delta, or because streaming failed.
    """

    before: JSONObject | None
    after: JSONObject | None
    streamed: JSONObject | None


@dataclass(frozen=True, slots=True)
class VllmOutcome(ParserOutcome):
    """The outcome of one of vLLM's own parsers.

    Attributes:
        stand_in: Why a stand-in vocabulary was used, `None` if the model's own was; with one, whether streaming
            agrees is a guess.
        usual_stream_equal: Whether streaming token by token, as servers mostly do, gave the same; `None` if not tried.
        smallest_split: Texts of the deltas of the smallest chunking that streams to something else; none if there is
            none or the output is very long.
        parts_at: The delta of it, from 0, at which the streamed message leaves the whole one.
        usual_unequal: How streaming token by token differs, where it does and `first_unequal` is another chunking.
        trials: Every chunking that was tried.
        parting: The streamed messages around `parts_at`; `None` unless a thorough comparison found a difference.
        log: Warnings and errors that the parser logged.
        vllm_version: Version of the vLLM it came from.
        layer: What was run: `unified`, vLLM's one parser object as its server uses it, or `server`, the chat server's
            own code of a release that has no such object.
        tools_called: What the tool parser said about having found calls; `None` if it was not heard. A parser may say
            yes and give no call.
    """

    stand_in: str | None = None
    usual_stream_equal: bool | None = None
    smallest_split: tuple[str, ...] = ()
    parts_at: int | None = None
    usual_unequal: str | None = None
    trials: tuple[SplitTrial, ...] = ()
    parting: Parting | None = None
    log: tuple[str, ...] = ()
    vllm_version: str = ""
    layer: str = "unified"
    tools_called: bool | None = None


def splits_to_json(outcome: VllmOutcome) -> JSONObject:
    """Return what streaming in every chunking showed, as the command line prints it."""
    before, after, streamed = outcome.parting or (None, None, None)
    return {
        "equal": outcome.stream_equal,
        "trials": [
            {"name": trial.name, "deltas": trial.deltas, "difference": trial.difference} for trial in outcome.trials
        ],
        "smallest_split": list(outcome.smallest_split),
        "parts_at": outcome.parts_at,
        "difference": outcome.first_unequal,
        "before": before,
        "after": after,
        "streamed": streamed,
    }


def outcome_from_json(value: JSON, version: str, layer: str) -> VllmOutcome:
    """Return the outcome that the helper wrote as JSON."""
    fields: JSONObject = value if isinstance(value, dict) else {"error": "the helper wrote no outcome"}
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
        parting=_parting(fields.get("parting")),
        log=tuple(map(str, log)) if isinstance(log, list) else (),
        vllm_version=version,
        layer=layer,
        tools_called=called if isinstance(called, bool) else None,
    )


def _trials(value: JSON) -> tuple[SplitTrial, ...]:
    rows = [row for row in value if isinstance(row, list) and len(row) == 3] if isinstance(value, list) else []
    return tuple(SplitTrial(str(name), int(str(deltas)), _text(difference)) for name, deltas, difference in rows)


def _parting(value: JSON) -> Parting | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    before, after, streamed = (part if isinstance(part, dict) else None for part in value)
    return Parting(before, after, streamed)


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None
