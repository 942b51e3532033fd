"""Lists of issues, as validators of clients print them → faults as FastAPI writes them: a place and words each.

    [{"code": "invalid_type", "path": ["choices", 0, "delta"], "message": "Required"}]      zod
    [{"code": "invalid_union", "unionErrors": [{"issues": […]}, …], "path": []}]            zod 3: one member each
    [{"code": "invalid_union", "errors": [[…], …], "path": []}]                             zod 4
    [{"type": "json_invalid", "loc": "()", "msg": "Invalid JSON: …"}]                       pydantic, kept as JSON

Of a union's members the one with fewest issues was meant.
"""

from __future__ import annotations

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject

_MAX_ISSUES = 200  # issues
_DEPTH = 6


def faults_of_issues(value: JSON, depth: int = _DEPTH) -> list[JSON]:
    """Return the faults that a validator's list of issues holds; none if a value is not such a list.

    >>> faults_of_issues([{"code": "x", "path": ["choices", 0], "message": "Required"}])
    [{'loc': ['body', 'choices', 0], 'msg': 'Required'}]
    """
    if not isinstance(value, list) or not value or depth == 0:
        return []
    found: list[JSON] = []
    for item in value[:_MAX_ISSUES]:
        issue = as_object(item)
        words = issue.get("message", issue.get("msg"))
        if not isinstance(words, str) or not isinstance(issue.get("path", issue.get("loc")), list | str):
            return []
        found += _meant(issue, depth) or [_fault(issue, words)]
    return found


def _fault(issue: JSONObject, words: str) -> JSON:
    place = issue.get("path", issue.get("loc"))
    if isinstance(place, str):
        place = [step for step in place.strip("()[] ").split(".") if step]
    keys = issue.get("keys")
    if isinstance(keys, list) and keys and not any(str(key) in words for key in keys):
        words = f"{words}: unrecognized {', '.join(map(str, keys[:5]))}"
    expected = issue.get("expected")
    if words == "Invalid input" and isinstance(expected, str):
        words = f"Invalid input: expected {expected}"
    return {"loc": ["body", *(place if isinstance(place, list) else [])], "msg": words}


def _meant(issue: JSONObject, depth: int) -> list[JSON]:
    """Return the faults of the member of a union that a value was likely meant to be; none if it is not a union."""
    lists = issue.get("unionErrors", issue.get("errors"))
    if not isinstance(lists, list):
        return []
    members = [faults_of_issues(as_object(one).get("issues", one), depth - 1) for one in lists[:_MAX_ISSUES]]
    return min((one for one in members if one), key=len, default=[])
