"""Errors that a person says did not occur: `I do not get "Failed to parse input" any more`."""

from __future__ import annotations

import re

_QUOTE = r"(?:\"[^\"\n]{15,600}\"|`[^`\n]{15,600}`|\u201c[^\u201d\n]{15,600}\u201d)"
# Words after which what is quoted did occur, or is asked about.
_OTHERWISE = r"(?:but|only|except|other|than|until|unless|before|why|and|just|how|what|when|if|because|due)"
_GAP = rf"(?:(?!\b{_OTHERWISE}\b)[^.,:;\n\"`\u201c]){{0,60}}?"
_DENIED = re.compile(
    r"(?:\bno longer|\bnever|\bnot|n['\u2019]t)[ \t]+(?:\w{1,12} ){0,2}?"
    r"(?:get|gets|getting|got|see|sees|seeing|saw|seen|log|logs|logged|raises?|raised|throws?|shows?|reports?|prints?"
    rf"|hits?|encounter\w{{0,3}}|receives?|received)\b{_GAP}(?P<said>{_QUOTE}|(?:\w{{1,40}}\.){{0,6}}\w{{1,60}}(?:Error|Exception)\b"
    r"(?:: [^\n]{0,600})?)"
    rf"|\b(?:no|without)[ \t]+(?:(?:an?|any|the|more|further|such|single|error|errors|message|messages) ){{0,3}}"
    rf"(?P<none>{_QUOTE})(?![ \t]{{0,4}}(?:field|key|parameter|argument|property|option)\b)",
    re.IGNORECASE,
)
_MAX_CHARS = 60_000  # of a text that a person wrote


def drop_denied(text: str) -> str:
    """Return a text without the errors that it says did not occur; a long text is data and stays as it is.

    >>> drop_denied('We no longer see "Failed to parse input at pos 3" here.')
    'We no longer see "" here.'
    >>> drop_denied('We see no answer, only "Failed to parse input at pos 3".')
    'We see no answer, only "Failed to parse input at pos 3".'
    """
    return text if len(text) > _MAX_CHARS else _DENIED.sub(_emptied, text)


def _emptied(found: re.Match[str]) -> str:
    denied = found["said"] or found["none"]
    return found[0][: -len(denied)] + '""'
