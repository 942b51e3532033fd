r"""What lists say of errors that did not come: changes of a release, and what a status or a level stands for.

- Fix a `RemoteProtocolError` in streams. (#129)                a change
- **404**: Prompt version not found                             a status, and what it means
- **ERROR (default)**: Only errors are logged                   a level of a log

An item counts only together with others of its kind: one alone may be all that someone wrote of an error.
"""

from __future__ import annotations

import re

_BULLET = r"[ \t]{0,8}(?:[-*+\u2022]|\d{1,2}[.)])[ \t]{1,3}"
_COMMIT = r"(?:fix|feat|chore|docs|refactor|perf|tests?|build|ci)(?:\([\w./ -]{1,40}\))?!?: "
_ITEM = re.compile(rf"(?m)^(?:{_BULLET}|(?={_COMMIT}))[^\n]*(?:\n[ \t]{{1,12}}(?!{_BULLET})\S[^\n]*){{0,20}}")
_CHANGED = re.compile(
    rf"(?:{_BULLET}|(?={_COMMIT}))[^\w\n]{{0,4}}"
    r"(?:(?:[Ff]ix|[Aa]dd|Remov|Drop|Chang|Updat|Deprecat|Support|Improv|Introduc|Renam|Mov|Bump|Refactor"
    r"|Relax|Allow|Revert|Handl|Implement|Upgrad|Correct|Ensur|Rais|Import|Switch|Replac|Prevent|Avoid|Clarif|Document"
    r"|Expos|Enabl|Disabl|Rework|Simplif|Emit)(?:e|es|ed|s|ped|ied|y|ing)?\b(?!:)"
    rf"|[Nn]o longer |{_COMMIT})"
)
_REFERENCE = re.compile(
    r"[(\[]#\d{1,6}[)\],]|\((?:Pull|PR|GH|Issue)[ -]?#?\d|#\d{1,6} <https?:|/(?:pull|issues)/\d|\bby @\w|\bGH-\d"
)
_REPORTS = re.compile(r"Traceback|[\"']error[\"']|\b[Ee]rror code: \d|\b(?:I|[Mm]y|[Ww]e|[Oo]ur|got|getting)\b")
# What was got before the change, and not after it.
_NO_MORE = re.compile(
    rf"(?:{_BULLET})?[^\w\n]{{0,4}}(?:[Ff]ix(?:e[sd])?\b(?:\([\w./ -]{{1,40}}\))?!?:? |[Nn]o longer |[Aa]void(?:s|ed)? "
    r"|[Pp]revent(?:s|ed)? |[Ss]top(?:s|ped)? |[Rr]esolved? )[^\n]{0,80}?\b(?:got|getting)\b"
)
_LABELLED = re.compile(
    rf"(?m)^{_BULLET}\*\*(?:[45]\d\d\b[^*\n]{{0,60}}|(?:ERROR|WARN(?:ING)?|INFO|DEBUG|CRITICAL|FATAL|TRACE)\b[^*\n]{{0,30}}"
    r"|[\"'`\u201c][^*\n]{1,80}[\"'`\u201d] errors?)(?:\*\*:|:?\*\*)[^\n]*(?:\n|\Z)"
)
_MIN = 2  # items of a kind that make a list of it


def drop_release_notes(text: str) -> str:
    r"""Return a text without the items of a list of changes, and of one that says what statuses or levels mean.

    >>> drop_release_notes("- Add `XError`. (#1)\n- Fix `YError`\nXError: it is full")
    '\n\nXError: it is full'
    >>> drop_release_notes("- Fix the `XError`"), drop_release_notes("- **404**: None.\n- **401**: No key.\nError: no")
    ('- Fix the `XError`', 'Error: no')
    """
    if "**" in text and len(_LABELLED.findall(text)) >= _MIN:
        text = _LABELLED.sub("", text)
    items = list(_ITEM.finditer(text))
    changes = [item for item in items if _is_change(item[0])]
    if len(changes) < _MIN or len(changes) * 2 < len(items):
        return text
    starts = [0, *(item.end() for item in changes)]
    stops = [*(item.start() for item in changes), len(text)]
    return "".join(text[start:stop] for start, stop in zip(starts, stops, strict=True))


def _is_change(item: str) -> bool:
    is_told = _CHANGED.match(item) is not None or _REFERENCE.search(item) is not None
    return is_told and _REPORTS.search(_NO_MORE.sub("", item)) is None
