"""Two requests of a session → what differs in the part that they share, and how to keep it the same.

Tools or keys in a different order · a date in the system prompt · thinking removed from a past turn · a tool's result
trimmed · messages left out · arguments written again · a switch of the template.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object, as_text, decoded, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.tools.verify.making import folded

_SWITCHES = ("chat_template_kwargs", "reasoning_effort", "tool_choice", "documents", "response_format")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_CUT_WORDS = ("truncated", "omitted", "cleared", "removed", "…", "...")


class Change(NamedTuple):
    """What differs."""

    field: str
    cause: str
    cure: str


def changes_between(before: JSONObject, now: JSONObject) -> Iterator[Change]:
    """Yield what differs in what two requests share; what the later one adds at its end is not a change."""
    yield from _tools(objects_in(before.get("tools")), objects_in(now.get("tools")))
    for name in _SWITCHES:
        if before.get(name) != now.get(name):
            yield Change(
                name, f"`{name}` differs from the previous turn.", f"Keep `{name}` the same for a whole session."
            )
    yield from _messages(objects_in(before.get("messages")), objects_in(now.get("messages")))


def _tools(before: Sequence[JSONObject], now: Sequence[JSONObject]) -> Iterator[Change]:
    if json.dumps(before) == json.dumps(now):
        return
    names = [[str(as_object(tool.get("function")).get("name")) for tool in tools] for tools in (before, now)]
    first = next((i for i, (a, b) in enumerate(zip(before, now, strict=False)) if json.dumps(a) != json.dumps(b)), None)
    place = f"tools[{min(len(before), len(now)) if first is None else first}]"
    if sorted(names[0]) != sorted(names[1]):
        gone, new = sorted({*names[0]} - {*names[1]}), sorted({*names[1]} - {*names[0]})
        reported = [f"{word} {', '.join(found[:5])}" for word, found in (("without", gone), ("with", new)) if found]
        yield Change(
            place,
            "The tools offered differ from those of the previous turn: "
            f"{'; '.join(reported) or 'their number differs'}.",
            "Offer the same tools for a whole session; restrict them by `tool_choice` or by refusing the call.",
        )
    elif names[0] != names[1]:
        yield Change(
            place, "The tools are in a different order.", "Sort the tools, for example by name, before sending."
        )
    elif before == now:
        yield Change(
            place,
            "The keys of a tool are in a different order.",
            "Write the tools once, or with sorted keys, and reuse them.",
        )
    elif folded([*before]) == folded([*now]):
        yield Change(
            place,
            "A date, number or id in a tool's definition changes.",
            "Move what changes into the latest user message.",
        )
    else:
        yield Change(
            place, "The definition of a tool changes.", "Write the tools once and reuse them for a whole session."
        )


def _messages(before: Sequence[JSONObject], now: Sequence[JSONObject]) -> Iterator[Change]:
    for index, (old, new) in enumerate(zip(before, now, strict=False)):
        if json.dumps(old) == json.dumps(new):
            continue
        if old.get("role") != new.get("role") or _is_left_out(before, now, index):
            yield Change(
                f"messages[{index}]",
                "Messages of the history were left out or summarized.",
                "Shorten the history rarely and by a lot, rather than a little with every turn.",
            )
            return  # from here on nothing is where it was
        field, cause, cure = _message(old, new)
        yield Change(f"messages[{index}]{field}", cause, cure)
    if len(now) < len(before):
        yield Change(f"messages[{len(now)}]", "The history is shorter than in the previous turn.", "")


def _is_left_out(before: Sequence[JSONObject], now: Sequence[JSONObject], index: int) -> bool:
    return now[index] in before[index + 1 : index + 200]


def _message(old: JSONObject, new: JSONObject) -> tuple[str, str, str]:
    """Return field, cause and cure of a message that changed."""
    role = str(old.get("role"))
    if old == new:
        return "", "The keys of a message are in a different order.", "Keep messages as they were sent the first time."
    thought = next((name for name in _THOUGHTS if old.get(name) and not new.get(name)), None)
    if thought is not None:
        return (
            f".{thought}",
            "The thinking of a past turn was removed by the client.",
            "Send past thinking back as long as the template prints it, or never send it.",
        )
    if old.get("tool_calls") != new.get("tool_calls"):
        return ".tool_calls", *_calls(objects_in(old.get("tool_calls")), objects_in(new.get("tool_calls")))
    if old.get("content") != new.get("content"):
        return ".content", *_content(role, old.get("content"), new.get("content"))
    name = next(name for name in {**old, **new} if old.get(name) != new.get(name))
    return f".{name}", f"`{name}` of a past message changes.", "Keep messages as they were sent the first time."


def _calls(old: Sequence[JSONObject], new: Sequence[JSONObject]) -> tuple[str, str]:
    keep = "Send the message back exactly as the server gave it."
    if [_meaning(call) for call in old] == [_meaning(call) for call in new]:
        return "The arguments of a past call were written again in another form.", keep
    if [call.get("function") for call in old] == [call.get("function") for call in new]:
        return "A past call has a different id.", keep
    return "The calls of a past message change.", keep


def _meaning(call: JSONObject) -> JSON:
    function = as_object(call.get("function"))
    return [function.get("name"), decoded(function.get("arguments"))]


def _content(role: str, old: JSON, new: JSON) -> tuple[str, str]:
    before, after = as_text(old), as_text(new)
    if before is not None and after is not None:
        if before.strip() == after.strip():
            return f"Whitespace around a {role} message changes.", "Keep messages as they were sent the first time."
        if role == "tool" and len(after) < len(before) and _is_trimmed(before, after):
            return (
                "A tool's result was trimmed after it had been sent in full.",
                "Trim results before sending them for the first time.",
            )
    part = "the system prompt" if role in ("system", "developer") else f"a past {role} message"
    if folded(old) == folded(new):
        return (
            f"A date, number or id in {part} changes.",
            "Move what changes (date, time, ids) out of it into the latest user message.",
        )
    if role in ("system", "developer"):
        return (
            "The system prompt changes.",
            "Keep the system prompt for a whole session; put new information into the latest message.",
        )
    return f"{part[0].upper()}{part[1:]} changes.", "Keep messages as they were sent the first time."


def _is_trimmed(before: str, after: str) -> bool:
    start = after[: max(1, min(len(after) // 2, 40))]
    return before.startswith(start) or any(word in after.lower() for word in _CUT_WORDS)
