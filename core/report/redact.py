"""Take secrets out of what leaves the machine.

Only things that are secrets by their shape or by their field name are taken
out: bearer tokens, keys with a well-known prefix, passwords inside URLs, and
the values of fields called `api_key`, `authorization` and the like. Prompts
stay as they are, for they are what the report is about.
"""

from __future__ import annotations

import re

from core.types import JSON

MARK = "[removed]"

_SECRET_FIELD = re.compile(
    r"^(x-)?(api[-_]?key|authorization|proxy-authorization|cookie|set-cookie|password|secret|access[-_]?token|hf[-_]?token)$",
    re.IGNORECASE,
)
_SECRETS = (
    re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bhf_[A-Za-z0-9]{16,}"),
    re.compile(r"\b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{16,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    re.compile(r"(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?<=://)[^/@\s:\"']+:[^/@\s\"']+(?=@)"),
)


def redact_text(text: str) -> str:
    """Return `text` with everything that looks like a secret replaced by `[removed]`.

    >>> redact_text("Authorization: Bearer abcdefgh12345678")
    'Authorization: Bearer [removed]'
    """
    for pattern in _SECRETS:
        text = pattern.sub(MARK, text)
    return text


def redact_json(value: JSON) -> JSON:
    """Return `value` with secret fields and secret-looking texts replaced."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list):
        return [redact_json(item) for item in value]
    if isinstance(value, dict):
        return {
            key: MARK if _SECRET_FIELD.match(key) and isinstance(item, str) and item else redact_json(item)
            for key, item in value.items()
        }
    return value
