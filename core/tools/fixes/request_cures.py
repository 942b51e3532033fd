"""Bodies that cure a finding of the request's own making: one field set, left out, or written as it was meant."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping

from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Trace

ZERO_WIDTH_SPACE = "\u200b"
_PENALTY = 1.1


def holder_of(body: JSON, path: str) -> tuple[JSON, str]:
    """Return the object that holds a field path's last name, and that name."""
    steps = path.replace("[", ".").replace("]", "").split(".")
    place: JSON = body
    for step in steps[:-1]:
        if isinstance(place, dict):
            place = place.get(step)
        elif isinstance(place, list) and step.isdecimal() and int(step) < len(place):
            place = place[int(step)]
        else:
            return None, ""
    return place, steps[-1]


def _fields(finding: Finding) -> list[str]:
    return [entry.field for entry in finding.evidence if entry.where == "request" and entry.field]


def _setting(**fields: JSON) -> Callable[[Trace, Finding], JSONObject]:
    return lambda trace, _: {**trace.request.body, **fields}


def _without_fields(trace: Trace, finding: Finding) -> JSONObject:
    body = copy.deepcopy(trace.request.body)
    for field in _fields(finding):
        holder, key = holder_of(body, field)
        if isinstance(holder, dict):
            holder.pop(key, None)
    return body


def _stops_once(trace: Trace, _: Finding) -> JSONObject:
    stops = trace.request.body.get("stop")
    kept = list(dict.fromkeys(one for one in stops if isinstance(one, str) and one)) if isinstance(stops, list) else []
    return {**trace.request.body, "stop": [*kept]}


def _without_stop(trace: Trace, _: Finding) -> JSONObject:
    """Leave out the stop string at which the output ended."""
    body = trace.request.body
    hit = [one.stop_reason for one in (trace.chat, trace.raw) if one is not None and isinstance(one.stop_reason, str)]
    stops = body.get("stop")
    listed = stops if isinstance(stops, list) else [stops]
    kept = [one for one in listed if one not in hit]
    rest = {key: value for key, value in body.items() if key != "stop"}
    return {**rest, "stop": kept} if kept else rest


def _marker_broken_up(trace: Trace, finding: Finding) -> JSONObject:
    """Put a zero-width space into the markers that the request's texts hold."""
    body = copy.deepcopy(trace.request.body)
    quotes = [entry.quote for entry in finding.evidence if entry.quote and len(entry.quote) > 1]
    for field in _fields(finding):
        holder, key = holder_of(body, field)
        text = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and isinstance(text, str):
            for quote in quotes:
                text = text.replace(quote, quote[0] + ZERO_WIDTH_SPACE + quote[1:])
            holder[key] = text
    return body


def _functions_as_tools(trace: Trace, _: Finding) -> JSONObject:
    body = trace.request.body
    functions, choice = body.get("functions"), body.get("function_call")
    if not isinstance(functions, list):
        return body
    tools: list[JSON] = [{"type": "function", "function": one} for one in functions]
    rest = {key: value for key, value in body.items() if key not in ("functions", "function_call")}
    if isinstance(choice, str):
        return {**rest, "tools": tools, "tool_choice": choice}
    if isinstance(choice, dict):
        return {**rest, "tools": tools, "tool_choice": {"type": "function", "function": choice}}
    return {**rest, "tools": tools}


def _strict_tools(trace: Trace, _: Finding) -> JSONObject:
    body = copy.deepcopy(trace.request.body)
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict):
            function["strict"] = True
    return body


def _messages(change: Callable[[JSONObject], None]) -> Callable[[Trace, Finding], JSONObject]:
    """Return what changes every message of a request."""

    def make(trace: Trace, _: Finding) -> JSONObject:
        body = copy.deepcopy(trace.request.body)
        messages = body.get("messages")
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, dict):
                change(message)
        return body

    return make


def _decode_arguments(message: JSONObject) -> None:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        text = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(function, dict) and isinstance(text, str):
            function["arguments"] = _decoded_once(text)


def _decoded_once(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, str) else text


def _empty_for_null(message: JSONObject) -> None:
    if "content" in message and message["content"] is None:
        message["content"] = ""


def _both_reasonings(message: JSONObject) -> None:
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str):
        message["reasoning_content"] = message["reasoning"] = thought


# What each does, in few words, and the body that it makes.
BODIES: Mapping[str, tuple[str, Callable[[Trace, Finding], JSONObject]]] = {
    "PD107": ("each stop string once", _stops_once),
    "PD201": ("no special tokens added", _setting(add_special_tokens=False)),
    "PD202": ("special tokens added", _setting(add_special_tokens=True)),
    "PD208": ("markers in texts broken up", _marker_broken_up),
    "PD209": ("the kwarg that nobody reads left out", _without_fields),
    "PD211": ("reasoning sent under both names", _messages(_both_reasonings)),
    "PD212": ("arguments of the history decoded once", _messages(_decode_arguments)),
    "PD213": ("an empty content for null", _messages(_empty_for_null)),
    "PD220": ("functions sent as tools", _functions_as_tools),
    "PD305": ("the stop string left out", _without_stop),
    "PD307": (f"repetition_penalty: {_PENALTY}", _setting(repetition_penalty=_PENALTY)),
    "PD407": ("special tokens kept", _setting(skip_special_tokens=False)),
    "PD417": ("asked without streaming", _setting(stream=False)),
    "PD502": ("strict tools", _strict_tools),
}
