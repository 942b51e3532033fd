r"""Data in which an error is a word among others: JSON that reports nothing, and elements that a prompt asked for.

{"review": "It failed with `KeyError`.", "score": 1}
<explanation>It names `KeyError`.</explanation>
"""

from __future__ import annotations

import re

_ELEMENT = re.compile(r"\s{0,20}<([A-Za-z][A-Za-z_]{1,30})>")
_OF_PAGES = frozenset(
    {
        "details", "summary", "p", "pre", "code", "div", "span", "html", "body", "table", "tr", "td", "ul", "ol", "li",
        "b", "i", "a", "br", "em", "strong", "blockquote", "sub", "sup", "error", "message", "exception", "fault",
        "response",
    }
)  # fmt: skip
# A JSON object of its own, alone or between fences, and the keys under which errors are reported in one.
_DOCUMENT = re.compile(
    r"(?ms)(?:\A|^[ \t]{0,8}(?:```|~~~)\w{0,20}[ \t]*\n)"
    r"(?P<object>\s{0,40}\{\s{0,40}\"(?:(?!^[ \t]{0,8}(?:```|~~~)).)*+)"
)
_KEY = re.compile(r'"([A-Za-z_][\w -]{0,40})"\s{0,4}:')
_OF_REPORTS = frozenset(
    {
        "error", "errors", "err", "message", "messages", "msg", "detail", "details", "code", "status", "reason",
        "exception", "cause", "stack", "level", "stderr", "stdout", "output", "log", "logs", "body", "response", "data",
        "result", "raw", "content", "text", "role", "arguments", "choices", "failed_generation",
    }
)  # fmt: skip


def is_tagged(text: str) -> bool:
    """Return whether a text is a model's, in elements that a prompt asked for: no one reports anything in it.

    >>> is_tagged("<explanation>It names `KeyError`.</explanation>"), is_tagged("<details>It fails.</details>")
    (True, False)
    """
    begun = _ELEMENT.match(text)
    return begun is not None and begun[1].lower() not in _OF_PAGES and f"</{begun[1]}>" in text


def drop_documents(text: str) -> str:
    r"""Return a text without the JSON objects that report nothing: an error that they mention came from no server.

    >>> drop_documents('{"review": "It failed with `KeyError`.", "score": 1}'), drop_documents('{"error": "x"}')
    ('', '{"error": "x"}')
    """
    if "{" not in text:
        return text
    return _DOCUMENT.sub(lambda found: found[0] if _reports(found["object"]) else "", text)


def _reports(document: str) -> bool:
    return not _OF_REPORTS.isdisjoint(key.lower() for key in _KEY.findall(document)) or _KEY.search(document) is None
