r"""What docstrings say of errors that did not come: their sections, and the parameters that they describe.

Args:                                          a section, with what is indented below it
    limit: Raise if the rate limit is hit.
name (`str`, *optional*):                      a parameter, as the docstrings of transformers describe it
    Should not be empty.
"""

from __future__ import annotations

import re

_BELOW = r"(?:\1[ \t]+\S[^\n]*(?:\n|\Z)|[ \t]*\n){1,400}"
_SECTION = re.compile(
    r"(?m)^([ \t]{0,40})(?:Args|Arguments|Keyword Args|Parameters|Returns|Yields|Raises|Attributes):[ \t]*\n"
    r"(?:[ \t]*\n)?"
    r"(?=\1[ \t]+[\w`*(])" + _BELOW
)
_PARAMETER = re.compile(
    r"(?m)^([ \t]{0,40})(?!Traceback )(?:[-*] )?`{0,2}\*{0,2}\w{1,60}`{0,2} \((?=[`*\w])[^\n]{1,200}\):[ \t]*\n"
    r"(?=\1[ \t]+[\w`*(])" + _BELOW
)
# One on a line, as in the descriptions of an API.
_LISTED = re.compile(
    r"(?m)^[ \t]{0,40}[-*] (?:`\w{1,60}` \([a-z][\w \[\],|]{1,40}\): "
    r"|\w{1,60}: (?:Optional|Union|List|Dict|list|dict|str|int|float|bool)\b(?:\[[^\n]{0,60}\])? - )[^\n]*"
)
_DOC_COMMENT = re.compile(r"(?s)/\*\*\s(?:(?!\*/).){1,4000}?\*/")  # of a declaration, in JavaScript, Java and PHP
_SIGNS = ("- ", "Args:", "Arguments:", "Parameters:", "Returns:", "Yields:", "Raises:", "Attributes:", "):", "* `")


def drop_docstrings(text: str) -> str:
    r"""Return a text without the sections of docstrings, and without the parameters that one describes.

    >>> drop_docstrings("Args:\n  a: Too many tokens.\n\nRaises:\n  XError: If full.\nXError: it is full")
    'XError: it is full'
    """
    if "/**" in text:
        text = _DOC_COMMENT.sub("", text)
    if not any(sign in text for sign in _SIGNS):
        return text
    return _LISTED.sub("", _PARAMETER.sub("", _SECTION.sub("", text)))
