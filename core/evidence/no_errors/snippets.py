r"""Snippets of programs, down to a line: all of it is code, so an error that it names was not reported.

pytest.xfail("It does not support images")                     a call
error = LimitExceeded("Prompt length 9 is greater than 8")     an assignment
candle::bail!("`m` is not supported")                          a macro
"""

from __future__ import annotations

import re

_PATH = r"(?:[A-Za-z_]\w{0,60}(?:\.|::|->)){0,8}"
_LEAD = r"(?:await |return |yield |throw |raise |new )?"
_TYPE = r"(?:str|int|bool|float|bytes|dict|list|Any|None|string|number|boolean|any|unknown|null|\w{1,40}\[[^\n]*\])"
# Lines that only a program has.
_SURE = re.compile(
    "|".join(
        (
            rf"{_LEAD}{_PATH}\w{{1,60}}!?\([^\n]*\)[;,]?",  # a call
            rf"{_LEAD}{_PATH}(?<=[.:>])[a-z]\w{{0,60}}!?\([\[{{(\"'`fr]{{0,3}}[^\n]*",  # one that goes on below
            r"(?:export )?(?:let|const|var|type|let mut) [\w$]{1,60}(?:: ?[^\n=]{1,80})? = [^\n]+",
            r"(?:self\.|this\.)?[a-z_]\w{0,60}(?:\.\w{1,60}){0,6}(?:: ?[\w\[\], |.<>]{1,80})? (?::=|=|\+=) [^\n]+",
            r"(?:if|elif|for|while|with|def|class|except|match|switch|func|fn|impl|catch|interface) [^\n]{1,200}[:{(]",
            r"(?:export|public|private|pub|async|else)(?: \w{1,20}){1,3} ?[^\n]{1,200}[:{(]",
            r"(?:return|raise|throw|yield|await|import|from|case) [^\n]{1,300}[;(){}\[\],]",
            r"assert [^\n]{1,300}|raise [\w.]{1,80}(?: from \w{1,40})?",
            r"from [\w.]{1,80} import [^\n]+|import [\w.]{1,80}(?: as \w{1,40})?",
        )
    )
)
# Lines that a program has, and data, too: brackets, a literal, an element, a field, a remark, the end of a block.
_MAYBE = re.compile(
    "|".join(
        (
            r"[\[\](){};,:.\s?|&]+",
            r"(?:try|else|finally|do|default)\b ?[:{]?|(?:pass|continue|break|return|raise|async|await)\b;?",
            r"(?:#|//|/?\*|--|@\w)[^\n]*",
            r"(?:[)\]}],? )?[rfb]{0,2}[\"'`][^\n]*[\"'`][,;)\]}]{0,6}",
            r"[\w.()\[\] ]{1,120} (?:[<>!=]=|[<>]) [\w.()\[\]]{1,80}|[\w.\"']{1,80},",
            r"\w{1,60}=[\w.]{1,80}|[^\n]{0,200}\w=|[)\]}] ?[^\n]{0,200}[:;,]",
            r"\*{0,2}\w{1,60}\??[:=] ?[^\n]*[,;({\[]|\w{1,60}=(?:[^\n]*[\"'\])}])?|[\[({][^\n]*[\])}],?",
            rf"\w{{1,60}}\??: (?:{_TYPE}(?: \| )?){{1,6}}",
            r"\.\w{1,60}\([^\n]*|[^\n]*(?:=>|->) ?[^\n]{0,120}[,{(]|\} ?[^\n]{0,200}[{(;,)]",
        )
    )
)
_REMARK = ("#", "//", "*", "/*", "--")
_REPORTED = re.compile(r"\b[A-Z]\w{2,60}(?:Error|Exception)\b|\b[45]\d\d\b|[\"']error[\"']|\berror ?:|Traceback")
_PRINTED = re.compile(r"[A-Z]\w{0,60}\((?!\*\*)")  # an object, as Python prints one
_BODY = re.compile(r"[\[{]{1,2}[ \"']{0,3}(?:error|errors|detail|message|object|type|code|status)[\"']")  # of an answer
_MAX_CHARS = 6_000
_MAX_LINE = 400


def is_snippet(text: str) -> bool:
    """Return whether every line of a text is one of a program, and one of them can be nothing else.

    >>> is_snippet('pytest.xfail("It does not support images")'), is_snippet("Error: it does not support images")
    (True, False)
    """
    if len(text) > _MAX_CHARS:
        return False
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return any(map(_is_sure, lines)) and all(_is_sure(line) or _may_be_code(line) for line in lines)


def _is_sure(line: str) -> bool:
    return len(line) <= _MAX_LINE and _PRINTED.match(line) is None and _SURE.fullmatch(line) is not None


def _may_be_code(line: str) -> bool:
    if _BODY.match(line) is not None:
        return False
    is_remark = line.startswith(_REMARK)
    return len(line) <= _MAX_LINE and _MAYBE.fullmatch(line) is not None and not (is_remark and _REPORTED.search(line))
