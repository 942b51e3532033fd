"""Lists of accepted values within an error's words: they name what was not sent, so they say nothing of the cause.

unknown variant `x`, expected one of `stop`, `length`, `content_filter`
Supported values are: 'none', 'auto', and 'required'.
"""

from __future__ import annotations

import re

_LIST = re.compile(
    r"(?P<lead>\b(?:one of|are: dict_keys\("
    r"|(?:supported|allowed|valid|accepted|possible) (?:values|options)(?: are)?):? ?[\[(]? ?)"
    r"(?P<first>[`'\"][\w.-]{0,60}[`'\"])"
    r"(?P<others>(?:(?:,|,? (?:or|and)) ?[`'\"][\w.-]{0,60}[`'\"]){1,200})",
    re.IGNORECASE,
)


def drop_listed_values(words: str) -> str:
    """Return an error's words without the values that it says would have been accepted.

    >>> drop_listed_values("unknown variant `x`, expected one of `stop`, `content_filter` at line 1")
    'unknown variant `x`, expected one of the listed at line 1'
    """
    return _LIST.sub(r"\g<lead>the listed", words)
