"""Objects that a program builds, as tests do for answers that never came: no one printed them.

    choice = Choice(finish_reason="length", message=ChatCompletionMessage(role="assistant", content=""))
    client.create.return_value = answer([Choice(finish_reason='length', …)])

Python prints texts between single quotation marks, fields in the order in which their class declares them, and no
function around them.
"""

from __future__ import annotations

import re

# What an object follows that is a value in an expression: a function's bracket, a statement's word.
_IN_EXPRESSION = re.compile(
    r"(?:(?<![\w.])(?:[a-z_]\w{0,60}\.){0,6}[a-z_]\w{0,60}\(|(?m:^)[ \t+]*(?:return|yield|assert)[ \t])[\s\[(]*+\Z"
)
_ASSIGNED = re.compile(r"(?m)^[ \t+]*(?:[a-z_]\w{0,60}\.){0,6}[a-z_]\w{0,60}(?:: ?[\w.\[\]]{1,60})? = [\s\[(]*+\Z")
_QUOTED = re.compile(r"\b[a-z_]\w{0,40}=(?:\"[^\"'\\\n]*\"|(?P<printed>'))")
_ROLE_FIRST = re.compile(r"\w\(\s{0,80}role=\"\w{1,20}\",\s{0,80}content=")
_BEFORE = 200
_LOOKED_AT = 4_000  # characters of an object


def is_built(text: str, start: int) -> bool:
    r"""Return whether the object that begins at a place is one that a program builds.

    >>> is_built('answer = Choice(finish_reason="stop")', 9), is_built("answer = Choice(finish_reason='stop')", 9)
    (True, False)
    >>> is_built("send(Choice(finish_reason='stop'))", 5), is_built("Got: Choice(finish_reason='stop')", 5)
    (True, False)
    """
    before = text[max(0, start - _BEFORE) : start]
    if _IN_EXPRESSION.search(before) is not None:
        return True
    written = text[start : start + _LOOKED_AT]
    quoted = _QUOTED.search(written)
    is_typed = quoted is not None and quoted["printed"] is None
    return is_typed and (_ASSIGNED.search(before) is not None or _ROLE_FIRST.search(written) is not None)
