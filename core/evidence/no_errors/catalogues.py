r"""Pages that show which answers an interface may give, errors among them: nobody got these.

**200 OK**  {"choices": …}   **400 Bad Request**  {"error": …}      a sample for each status
Request: …  Response: …  ## Errors  {"error": …}                    a section of samples
openapi: 3.1.0 … responses: …                                       the description of an interface
Errors are returned as JSON with the following structure: {…}       a sample of any
"""

from __future__ import annotations

import re

from prompt_debugger.core.evidence.no_errors.names import has_come

_DESCRIPTION = re.compile(r"(?m)^[ \t]{0,4}[\"']?(?:openapi|swagger)[\"']?: ?[\"']?[23]\.\d")
_FENCED = re.compile(r"(?m)^[ \t]{0,8}(```|~~~)[^\n]*\n(?:(?![ \t]{0,8}\1)[^\n]*\n)*+(?:[ \t]{0,8}\1[^\n]*(?:\n|\Z))?")
_LABEL = r"[ \t]{0,8}(?:#{1,6} |[-*+] |\*\*|__)?[*_`]{0,2}"
_STATUS = re.compile(
    rf"(?m)^{_LABEL}(?:(?:[Ee]rror|[Rr]esponse|[Ss]tatus|HTTP)[ :]{{1,2}}){{0,2}}`?([2-5]\d\d)\b"
    r"(?![.,]\d)[^\n.]{0,60}$"
)
_SENT = re.compile(
    rf"(?m)^{_LABEL}(?:[Ee]xample |[Ss]ample )?(?:[Rr]equest|[Bb]ody|[Pp]ayload)(?: [\w ]{{1,30}})?[*_`:]{{0,4}}[ \t]*$"
)
_GIVEN = re.compile(
    rf"(?m)^{_LABEL}(?:[Ee]xample |[Ss]ample |[Ss]uccess\w* )?[Rr]esponses?(?: [\w ]{{1,30}})?[*_`:]{{0,4}}[ \t]*$"
)
_ERRORS = re.compile(
    rf"(?m)^{_LABEL}(?:[Ee]xample |[Ss]ample |[Pp]ossible |[Cc]ommon )?(?:[Ee]rrors|[Ee]rror (?:[Rr]esponses?|[Cc]odes"
    r"|[Ff]ormat|[Oo]bjects?|[Bb]od(?:y|ies)|[Ee]xamples?))[*_`:]{0,4}[ \t]*$"
)
_SHAPE = re.compile(
    r"\b[Ee]rrors? (?:is|are|will be) (?:returned|sent|reported) (?:in|as|with|using)\b"
    r"|\b[Ee]rror (?:response|bod|object|message)(?:s|y|ies)? (?:has|have|looks?|follows?|use[sd]?) "
    r"|\berrors? [^\n]{0,80}\bwith the following (?:structure|format)"
    r"|\b[Ii]f an error (?:occurs|happens|is raised)\b[^\n]{0,80}\bthe error (?:will be|is)\b"
)
_PERSON = re.compile(r"\b(?:I|I'm|I've|[Mm]y)\b")
_MAX_CHARS = 200_000
_MIN_STATUSES = 2


def is_catalogue(text: str) -> bool:
    r"""Return whether a text shows a sample for each answer that an interface may give.

    >>> is_catalogue('**200 OK**\n{"choices": []}\n**400 Bad Request**\n{"error": "no model"}')
    True
    >>> is_catalogue('I send\n**200 OK**\n{"choices": []}\n**400 Bad Request**\n{"error": "no model"}')
    False
    """
    if len(text) > _MAX_CHARS:
        return False
    if _DESCRIPTION.search(text) is not None and "responses" in text:
        return True
    if "{" not in text:
        return False
    prose = _FENCED.sub("", text)
    shows_all = len({*_STATUS.findall(prose)}) >= _MIN_STATUSES
    shows_kinds = _ERRORS.search(prose) is not None and (
        _SENT.search(prose) is not None and _GIVEN.search(prose) is not None
    )
    shows_shape = _SHAPE.search(prose) is not None
    return (shows_all or shows_kinds or shows_shape) and _PERSON.search(prose) is None and not has_come(prose)
