"""Take secrets out of what leaves the machine.

Only things that are secrets by their shape or by their field name are taken
out: bearer tokens, keys with a well-known prefix, passwords inside URLs,
variables and headers that are set to a key, and the values of fields called
`api_key`, `authorization` and the like. Prompts stay as they are, for they are
what the report is about.
"""

from __future__ import annotations

import re

from core.types import JSON

MARK = "[removed]"

_SECRET_FIELD = re.compile(
    r"""^(?:[\w-]*[-_])?(?:
        api[-_]?key | access[-_]?key | private[-_]?key | secret(?:[-_]?key)? | password | passwd | credentials?
        | authorization | cookie | (?:access|auth|api|bearer|hf|id|refresh|session)[-_]?token
    )(?:[-_]id)?$""",
    re.IGNORECASE | re.VERBOSE,
)
# What stands in group 1, if there is one, is kept.
_SECRETS = (
    re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bhf_[A-Za-z0-9]{16,}"),
    re.compile(r"\b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{16,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"),
    re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    re.compile(r"(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?<=://)[^/@\s:\"']+:[^/@\s\"']+(?=@)"),
    # A shell variable that is set to a key, not one that takes it from another variable or command, nor one covered.
    re.compile(
        r"((?<![A-Za-z0-9_])(?!(?:BOS|EOS|PAD|UNK|SEP|CLS|MASK|STOP|IMAGE)_TOKEN)(?:[A-Z0-9]+_)*"
        r"(?:API_?KEY|ACCESS_KEY|SECRET_KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)=\\?[\"']?)(?![$<{`\[*\u2022])"
        r"(?:(?<=\")[^\"\\\n]{4,}|(?<=')[^'\\\n]{4,}|(?<==)[^\s\"'\\]{4,})"
    ),
    # A header such as `api-key: 0123456789abcdef`; a value without a digit is prose.
    re.compile(
        r"(\b(?:x-)?(?:[a-z]+-){0,3}(?:api-?key|auth-token|authorization)[\"']?: ?(?:basic )?[\"']?)"
        r"(?=[^\s\"',]*\d)[A-Za-z0-9._~+/=-]{8,}",
        re.IGNORECASE,
    ),
)


def redact_text(text: str) -> str:
    """Return `text` with everything that looks like a secret replaced by `[removed]`.

    >>> redact_text("Authorization: Bearer abcdefgh12345678")
    'Authorization: Bearer [removed]'
    """
    for pattern in _SECRETS:
        text = pattern.sub(rf"\g<1>{MARK}" if pattern.groups else MARK, text)
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
