r"""What pages of documentation say of errors that did not come: rules, causes and remedies, hierarchies of exceptions.

- Do not use `.unwrap()`.                                       a rule for contributors
**Authentication errors ("Access Denied")**                     a fault, above what to verify
│   ├── RateLimitError                                          a tree of exceptions, or a diagram
If there are too many requests, it returns an HTTP error.       what may happen
The common exception classes live in `errors`.                  where exceptions are defined
"""

from __future__ import annotations

import re

_FRONT = re.compile(
    r"\s{0,20}(?:---|\+\+\+)[ \t]*\n(?:[\w-]{1,40}[ \t]?[:=][^\n]{0,400}\n|[ \t]*\n){1,40}(?:---|\+\+\+)[ \t]*\n"
)
_TITLE = re.compile(r"(?m)^(?:title|description|sidebar\w{0,20})[ \t]?[:=]")
_LINES = re.compile(
    r"(?m)^(?:[ \t]{0,8}[-*+] (?:Do not use|Use|Raise|Prefer|Avoid|Never use|Always use) `[^`\n]{1,200}`[^\n]*"
    r"|[^\n]{0,200}?(?://|#) {0,2}(?:Missing|Add|No) error handling\b[^\n]*"
    r"|[ \t\u2502]{0,60}[\u251c\u2514]\u2500{1,3} [^\n]*"
    r"|[ \t]{0,8}[-*+] (?:[\w-]{1,30} ){0,4}[Ee]rror (?:handling|recovery|reporting)[ \t]*$"
    r"|[^\n]{0,40}\bIf there (?:is|are) [^\n.]{1,160}, [^\n.]{1,80} (?:returns?|raises?|throws?) [^\n]*"
    r"|[^\n]{0,200}\b(?:exception (?:classes|hierarchy|types)|common [\w-]{1,30} errors?)\b[^\n]*)"
)
_TROUBLE = re.compile(
    r"(?m)^\*\*[^*\n]{1,200}\*\*[ \t]*\n(?:[ \t]*\n)?"
    r"(?:Verify|Check|Ensure|Make sure|Confirm|Ask|Contact|Increase|Reduce|Set|Try)\b[^\n]*"
)
# A section on a status, below a page's title; a person's report of one speaks of itself, and a proxy's page is a title.
_STATUS = re.compile(
    r"(?m)^#{2,6} (?:HTTP )?[45]\d\d\b[ :\u2013\u2014-]{1,3}[A-Z][\w -]{2,40}[ \t]*\n(?:[ \t]*\n)?"
    r"(?=[A-Z](?![^\n]{0,400}\b(?:I|I'm|I've|[Mm]y|[Ww]e|[Oo]ur)\b)[^\n]{19})"
)
# A page's list of statuses, each with what it means; and what is written below one of them.
_ROW = re.compile(
    r"(?m)^[ \t]{0,8}(?:[-*+|] ?)?`?(?:HTTP )?([45]\d\d)\b`?(?:[ \t]?[-\u2013\u2014:|]|\t)[^\n]*(?:\n|\Z)"
    r"(?:[ \t]{0,8}(?:Cause|Solution|Resolution|Fix|Description|Reason|Action)s?:[^\n]*(?:\n|\Z)){0,3}"
)
_COLUMNS = re.compile(r"(?m)^(?:[A-Z]{3,20}[ \t]+){1,4}[A-Z]{3,20}[ \t]*$")  # the head of that list
_MIN_ROWS = 3  # different statuses
_BOLD = re.compile(r"(?m)^\*\*[^*\n]{1,200}\*\*[ \t]*$")
_MIN_FAULTS = 2  # that make a page of troubleshooting of a text, in which each line in bold names another
_CAPTION = re.compile(
    r"(?m)^Example (?:[\w-]{1,30} ){0,4}errors?\b[^\n]{0,120}:[ \t]*\n\s{0,4}```[^\n]{0,20}\n"
    r"(?:(?!```)[^\n]*\n){1,60}```"
)
_HEADING = re.compile(
    r"\W{0,8}(?:Error|Exception) (?:Handling|Hierarchy)\b(?!:)"
    r"|\W{0,8}(?:Error|Exception) (?:[Hh]andlers?|[Cc]lass(?:es)?|[Tt]ypes|[Cc]allbacks?|[Hh]ooks?"
    r"|[Pp]olic(?:y|ies)|[Ss]trateg(?:y|ies))\W{0,4}\Z"
    r"|\W{0,8}(?:[\w-]{1,30} ){0,4}(?:[Ee]rror|[Ee]xception) (?:[Hh]andling|[Mm]essages?|[Cc]odes?|[Tt]ypes?"
    r"|[Rr]esponses?|[Rr]ecovery|[Ll]ogging|[Rr]eporting)\W{0,4}\Z"
)
_NAMES = re.compile(r"(?:\b[A-Z]\w{0,60}(?:Error|Exception)\b[^\w:]{0,8}){3,40}\Z")
_MAX_NAMES = 400  # characters at the end of a statement


def has_front_matter(text: str) -> bool:
    r"""Return whether a text begins as the source of a page does: fields between two marks, a title among them.

    >>> has_front_matter("---\ntitle: Errors\n---\nIt must be set."), has_front_matter("---\nmodel: m\n---\n")
    (True, False)
    """
    found = _FRONT.match(text)
    return found is not None and _TITLE.search(found[0]) is not None


def is_heading(words: str) -> bool:
    """Return whether words begin with a heading, or end in names of exceptions alone, as a hierarchy lists them.

    >>> is_heading("Error Handling For local models, exceptions are kept."), is_heading("AError BError CError")
    (True, True)
    >>> is_heading("Error handling request: no model"), is_heading("AError: no model"), is_heading("Own error types")
    (False, False, True)
    """
    return _HEADING.match(words) is not None or _NAMES.search(words[-_MAX_NAMES:]) is not None


def drop_documentation(text: str) -> str:
    r"""Return a text without what only documentation says of errors.

    >>> drop_documentation("- Prefer `?` for errors.\n**Error: busy**\nCheck the server.\nError: busy")
    '\n\nError: busy'
    """
    text, faults = _TROUBLE.subn("", _CAPTION.sub("", _STATUS.sub("", text)))
    if len({*_ROW.findall(text)}) >= _MIN_ROWS:
        text = _COLUMNS.sub("", _ROW.sub("", text))
    return _LINES.sub("", _BOLD.sub("", text) if faults >= _MIN_FAULTS else text)
