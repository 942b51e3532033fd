r"""Arguments that arrived as JSON, and that a program broke by taking backslashes out before it read them.

{"query": "SELECT \"a\""}      what the answer has
{"query": "SELECT "a""}          what a decoder was given: it stumbles over `a`
"""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.diagnose.fields import CallField

_UNEXPECTED = re.compile(r"\bUnexpected character \('(?P<character>[^']|')' \(code \d{1,7}")
_MAX_CHARS = 100_000


def unescaped_call(calls: tuple[CallField, ...], words: str) -> CallField | None:
    """Return the only call whose arguments fail at the character that an error names, once they are unescaped.

    `None` where they are not JSON as they came, or fail at another character.
    """
    named = _UNEXPECTED.search(words[:4_000])
    if named is None or len(calls) != 1 or not isinstance(calls[0].arguments, str):
        return None
    arguments = calls[0].arguments
    if '\\"' not in arguments or len(arguments) > _MAX_CHARS or not isinstance(decode_json(arguments), dict):
        return None
    stripped = arguments.replace('\\"', '"')
    try:
        json.loads(stripped)
    except json.JSONDecodeError as error:
        return calls[0] if stripped[error.pos : error.pos + 1] == named["character"] else None
    except (ValueError, RecursionError):
        pass
    return None
