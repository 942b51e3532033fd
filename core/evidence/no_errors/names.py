r"""Names of errors without an error: where a text catches or lists them, or says what it does on a status.

Catch `RateLimitError` around the call.                  names in a sentence
- RateLimitError - raised at the limit                   names in a list or a table, each with what it is for
It sleeps on `429 Too Many Requests`.                    a status in a sentence

Where the text says that something failed, the name may be all that someone wrote of it, and counts.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.http_status import STATUS_NAMES

_NAME = r"(?:\w{1,60}\.){0,6}[A-Z]\w{1,60}(?:Error|Exception|Timeout|Failure|Exceeded|Behavior)"
_ITEM = re.compile(
    rf"(?m)^[ \t]{{0,8}}(?:[-*+\u2022]|\d{{1,2}}[.)])[ \t]{{1,3}}[*`_]{{0,3}}(?P<name>{_NAME})[*`_]{{0,3}}(?![\w.])"
    r"[^\n{\[\"'\d]*(?:\n|\Z)"
)
_ROW = re.compile(
    rf"(?m)^[ \t]{{0,8}}\|(?:[^|\n]{{0,200}}\|){{0,2}}?[ \t]{{0,40}}[*`]{{0,3}}(?P<name>{_NAME})[*`]{{0,3}}"
    r"[ \t]{0,80}\|[^\n{]*(?:\n|\Z)"
)
_MIN_NAMES = 2  # different names that make a list of them
_PHRASES = "|".join(sorted({name for names in STATUS_NAMES.values() for name in names}, key=len, reverse=True))
_CALLED = re.compile(
    rf"[`\"'\u201c*]{{0,3}}(?:(?:HTTP[ /]?)?[45]\d\d:? (?:{_PHRASES})\b|(?<![\w.]){_NAME}(?![\w(]))(?!: \S)"
    r"[`\"'\u201d*]{0,3}"
)
# What someone says of an error that came.
_CAME = re.compile(
    r"\b(?:(?:I|we|they|users|still|always|now|then|sometimes|randomly|but|also|just|only|and|to|will) get"
    r"|gets|got|getting|receiv\w{1,4}|fail|fails|failed|failing|crash\w{0,4}|dies|died|stuck|hit|hits|hitting|keeps|threw|throws"
    r"|broken?|breaks|stops|stopped|issue|problem|bug|seeing|saw|ends? (?:with|in)|ended|aborts?|aborted"
    r"|(?<!is )(?<!are )(?<!be )(?<!being )returned"
    r"|responded|answered|occurred|reported|why|help|unable|cannot|can't|won't|doesn't|error(?:ed|s out))\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"")
# A heading that names a status, with a paragraph that says what it is for or what to do.
_HEADED = re.compile(
    r"(?m)^#{1,6} (?:[Ee]rror )?(?:HTTP )?[45]\d\d\b[ :\u2013\u2014-]{1,3}[A-Z][\w -]{2,40}[ \t]*\n(?:[ \t]*\n)?"
    r"(?P<below>[^\n#`{\"][^\n]{19,600})(?:\n|\Z)"
)
_ADVISES = re.compile(
    r"(?:\A|[.:;] )(?:Validate|Check|Verify|Wait|Ensure|Make sure|Send|Use|Retry|Try|Reduce|Shorten|Lower|Batch|Contact"
    r"|Add|Set|Provide)\b|, or (?:a|an|the|your)\b|\b(?:may|might|usually|typically|this (?:means|happens))\b"
)
_OF_PERSON = re.compile(r"\b(?:I|I'm|I've|[Mm]y|[Ww]e|[Oo]ur)\b")


def has_come(text: str) -> bool:
    """Return whether a text says in its own words that an error came, and does not only name one.

    >>> has_come("It dies, I get `AError`."), has_come("Catch `AError`.")
    (True, False)
    """
    return _CAME.search(_CODE.sub("", text)) is not None


def drop_names(words: str) -> str:
    """Return words without the names of errors in them; a name with what was said stays.

    >>> drop_names("It waits on `429 Too Many Requests` or `a.BError`."), drop_names("a.BError: no")
    ('It waits on  or .', 'a.BError: no')
    """
    return _CALLED.sub("", words)


def drop_listed_names(text: str) -> str:
    r"""Return a text without the lists and tables that say which errors there are, and what each is for.

    >>> drop_listed_names("- `AError`: no key\n- `BError`: no answer\nCError: no\n")
    'CError: no\n'
    >>> drop_listed_names("I get\n- AError: no key\n- BError: no answer\n")
    'I get\n- AError: no key\n- BError: no answer\n'
    """
    for line in (_ITEM, _ROW):
        if len({found["name"] for found in line.finditer(text)}) >= _MIN_NAMES and not has_come(line.sub("", text)):
            text = line.sub("", text)
    return text


def drop_headed(text: str) -> str:
    r"""Return a text without headings that name a status above a paragraph which says what it means.

    >>> drop_headed("## 400 Bad Request\nThe body is broken. Check it against the schema.\n\nError: no")
    '\nError: no'
    >>> drop_headed("## 400 Bad Request\nmessages[3] has no role in this body.\n")[:18]
    '## 400 Bad Request'
    """
    return _HEADED.sub(lambda found: "" if _says_what_for(found["below"]) else found[0], text) if "#" in text else text


def _says_what_for(paragraph: str) -> bool:
    return _ADVISES.search(paragraph) is not None and _OF_PERSON.search(paragraph) is None
