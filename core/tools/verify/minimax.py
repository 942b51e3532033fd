"""What the labels of MiniMax's provider verifier ask of an answer, by its published definitions.

    tool_calls_match_rate       rows with `expected_tool_call` that finished as expected: `tool_calls`, or else `stop`
    error_only_reasoning_rate   answers that hold reasoning and neither content nor a call, of all rows
    language_following          of rows checked for it: no Cyrillic in the content
    scenario_check_pass_rate    of rows checked for it: the content names parameters of the first tool in their order

An order is recalled if at least two parameters are named and those that are named are the first of the schema, in
the order in which they are first named; what is in `<think>` does not count. Two things differ from the published
program: a name counts as a whole word (`id` is not named by `width`), and reasoning is seen under both of its names.
Kinds of checks that are not judged here are counted by name.

Source: MiniMax-AI/MiniMax-Provider-Verifier, its README, `verify.py` and `validator/` as of 2026-07.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import remove_blocks
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.report.wire.verification import Rate
from prompt_debugger.core.tools.verify.intervals import wilson

_LANGUAGE, _SCENARIO = "contains_russian_characters_unicode", "scenario_check"
_JUDGED = frozenset({"tool_calls", _LANGUAGE, _SCENARIO})
_THOUGHT = (("<think>", "</think>"),)
# Parameters that are next to `type`, not in `properties`, as some published rows have them.
_OF_SCHEMA = frozenset(
    {"type", "description", "required", "additionalProperties", "$schema", "items", "enum", "default"}
)
_NOT_NAMED = "other"


class LabelTally:
    """Counts rows one by one, as far as labels ask for it."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._not_judged: Counter[str] = Counter()

    def add(self, row: JSONObject, labels: JSONObject) -> None:
        """Count one row, answered or not."""
        counts, message = self._counts, _message(row)
        counts["rows"] += 1
        counts["labelled"] += bool(labels)
        counts["only_reasoning"] += is_only_reasoning(message)
        expected = labels.get("expected_tool_call")
        if isinstance(expected, bool):
            counts["expected"] += 1
            counts["matched"] += row.get("finish_reason") == ("tool_calls" if expected else "stop")
        checks = _checks(labels)
        self._not_judged.update(name for name in checks if name not in _JUDGED)
        if row.get("status") != "success":
            return
        content = message.get("content")
        if _LANGUAGE in checks:
            counts["language"] += 1
            counts["language_kept"] += not any("\u0400" <= char <= "\u04ff" for char in str(content or ""))
        if _SCENARIO in checks and isinstance(content, str) and content:
            is_recalled = recalls_order(as_object(row.get("request")), content)
            counts["scenario"] += is_recalled is not None
            counts["recalled"] += is_recalled is True

    def rates(self, *, success: int, attempts: int, valid: int, with_calls: int) -> Mapping[str, Rate] | None:
        """Return MiniMax's figures; `None` without a labelled row."""
        counts = self._counts
        if not counts["labelled"]:
            return None
        return {
            "query_success_rate": wilson(success, attempts),
            "tool_calls_match_rate": wilson(counts["matched"], counts["expected"]),
            "tool_calls_schema_accuracy": wilson(valid, with_calls),
            "error_only_reasoning_rate": wilson(counts["only_reasoning"], counts["rows"]),
            "language_following": wilson(counts["language_kept"], counts["language"]),
            "scenario_check_pass_rate": wilson(counts["recalled"], counts["scenario"]),
        }

    def not_judged(self) -> Mapping[str, int]:
        """Return how many rows ask for a check that is not judged, by its name."""
        return dict(sorted(self._not_judged.items()))


def is_only_reasoning(message: JSONObject) -> bool:
    """Return whether a message contains reasoning and nothing else.

    >>> is_only_reasoning({"content": "", "reasoning_content": "Hm."})
    True
    """
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    return bool(reasoning) and not message.get("content") and not message.get("tool_calls")


def recalls_order(request: JSONObject, content: str) -> bool | None:
    """Return whether a content names parameters of the first tool in their order; `None` if the tool has none.

    >>> tool = {"function": {"name": "f", "parameters": {"properties": {"width": {}, "id": {}, "age": {}}}}}
    >>> recalls_order({"tools": [tool]}, "`width`, then `id`"), recalls_order({"tools": [tool]}, "age, id, width")
    (True, False)
    """
    expected = _parameters(request)
    if not expected:
        return None
    visible = remove_blocks(content, _THOUGHT)
    places: dict[str, int] = {}
    for name in expected:
        found = re.search(rf"(?<![0-9A-Za-z_]){re.escape(name)}(?![0-9A-Za-z_])", visible)
        if found is not None:
            places[name] = found.start()
    named = sorted(places, key=places.__getitem__)
    return len(named) >= 2 and named == expected[: len(named)]


def _parameters(request: JSONObject) -> list[str]:
    tools = request.get("tools")
    first = tools[0] if isinstance(tools, list) and tools else None
    schema = as_object(as_object(as_object(first).get("function")).get("parameters"))
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return list(properties)
    return [name for name in schema if name not in _OF_SCHEMA]


def _checks(labels: JSONObject) -> list[str]:
    """Return the kinds of checks of a row, each once; what is not a name is `other`."""
    checks = labels.get("check_type")
    named = checks if isinstance(checks, list) else [] if checks is None else [checks]
    return list(dict.fromkeys(name if isinstance(name, str) else _NOT_NAMED for name in named))


def _message(row: JSONObject) -> JSONObject:
    choices = as_object(row.get("response")).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return as_object(as_object(first).get("message"))
