"""Arguments that someone shortened before pasting them, or that a program retyped: what they were is unknown."""

from __future__ import annotations

import re

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.text import remove_strings
from prompt_debugger.core.diagnose.calls.broken_arguments import key_with_tag

# `{"city": "Par...`, `{"city": ...}`: so a person shortens what is too long to show, not a server.
_SHORTENED = re.compile(r"(?:\.\.\.|…)[\s\"'}\]]{0,8}\Z|[:,{\[]\s{0,4}(?:\.\.\.|…)\s{0,4}[,}\]]")
_SIGN = re.compile(r"\.{3}|…|<snip>|\(truncated\)")
_RETYPED = re.compile(r"\\[\u201c\u201d]")  # a quotation mark that was escaped when it was still a plain one


def is_shortened(arguments: object) -> bool:
    """Return whether arguments are not JSON, and have a sign that someone shortened or retyped them."""
    if not isinstance(arguments, str) or decode_json(arguments) is not None:
        return False
    between = remove_strings(arguments)
    if _RETYPED.search(arguments) is not None or "\u00a0" in between:  # a no-break space is of pages, not of JSON
        return True
    if _SHORTENED.search(arguments) is None and _SIGN.search(between) is None:
        return False
    return key_with_tag(arguments) is None  # which no shortening puts there
