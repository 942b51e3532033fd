"""K2VV's published definitions, once more and as plainly as they read: asks a server, counts, knows nothing of us.

Written from the description of `tool_calls_eval.py` (MoonshotAI/K2-Vendor-Verifier at 0bc5061), whose
counters ours have to equal; and its extraction of calls from raw text, whose defects ours must not have.
"""

from __future__ import annotations

import hashlib
import json
import re
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from typing import Any

import jsonschema


def verify_rows(url: str, bodies: list[Any], model: str) -> list[dict[str, Any]]:
    """Return the row of each body."""
    return [_row(url, index, body, model) for index, body in enumerate(bodies, 1)]


def count(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the counters of the summary."""
    answered = [row for row in rows if row["status"] == "success"]
    calling = [row for row in answered if row["finish_reason"] == "tool_calls"]
    others = Counter(
        str(row["finish_reason"]) for row in answered if row["finish_reason"] not in ("stop", "tool_calls", None)
    )
    return {
        "success_count": len(answered),
        "failure_count": len(rows) - len(answered),
        "finish_stop": sum(row["finish_reason"] == "stop" for row in answered),
        "finish_tool_calls": len(calling),
        "finish_others": len(answered) - len(calling) - sum(row["finish_reason"] == "stop" for row in answered),
        "named_others": dict(others),
        "schema_validation_error_count": sum(not row["tool_calls_valid"] for row in calling),
        "successful_tool_call_count": sum(bool(row["tool_calls_valid"]) for row in calling),
    }


def f1(rows: list[dict[str, Any]], official: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the table and F1 over the rows that both answered, as FLock's `compare.py`."""
    theirs = {row["data_index"]: row for row in official if row["status"] == "success"}
    table: Counter[str] = Counter(tp=0, fp=0, fn=0, tn=0)
    for row in rows:
        if row["status"] == "success" and row["data_index"] in theirs:
            here = row["finish_reason"] == "tool_calls"
            there = theirs[row["data_index"]]["finish_reason"] == "tool_calls"
            table["tp" if here and there else "fp" if here else "fn" if there else "tn"] += 1
    precision = table["tp"] / (table["tp"] + table["fp"])
    recall = table["tp"] / (table["tp"] + table["fn"])
    return {**table, "precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}


def _row(url: str, index: int, body: Any, model: str) -> dict[str, Any]:
    prepared = _prepared(body, model)
    row = {"data_index": index, "hash": _md5(prepared), "status": "failed", "finish_reason": None}
    row["tool_calls_valid"] = None
    try:
        reason, calls = _asked(url, prepared)
    except (urllib.error.HTTPError, ConnectionError):
        return row
    valid = _are_valid(prepared.get("tools") or [], calls) if reason == "tool_calls" else None
    return {**row, "status": "success", "finish_reason": reason, "tool_calls_valid": valid}


def _prepared(body: Any, model: str) -> dict[str, Any]:
    prepared = {**body, "model": model}
    prepared["messages"] = [
        {**message, "role": "system"} if message["role"] == "_input" else message for message in body["messages"]
    ]
    if prepared.get("stream"):
        prepared["stream_options"] = {"include_usage": True}
    return prepared


def _md5(prepared: dict[str, Any]) -> str:
    text = json.dumps(prepared, sort_keys=True, ensure_ascii=False)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _asked(url: str, prepared: dict[str, Any]) -> tuple[str | None, list[Any]]:
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(prepared).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        text = response.read().decode()
    if not prepared.get("stream"):
        choice = json.loads(text)["choices"][0]
        return choice["finish_reason"], choice["message"].get("tool_calls") or []
    reason: str | None = None
    calls: dict[int, Any] = {}
    for event in _events(text):
        for choice in event["choices"]:
            reason = choice["finish_reason"] or reason
            for delta in choice["delta"].get("tool_calls") or []:
                call = calls.setdefault(delta["index"], {"function": {"name": "", "arguments": ""}})
                for field, piece in delta["function"].items():
                    call["function"][field] += piece or ""
    return reason, list(calls.values())


def _events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("data: {"):
            yield json.loads(line[6:])


def _are_valid(tools: list[Any], calls: list[Any]) -> bool:
    return bool(calls) and all(_is_valid(tools, call) for call in calls)


def _is_valid(tools: list[Any], call: Any) -> bool:
    try:
        function = call["function"]
        schema = next(tool["function"]["parameters"] for tool in tools if tool["function"]["name"] == function["name"])
        if not schema:
            return False
        jsonschema.validate(json.loads(function["arguments"]), schema)
    except (KeyError, StopIteration, TypeError, ValueError, jsonschema.ValidationError, jsonschema.SchemaError):
        return False
    return True


_SECTION = re.compile(r"<\|tool_calls_section_begin\|>(.*?)<\|tool_calls_section_end\|>", re.DOTALL)
_CALL = re.compile(
    r"<\|tool_call_begin\|>\s*([\w\.]+:\d+)\s*<\|tool_call_argument_begin\|>\s*(.*?)\s*<\|tool_call_end\|>", re.DOTALL
)


def extract_calls(raw: str) -> list[tuple[str, str]]:
    """Return name and arguments of the calls that K2VV's raw mode finds in a streamed completion."""
    section = _SECTION.search(raw)
    found = [] if section is None else _CALL.findall(section[1])
    return [
        (call_id.split(".")[1].split(":")[0], arguments) for call_id, arguments in found if len(call_id.split(".")) > 1
    ]
