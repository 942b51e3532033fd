"""The payload of one request by three APIs: each run in a column, below them what differs, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping

from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.tools.apis import ApiRuns
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import count_of

_MAX_CHARS = 3_000
_BEFORE = 120  # characters of a prompt before the first that differs

_PARTS = ("prompt", "raw", "message")


def asking_payload(sentence: str) -> str:
    """Return the payload while the APIs are asked."""
    return pack_payload(
        {"state": "running", "sentence": sentence or "Asking the server", "progress": {"text": "", "fraction": None}}
    )


def apis_payload(done: ApiRuns) -> str:
    """Return the payload of the runs and what differs between them."""
    texts = {api: {} if trace is None else _texts(trace) for api, trace in done.runs.items()}
    first = next(api for api, trace in done.runs.items() if trace is not None)
    columns: list[JSON] = []
    for api, trace in done.runs.items():
        problem = done.problems[api].message if api in done.problems else ""
        parts: list[JSON] = [_part(name, texts[api], texts[first]) for name in _PARTS]
        columns.append({"api": api.label, "sentence": _verdict(trace) or problem, "parts": parts})
    return pack_payload(
        {
            "state": "done",
            "sentence": _sentence(done),
            "source": "The same request through each API in turn, compared with the first.",
            "columns": columns,
            "differences": [_difference(one) for one in done.differences],
        }
    )


def _sentence(done: ApiRuns) -> str:
    if not done.differences:
        return "Prompts, outputs, answers and streams agree as far as they are known."
    unexplained = sum(one.cause is None for one in done.differences)
    tail = f", {unexplained} of them not explained" if unexplained else ", each with its cause"
    return f"{count_of(len(done.differences), 'difference')}{tail}."


def _verdict(trace: Trace | None) -> str:
    return "" if trace is None or trace.verdict is None else trace.verdict.sentence


def _texts(trace: Trace) -> Mapping[str, str]:
    """Return the texts of a run that are shown next to those of the others."""
    texts: dict[str, str] = {}
    if trace.prompt is not None:
        texts["prompt"] = trace.prompt.text
    if trace.raw is not None:
        texts["raw"] = trace.raw.text
    if trace.chat is not None:
        message = {name: value for name, value in trace.chat.message.items() if value not in (None, [], "")}
        texts["message"] = json.dumps(message, ensure_ascii=False, indent=2)
    return texts


def _part(name: str, own: Mapping[str, str], first: Mapping[str, str]) -> JSONObject:
    """Return one part of a run: what is like the first run's, and what follows from where it is not."""
    text = own.get(name)
    if text is None:
        return {"name": name, "same": "", "other": "", "note": "not known"}
    at = first_divergence(text, first[name]) if name in first else None
    if at is None:
        return {"name": name, "same": text[:_MAX_CHARS], "other": "", "note": f"{len(text):,} characters"}
    begin = max(0, at - _BEFORE)
    same = ("…" if begin else "") + text[begin:at]
    return {
        "name": name,
        "same": same,
        "other": text[at : at + _MAX_CHARS],
        "note": f"{len(text):,} characters, different from character {at:,} on",
    }


def _difference(one: ApiDifference) -> JSONObject:
    first, second = one.between
    return {
        "between": f"{first.label} / {second.label}",
        "where": one.where,
        "detail": one.detail,
        "cause": one.cause or "not explained",
        "is_explained": one.cause is not None,
    }
