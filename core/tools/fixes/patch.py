"""JSON Patch (RFC 6902): what makes one request of another, and its application."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import same_json
from prompt_debugger.core.base.types import JSON, JSONObject


def patch_between(before: JSON, after: JSON, path: str = "") -> Iterator[JSONObject]:
    """Yield what makes `after` of `before`, as deep as it goes; lists of other lengths are replaced whole.

    >>> list(patch_between({"a": 1, "b": 2}, {"a": 3}))
    [{'op': 'replace', 'path': '/a', 'value': 3}, {'op': 'remove', 'path': '/b'}]
    """
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _between_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from patch_between(old, new, f"{path}/{index}")
    elif not same_json(before, after):
        yield {"op": "replace", "path": path, "value": after}


def _between_objects(before: JSONObject, after: JSONObject, path: str) -> Iterator[JSONObject]:
    for key, old in before.items():
        inner = f"{path}/{_escaped(key)}"
        if key in after:
            yield from patch_between(old, after[key], inner)
        else:
            yield {"op": "remove", "path": inner}
    for key, new in after.items():
        if key not in before:
            yield {"op": "add", "path": f"{path}/{_escaped(key)}", "value": new}


def apply_patch(value: JSONObject, patch: tuple[JSONObject, ...]) -> JSONObject:
    """Return a request with operations of `patch_between` carried out; what is not there to change is left alone."""
    made: JSONObject = copy.deepcopy(value)
    for operation in patch:
        *way, last = steps_of(operation)
        place: JSON = made
        for step in way:
            place = value_at(place, step)
        if isinstance(place, dict):
            if operation["op"] == "remove":
                place.pop(last, None)
            else:
                place[last] = operation["value"]
        elif isinstance(place, list) and last.isdecimal() and int(last) < len(place):
            place[int(last)] = operation["value"]
    return made


def steps_of(operation: JSONObject) -> list[str]:
    """Return the keys and indices that lead to what an operation changes."""
    return [step.replace("~1", "/").replace("~0", "~") for step in str(operation.get("path")).split("/")[1:]]


def value_at(place: JSON, step: str) -> JSON:
    """Return what is at a key or an index of a value; `None` if there is no such step."""
    if isinstance(place, dict):
        return place.get(step)
    if isinstance(place, list) and step.isdecimal() and int(step) < len(place):
        return place[int(step)]
    return None


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
