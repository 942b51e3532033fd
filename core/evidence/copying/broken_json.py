r"""Outputs inside cut or broken JSON, or inside what Python printed: their quotes are escaped.

    {"raw": "<tool_call>\n{\"name\": …

Such a text is not the output as the model wrote it, so it is not read as one.
"""

from __future__ import annotations

import re

from prompt_debugger.core.diagnose.calls.written_calls import begun_bare_call
from prompt_debugger.core.evidence.copying.wrapped import call_with_breaks
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers import Paste
from prompt_debugger.core.evidence.recognise import recognise
from prompt_debugger.core.evidence.reports.blocks import BlockKind
from prompt_debugger.core.evidence.reports.shown import mentions_output
from prompt_debugger.core.evidence.reports.split import split
from prompt_debugger.core.evidence.values.json_fragment import ends_an_answer
from prompt_debugger.core.evidence.values.json_of import json_of

_HOLDER = re.compile(
    r'"(?:raw|message|choices|response|request|prompt|content|reasoning_content|role|tool_calls)"\s*+:\s*+["{\[n]'
)
_PRINTED = re.compile(r"[# ]{0,8}generated[ _]text: ?(['\"])[^\n]{0,4000}\\n", re.IGNORECASE)  # by Python, as a literal
_KEYED = re.compile(r'"[a-z_]{1,40}": ?("(?:[^"\\\n]|\\.)*+"?)')
_DATA_LINE = re.compile(r"\A[ \t]*>>>[^\n]*\n[ \t]{0,8}[{\"]")
_STRING = re.compile(r'(?m)^[ \t]{0,8}("(?:[^"\\\n]|\\.)++")[ \t]*$')

_FIRST_QUOTE = re.compile(r'(?:[^"\\]|\\.)*+"', re.DOTALL)
_GOES_ON = re.compile(
    r'\s*+,\s*+"(?:message|role|content|tool_calls|reasoning(?:_content)?|refusal|finish_reason|type|function|arguments'
    r'|prompt|choices|logprobs|usage)"\s*+:\s*+["{\[\dnft-]'
)
_ENDS_THERE = re.compile(r"\s*+[,}\]]?[\s}\]]*+\Z")
_ESCAPED = re.compile(r'[>}]\\n<|[{,:\[] ?\\"')  # as JSON has line breaks and quotes of a call in a string
_IS_VALUE = re.compile(r"\s*+[:,]\s*+\"<")  # before which a key was not copied
_ENDS_KEY = re.compile(r'\s*+:\s*+["{\[\dnft-]')
_TWICE_ESCAPED = re.compile(r">\\\\{1,6}n\s{0,4}</?[\w|]")  # line breaks between tags, in a string within a string


def string_of_json(text: str) -> str | None:
    """Return the only JSON string in a text whose other lines are prose, if it contains what the text was taken for."""
    found = [one for one in _STRING.findall(text) if '\\"' in one or "\\n" in one]
    if len(found) != 1 or recognise(text.replace(found[0], "")) is Form.OUTPUT:
        return None
    value = json_of(found[0])
    return value if isinstance(value, str) and recognise(value) is Form.OUTPUT else None


def _is_broken_json(text: str) -> bool:
    """Return whether an output is inside cut or broken JSON: its quotes are escaped, and no others are."""
    if call_with_breaks(text) or begun_bare_call(text) is not None:
        return False  # a call, one of whose arguments has such a name
    start, end = text.strip()[:1], text.strip()[-1:]
    is_below = start != "<" and _DATA_LINE.search(text) is not None  # what was typed
    is_within = ('\\"' in text or "\\n" in text) and start != "<" and (is_below or start in '{"' or end in '}]"')
    is_within = is_within or _is_keyed(text)
    return is_within and _HOLDER.search(text) is not None and Paste(text).value is None


def _is_keyed(text: str) -> bool:
    """Return whether what looks like an output is the value of a key: the only one, or one that is cut."""
    found = [one[1] for one in _KEYED.finditer(text) if recognise(one[1]) is Form.OUTPUT]
    is_cut = any(len(one) < 2 or not one.endswith('"') for one in found)
    return is_cut or (len(found) == 1 and recognise(text.replace(found[0], "")) is not Form.OUTPUT)


def is_in_a_broken_fence(text: str) -> bool:
    """Return whether everything that looks like an output is in a fence of cut JSON or of what Python printed."""
    if "```" not in text:
        return False
    blocks = split(text)
    broken = [block for block in blocks if block.kind is BlockKind.FENCED and is_part(block.text)]
    around = "\n".join(block.text for block in blocks if block not in broken)
    return bool(broken) and not mentions_output(around)


def is_part(text: str) -> bool:
    """Return whether what looks like an output is a part of an answer, or of what Python printed."""
    return (
        _is_broken_json(text)
        or ends_an_answer(text)
        or _PRINTED.match(text.strip()) is not None
        or _closes_string(text)
        or _TWICE_ESCAPED.search(text) is not None
    )


def end_of_string(text: str) -> str | None:
    """Return the output that ends a text's first string of JSON, whose beginning was not copied; else `None`."""
    first = _FIRST_QUOTE.match(text)
    if first is None or not _goes_on(text, first):
        return None
    value = json_of(f'"{first[0].replace(chr(10), " ")}')
    return value if isinstance(value, str) and recognise(value) is Form.OUTPUT else None


def _goes_on(text: str, first: re.Match[str]) -> bool:
    """Return whether another member of an answer follows a quote, or the text ends where one may, below escapes."""
    if _GOES_ON.match(text, first.end()) is not None:
        return True
    return _ENDS_THERE.match(text, first.end()) is not None and _ESCAPED.search(first[0]) is not None


def _closes_string(text: str) -> bool:
    """Return whether a text begins within a string or a key of an answer, which its first quote closes.

    In an output of a model the first quote opens a string.
    """
    first = _FIRST_QUOTE.match(text)
    if first is None:
        return text.startswith('\\"') and _HOLDER.search(text) is not None
    if _IS_VALUE.match(text) is not None and _ESCAPED.search(text) is not None:
        return True
    if _goes_on(text, first):
        return True
    is_key = _ENDS_KEY.match(text, first.end()) is not None and ('\\"' in text or "\\n" in text)
    return is_key and _HOLDER.search(text, first.end()) is not None
