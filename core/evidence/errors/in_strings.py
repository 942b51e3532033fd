r"""Bodies of errors that a log or a debugger shows as the text of a string, with its quotation marks escaped.

"body"="{\"object\":\"error\",\"message\":\"\\\"auto\\\" tool choice …\"}"      a field of a log's entry
'{"object":"error","message":"\\"auto\\" tool choice …                         a string of JavaScript
"""

from __future__ import annotations

import re
from itertools import islice

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.evidence.errors.values import error_of_value
from prompt_debugger.core.evidence.values.json_of import json_of

_MAX_STRINGS = 40
_KEY = r"(?:error|errors|object|detail|message|code|type|status)"
_DOUBLE = re.compile(rf'(?<![\\\w])"(?=\{{\\"{_KEY}\\")(?:[^"\\\n]|\\.)*+"')
_SINGLE = re.compile(rf"(?<![\\\w])'(?=\{{\"{_KEY}\":)[^'\n]*+")
_ESCAPED_TWICE = re.compile(r"\\\\(?=[\"nrt\\])")


def error_in_string(text: str) -> Refusal | None:
    r"""Return the first error whose body is the text of a string; `None` without one.

    >>> error_in_string(r'level=error body="{\"error\":{\"message\":\"No such model\",\"code\":404}}"').message
    'No such model'
    """
    for found in islice(_DOUBLE.finditer(text), _MAX_STRINGS):
        body = json_of(found[0])
        refusal = error_of_value(json_of(body)) if isinstance(body, str) else None
        if refusal is not None:
            return refusal
    return None


def plain_of_javascript(text: str) -> str:
    r"""Return a text in which JSON within JavaScript's single quotation marks is escaped once, as JSON is.

    >>> plain_of_javascript(r'''got '{"message":"\\"auto\\" needs a flag"}' there''')
    'got \'{"message":"\\"auto\\" needs a flag"}\' there'
    """
    if "'{\"" not in text:
        return text
    return _SINGLE.sub(lambda found: _ESCAPED_TWICE.sub(r"\\", found[0]) if r"\\\"" not in found[0] else found[0], text)
