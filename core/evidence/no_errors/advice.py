r"""What pages advise about errors that did not come: sections for it, items with a remedy, good practice, conditions.

Troubleshooting                                                 a section on errors in general
- **Invalid API key**: Use the public key.                      a fault with its remedy, in one item
- Proper error handling with messages that help                 good practice
If a scorer throws an exception, the result is marked.          what is the case then
cat > rules.yaml << 'EOF'                                       what a command writes into a file
"evidence": "The output has no date."                           a judgement on a text, in JSON
"""

from __future__ import annotations

import re

_SECTION = re.compile(
    r"\s{0,20}#{0,6} {0,3}(?:[\d.]{1,8} )?(?:[\w-]{1,30} ){0,3}?"
    r"(?:[Ee]rror [Hh]andling|[Tt]roubleshooting|[Cc]ommon (?:[Ii]ssues|[Ee]rrors|[Pp]roblems|[Mm]istakes)"
    r"|[Bb]est [Pp]ractices|[Ee]rror [Cc]odes|[Kk]nown [Ll]imitations|When [Nn][Oo][Tt] to [\w ]{1,40})[ \t]*:?[ \t]*\n"
)
_SPEAKS = re.compile(r"\bI(?:'m|'ve)? [a-z]|\b[Mm]y [a-z]|\b[Ww]e (?:get|got|see|saw|are|have)\b")
_PERSON = re.compile(rf"{_SPEAKS.pattern}|\bTraceback\b")
# What a page says below an error that its reader may come to see.
_ONE = (
    r"(?:see|get|encounter|run into|hit|receive) (?:an? |this |the )?(?:\w{1,20} ){0,2}?(?:error|message|exception)s?"
    r"(?: (?:like|such as|similar to))?(?: (?:the|this|that))?(?: one)?(?: (?:above|below|following|shown))?"
)
_SHOWN_ONE = re.compile(
    rf"\bIf you {_ONE}\b[^\n]{{0,80}},"
    rf"|\b[Yy]ou (?:may|might|could|can)(?: also| then| sometimes)? {_ONE}[^\n]{{0,40}}:[ \t]*$",
    re.MULTILINE,
)
_IMPERATIVE = (
    r"(?:Verify|Check|Ensure|Make sure|Confirm|Ask|Contact|Increase|Reduce|Set|Try|Use|Run|Restart|Implement|Enable"
    r"|Disable|Add|Install|Update|Provide|Start|See|Define|Replace|Handle|Retry|Wrap)\b"
)
_LINES = re.compile(
    r"(?m)^(?:[ \t]{0,8}(?:[-*+\u2022]|\d{1,2}[.)]) {1,3}(?:\*\*|__)[^*\n]{1,160}(?:\*\*:?|:\*\*|__:?)"
    r"[ \t]{0,2}(?:[-\u2013\u2014] )?"
    rf"{_IMPERATIVE}[^\n]*"
    r"|[^\n]{0,300}?\b[Ee]rror[ -](?:handling|recovery)\b(?! (?:the |this |an? |your )?(?:request|chunk|message|stream"
    r"|tool|call|completion|response)\b|: )[^\n]*"
    r"|[^\n]{0,20}\bIf (?:your|an?|the) [^\n.,:]{1,120}, (?:simply|just|return|use|set|consider"
    r"|the (?:result|request|call|error|message|workflow|run) is)\b[^\n]*"
    r"|[^\n]{0,400}\bcatch (?:that|this|the) (?:error|exception)\b[^\n]*"
    r"|[^\n]{0,200}(?:\u82e5|\u5982\u679c|\u5f53)[^\n]{1,300}(?:\u5c06\u8fd4\u56de|\u4f1a\u8fd4\u56de)[^\n]*"
    r"|[ \t]{0,8}[-*+] Replace: [^\n]*)"
)
_WRITTEN = re.compile(
    r"(?m)^[^\n]{0,200}<<-?[ \t]?(?P<q>['\"]?)(?P<end>[A-Z]{2,12})(?P=q)[^\n]{0,100}\n"
    r"(?:(?!(?P=end)$)[^\n]*\n){1,400}?(?P=end)$"
)
_JUDGED = re.compile(
    r"(?P<key>\"(?:evidence|reasoning|rationale|explanation|justification|feedback|critique|suggestions?|summary"
    r"|weaknesses|strengths|comments?|notes?|issues?|findings?)\" ?: ?)(?:\"(?:[^\"\\\n]|\\.){1,4000}+\""
    r"|\[(?:\s{0,40}\"(?:[^\"\\\n]|\\.){1,2000}+\",?){1,40}\s{0,40}\])"
)


def is_section_on_errors(text: str) -> bool:
    r"""Return whether a text begins with the heading of a section on errors in general, and no person speaks in it.

    >>> is_section_on_errors("Error Handling\n\nIt returns 404."), is_section_on_errors("## Error\nIt returns 404.")
    (True, False)
    """
    return _SECTION.match(text) is not None and _PERSON.search(text) is None


def shows_possible_error(text: str) -> bool:
    r"""Return whether a page says what to do if its reader sees the error that it shows, and no person speaks in it.

    >>> shows_possible_error("Error: no\nIf you see an error like the one above, set the key.")
    True
    >>> shows_possible_error("I get this. Error: no\nIf you see an error like the one above, help.")
    False
    """
    return _SHOWN_ONE.search(text) is not None and _SPEAKS.search(text) is None


def drop_advice_on_errors(text: str) -> str:
    r"""Return a text without what it only advises, assumes, writes to a file or judges.

    >>> drop_advice_on_errors("1. **Invalid key**: Use yours.\n- Proper error handling\nError: invalid key")
    '\n\nError: invalid key'
    >>> drop_advice_on_errors("cat > a << 'EOF'\nrule: error\nEOF\nError: no"), drop_advice_on_errors('"notes": "no x"')
    ('\nError: no', '"notes": ""')
    """
    if "<<" in text:
        text = _WRITTEN.sub("", text)
    if '": ' in text or '":' in text:
        text = _JUDGED.sub(lambda found: f'{found["key"]}""', text)
    return _LINES.sub("", text)
