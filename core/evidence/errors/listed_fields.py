"""The fields of an error, written down one per line as people copy them into a report → `Refusal`.

    - `HTTP 400`
    - `type: invalid_request_error`
    - `param: tools.0.type`
    - `message: no such type`

Only where all lines are such, and two of them are fields that errors have and settings have not.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Refusal

_MAX_CHARS = 3_000
_MAX_LINES = 8
_LINE = re.compile(
    r"[ \t]{0,8}(?:[-*+•] {0,4})?[`*]{0,3}(?:HTTP[ :]{0,3}(?:status[: ]{0,3})?(?P<http>[45]\d\d)\b[^\n:]{0,40}"
    r"|[\"']?(?P<name>type|param|code|message|error|msg|detail|status|status_code|http_status)[\"'`*]{0,3} ?[:=] ?"
    r"(?P<value>\S[^\n]{0,800}))"
)
_OF_ERROR = frozenset({"param", "code", "status", "status_code", "http_status"})
_WORDS = ("message", "error", "msg", "detail")
_STATUS = re.compile(r"[45]\d\d\b")
_NO_VALUE = frozenset({"null", "none", "undefined", ""})
_KIND = re.compile(r"[a-z]{2,30}(?:_[a-z]{2,30}){1,5}|\w{2,60}Error")


def error_of_fields(text: str) -> Refusal | None:
    """Return the error whose fields are all that a text lists; `None` if it is anything else."""
    lines = [line for line in text[:_MAX_CHARS].split("\n") if line.strip()]
    if len(text) > _MAX_CHARS or not 2 <= len(lines) <= _MAX_LINES:
        return None
    read = [_LINE.fullmatch(line.rstrip()) for line in lines]
    found = [line for line in read if line is not None]
    if len(found) < len(lines):
        return None
    values = {line["name"] or "http_status": _value(line["http"] or line["value"]) for line in found}
    status = next((int(one[:3]) for one in values.values() if _STATUS.match(one) is not None), None)
    kind = next((values[name] for name in ("code", "type") if _KIND.fullmatch(values.get(name, ""))), None)
    words = next((values[name] for name in _WORDS if values.get(name)), None)
    is_error = (status is not None or kind is not None) and bool(_OF_ERROR & values.keys())
    if not is_error or (words is None and kind is None):
        return None
    named = next((values[name] for name in ("type",) if _KIND.fullmatch(values.get(name, "")) and words is None), None)
    said = words or ": ".join(dict.fromkeys(one for one in (named, kind) if one))
    return Refusal(status, said, values.get("param") or None, kind)


def _value(text: str) -> str:
    value = text.strip(" \t`*,\"'")
    return "" if value.lower() in _NO_VALUE else value
