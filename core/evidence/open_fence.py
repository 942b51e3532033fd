"""A text that was copied from within a fence, or up to within one: one end of the fence is not there."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings

from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.recognise import recognise

_FENCE = re.compile(r"(?m)^[ \t]{0,3}```(?P<language>\w{0,20})[ \t]*$")
_MIN_FENCES = 3  # the end of the first one, and another one
_MAX_CHARS = 60_000


def open_fence(text: str) -> str:
    """Return a text with the line of a fence that was not copied: of its only one, or of the first, below Python."""
    fences = [*_FENCE.finditer(text)] if len(text) <= _MAX_CHARS and "```" in text else []
    if len(fences) == 1 and text[fences[0].end() :].strip():
        above = text[: fences[0].start()].strip()
        return f"{text.rstrip()}\n```" if above and recognise(above) is None else text
    if len(fences) % 2 == 0 or len(fences) < _MIN_FENCES or fences[0]["language"]:
        return text
    above = text[: fences[0].start()]
    return f"```\n{text}" if recognise(above) is Form.REQUEST and _is_python(above) else text


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(ast.parse(textwrap.dedent(text)).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
