r"""Words that no program says of an error that came: names and values without a sentence, and pieces of a page.

groq.APIConnectionError                        a name alone
error: Error | null;                           a declaration
[429, 500, 502, 503]                           statuses, of which one error has one
(version_number is required)                   a remark
Unknown tool: <name>                           a value's place
Failed attempts are counted on two levels:     what leads to a list
"""

from __future__ import annotations

import re

# Two words in a row, a sentence in a script that has no spaces, a code alone, or one word after a label.
_SENTENCE = re.compile(
    r"(?<![^\W\d_])[^\W\d_]{2,}+['\u2019]?[,)]? [`\"'(]?[^\W\d_]+|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}"
    r"|\b[45]\d\d\b[ :\u2013-]{1,3}[^\W\d_]{2,}|(?<![^\W\d_])[^\W\d_]{2,}+[ :]{1,2}[\"'(]?[45]\d\d\b(?!,)"
    r"|\b[a-z]{2,}(?:_[a-z]{2,})+\b(?! ?[=(.])|\b[A-Z]{6,}\b"
    r"|: (?!(?:string|any|unknown|boolean|number|null|never|str|bool|object)\b)[a-z]{4,}\W{0,3}\Z"
)
_STATUS = re.compile(r"(?<![\d.])[45]\d\d(?![\d.])")
_MAX_STATUSES = 2
_OF_PAGE = re.compile(
    r"\A\([^()]*\)\W{0,2}\Z|\A[a-z]\w{1,30}\. [a-z]|\]\(|\A[^:]*[\w)]:(?: [*-] |\Z)"
    r"|\A\W{0,6}(?:TODO|FIXME|XXX)\b|\b(?:have|'ve|has) successfully\b|\"description\" ?: ?\""
    r"|: ?`?<(?:name|message|error|reason|id|model|tool|value|details?|code|status|text)>"
    r"|\A\W{0,6}(?:\d{1,2}\. )?\W{0,4}(?:Error|Failure|Exception) (?:[Cc]ase|[Ss]cenario|[Pp]ath|[Rr]ecovery"
    r"|[Hh]andling|[Bb]oundary|[Bb]oundarie|[Bb]udget|[Tt]racking|[Rr]eporting)s?\W{0,4}: (?![\"'`])"
    r"|\A#{1,6} (?:[A-Z][a-z]{1,30}[ -]{1,3}){1,8}[A-Z][a-z]{1,30}\W{0,3}\Z"
)
_QUESTION = re.compile(r"(?m)^[ \t]{0,8}(?:\d{1,2}[.)]|#{2,6}|[-*]|Q:)[ \t][^\n]{4,200}[?\uff1f][ \t*]*$")
_MIN_QUESTIONS = 3


def is_of_page(words: str) -> bool:
    """Return whether words without the name of an exception are no sentence of a program on an error that came.

    >>> [is_of_page(one) for one in ("a.BError", "error: Error | null;", "[429, 500, 502]", "(v is required)")]
    [True, True, True, True]
    >>> [is_of_page(one) for one in ("v is required", "Error: timeout", "HTTP 429", "context_length_exceeded")]
    [False, False, False, False]
    """
    if _SENTENCE.search(words) is None or _OF_PAGE.search(words) is not None:
        return True
    return len({*_STATUS.findall(words)}) > _MAX_STATUSES


# What a tracker's form asks the reporter: `### What version of X is running?`
_OF_FORM = re.compile(
    r"(?:what|which) (?:(?:\w{1,12} ){0,2}?(?:version|release|model|models|platform|operating system|os|browser|"
    r"terminal|terminal emulator|subscription|provider|issue|steps|feature|variant|computer|device|environment)\b"
    r"|(?:is|was|are|were) the (?:bug|issue|problem|expected|actual|current|error)\b"
    r"|happened\b|did you (?:expect|do)\b|do you (?:see|expect)\b|are you (?:seeing|using|trying)\b)"
    r"|how (?:can|could|do|did) (?:we|you|i|one) (?:reproduce|trigger)\b",
    re.IGNORECASE,
)


def is_faq(text: str) -> bool:
    r"""Return whether a text lists questions that come often: it quotes errors that other people got.

    >>> is_faq("1. Why so?\n2. It says `x`. Why?"), is_faq("1. Why so?\n2. And how?\n3. Any more?")
    (False, True)
    """
    asked = sum(_OF_FORM.search(question[0]) is None for question in _QUESTION.finditer(text))
    return asked >= _MIN_QUESTIONS
