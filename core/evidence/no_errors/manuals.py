r"""Pages of a manual and rules for programs: they say which errors may come, and what to do then.

## Too many requests                                             a heading
Raises:                                                          a section
"""

from __future__ import annotations

import re

from prompt_debugger.core.evidence.no_errors.declared import is_description
from prompt_debugger.core.evidence.no_errors.documentation import drop_documentation, has_front_matter

# The rows of a table of possible errors, below a head that says what to do.
_ERROR_TABLE = re.compile(
    r"(?mi)^[ \t]{0,4}\|[^\n]{0,200}\b(?:causes?|solutions?|resolutions?|meaning|fix|remedy|action|description|when)\b"
    r"[^\n]{0,200}\|[ \t]*\n[ \t]{0,4}\|[-: |]+\|[ \t]*\n(?:[ \t]{0,4}\|[^\n]*(?:\n|\Z))+"
)
_NOTICE = re.compile(
    r"(?m)^[ \t]{0,8}(?:> ?)?\[!(?:TIP|NOTE|IMPORTANT|WARNING|CAUTION)\][^\n]*(?:\n[ \t]{0,8}\S[^\n]*)*"
)
_HEADINGS = re.compile(r"(?m)^#{1,5} [^\n]{1,120}")
_MIN_HEADINGS = 3
_OF_FORM = re.compile(
    r"(?i)\bbug|\bissue|expected|actual|\brepro|regression|environment|\bsteps\b|what happen|observed"
    r"|\A#+ (?:the )?problem|\A#+ (?:the )?error|error (?:message|log|output)|checklist|describe|symptom"
)
# Of a manual: a list of what is the case where an option is not given, a heading deep within, and what not to use.
_CASES = re.compile(
    r"(?mi)^(?:(?:when|if|unless)\b[^\n]{0,200}\b(?:not (?:specified|set|given|enabled|used|provided|passed|present"
    r"|configured)|omitted)|without)\b[^\n]{0,200}:[ \t]*\n"
    r"(?:[ \t]*(?:[-*+\u2022]|\d{1,2}[.)])[^\n]*(?:\n|\Z))+"
)
_SECTION = re.compile(r"(?mi)^#{3,6} (?![^\n]*\b(?:bugs?|issues?|problem)\b)[^\n]*")
_DISCOURAGED = re.compile(r"(?m)^[^\n]{0,40}\bDo (?:\*\*|_)?not(?:\*\*|_)? use\b[^\n]*")
_PERSON = re.compile(r"\bI(?:'m|'ve)? [a-z]|\b[Mm]y [a-z]")
# What a page of advice tells its reader, and a report does not.
_ADDRESSED = re.compile(
    r"\b[Yy]ou (?:send|run|call|start|try|launch|make|deploy)\b[^\n.:]{0,160}\b(?:and|but) (?:you )?"
    r"(?:get|see|receive)\b[^\n.:]{0,40}:"
)
# What rules for programs and descriptions of functions say: which errors to handle, and when one may come.
_GUIDANCE = re.compile(
    r"(?m)^[^\w\n]{0,12}(?:Add|Include|Implement|Ensure|Prefer|Provide|Use|Do not use|Missing|Improve)\b[^\n]{0,80}"
    r"\berrors?[ -](?:handling|enums?|types?|messages?)\b(?! (?:the |this |your )?request)[^\n]*"
    r"|^[ \t]{0,40}Raises:[ \t]*\n(?:[ \t]{1,60}[^\n]*(?:\n|\Z)){1,40}"
    r"|^[^\n]{0,300}?(?:\b[Rr]aises?(?: -)? `?(?:[A-Z]\w{1,60}(?:Error|Exception)|(?:[a-z]{1,20} ){1,4}error)`? "
    r"(?:if|when|for|unless)\b"
    r"|\b(?:[Rr]etries|[Cc]atches|[Hh]andles|[Ii]gnores) (?:only |all )?`?[A-Z]\w{1,60}(?:Error|Exception)\b"
    r"|\b(?:may|might|can) "
    r"(?:also )?(?:return|raise|throw|respond with) (?:an? )?(?:`?[45]\d\d\b|`?[A-Z]\w{1,60}Error))[^\n]*"
)


def is_manual(text: str) -> bool:
    r"""Return whether a text is a page of a manual: headings, none of them from a tracker's form, and no *I*.

    >>> is_manual("# A\n## B\n## C\nIt returns 404."), is_manual("# A\n## B\n## Steps\nIt returns 404.")
    (True, False)
    """
    if has_front_matter(text) or is_description(text):
        return True
    headings = _HEADINGS.findall(text)
    is_form = any(_OF_FORM.search(heading) for heading in headings)
    is_page = len(headings) >= _MIN_HEADINGS and _PERSON.search(text) is None
    return (is_page or is_advice(text)) and not is_form


def is_advice(text: str) -> bool:
    """Return whether a text tells its reader which errors come, as a page of advice does."""
    return _ADDRESSED.search(text) is not None and _PERSON.search(text) is None


def drop_manual(text: str) -> str:
    """Return a text without the tables that list which errors may come, and without notes to a page's reader."""
    if "[!" in text:
        text = _NOTICE.sub("", text)
    return _ERROR_TABLE.sub("", text) if "|" in text else text


def drop_advice(text: str) -> str:
    r"""Return a text without what only a manual says of faults: which case is meant, and what to keep away from.

    >>> drop_advice("Do not use `--parser a`: content is null.\nWithout one:\n- content is null\nMine is null.")
    '\nMine is null.'
    """
    return _DISCOURAGED.sub("", _SECTION.sub("", _CASES.sub("", text)))


def drop_guidance(text: str) -> str:
    r"""Return a text without the lines that say which errors a program may meet, as rules and docstrings do.

    >>> drop_guidance("- Add error handling.\nRaises:\n  XError: If full.\nIt may return a 400 error.\nXError: If so")
    '\n\nXError: If so'
    """
    return drop_documentation(_GUIDANCE.sub("", text))
