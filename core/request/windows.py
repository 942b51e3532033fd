"""`curl` as the shells of Windows write it → as other shells do; lines stay where they are, nothing is run."""

from __future__ import annotations

import re

_LINE_GOES_ON = re.compile(r"[\^`]\r?\n(?=[ \t]*(?:\^?\"?https?:|-))")  # an option or the address follows
_CARET_QUOTES = re.compile(r"(?:\bcurl(?:\.exe)?|-d|--data(?:-raw|-binary)?)[ \t]+\^\"")
_CARET = re.compile(r"\^(.)", re.DOTALL)
_BODY = r"(?:-d|--data(?:-raw|-binary|-ascii)?|--json)[ \t]+"
_DOUBLED = re.compile(rf'({_BODY})"(\s*[\[{{]\s*"".*?[\]}}]\s*)"(?!")', re.DOTALL)  # "{""model"": …}"
_ESCAPED = re.compile(rf"({_BODY})'(\s*[\[{{]\s*\\\".*?[\]}}]\s*)'", re.DOTALL)  # '{\"model\": …}'


def is_windows_command(text: str) -> bool:
    """Say whether a shell text is written for `cmd` or PowerShell: by its line ends, or by its quotes."""
    return any(found.search(text) for found in (_LINE_GOES_ON, _CARET_QUOTES, _DOUBLED, _ESCAPED))


def from_windows(text: str) -> str:
    """Return a command of `cmd` or PowerShell as other shells write it; lines stay where they are."""
    has_carets = _CARET_QUOTES.search(text) is not None
    text = _LINE_GOES_ON.sub("\\\\\n", text)
    text = _CARET.sub(r"\1", text) if has_carets else text
    text = _DOUBLED.sub(lambda body: f'{body[1]}"{_once(body[2])}"', text)
    return _ESCAPED.sub(lambda body: body[1] + "'" + body[2].replace('\\"', '"') + "'", text)


def _once(body: str) -> str:
    r"""Return a text in which `""` stands for a quote as one in which `\"` does; a backslash before it is doubled."""
    return re.sub(r'(\\*)""', lambda quote: f'{quote[1] * 2}\\"', body)
