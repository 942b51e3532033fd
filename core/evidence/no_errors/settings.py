"""Settings that name errors: what a program is to do if one comes, as YAML, INI or a log of a start has them.

context_window_fallbacks: [{"a": ["b"]}]
RateLimitErrorRetries: 3
"""

from __future__ import annotations

import re

_PAIR = re.compile(r"[ \t]{0,24}(?:- )?[\"']?([A-Za-z][\w.-]{0,80})[\"']?[ \t]?[:=](?:[ \t]+(\S[^\n]*))?")
_REMARK = re.compile(r"(?<![ \t])[ \t]++# [^\n]*")
_ITEM = re.compile(r"[ \t]{0,24}- [\w./-]{1,60}[ \t]*")  # of a list
_REPORTS = re.compile(
    r"(?:.*[._-])?(?:errors?|err|message|msg|detail|details|reason|exception|traceback|stderr|stdout|output|log|text"
    r"|content|body|data|response|description|title|status|code|level|says|cause)",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"[A-Z]\w{2,80}(?:Error|Exception)")
_SENTENCE = re.compile(r"\S+(?:[ \t]+\S+){3}")  # words of someone
_MIN = 3  # lines
_MAX_LINES = 400


def is_settings(text: str) -> bool:
    r"""Return whether a text is nothing but settings: keys with short values, and none of what an error has.

    >>> is_settings("a:\n  retries: 3\n  RateLimitErrorRetries: 3\n w: 9"), is_settings("a: 1\nb: 2\nc: 3\nerror: x")
    (True, False)
    """
    lines = [
        _REMARK.sub("", line)
        for line in text.split("\n", _MAX_LINES)
        if line.strip() and not line.lstrip().startswith(("#", "```")) and _ITEM.fullmatch(line) is None
    ]
    if not _MIN <= len(lines) < _MAX_LINES:
        return False
    return all((pair := _PAIR.fullmatch(line.rstrip())) is not None and _is_setting(*pair.groups()) for line in lines)


def _is_setting(key: str, value: str | None) -> bool:
    if _EXCEPTION.fullmatch(key) is not None and value is not None and " " in value:
        return False
    if _REPORTS.fullmatch(key) is not None:
        return (
            value is not None and _SENTENCE.match(value) is None and key.lower() not in ("error", "message", "status")
        )
    return value is None or value.startswith(("[", "{", '"', "'")) or _SENTENCE.match(value) is None
