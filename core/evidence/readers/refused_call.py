"""A call as a client quotes it that refused it: its name, and arguments that it could not decode.

    Invalid input for tool read: JSON parsing failed: Text: {'path': 'a.md'}. Error message: …      Vercel's AI SDK
    Invalid arguments for tool read: …                                                              an older one
    invalid [tool=read<arg_key>path</arg_key><arg_value>a.md</arg_value>]                           OpenCode

What the client says of them is known beforehand; what is wrong with them shows in the call.
"""

from __future__ import annotations

import json
import re
from itertools import islice

from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.evidence.copying.gaps import OF_REFUSED_CALL
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader

_BEGINS = re.compile(
    r"Invalid (?:input|arguments) for tool (?P<name>[\w.:/-]{1,100}):\s{1,4}JSON\s{1,4}parsing\s{1,4}failed:?"
    r"\s{1,4}Text:\s{0,8}"
)
_SIGNS = ("Invalid input for tool", "Invalid arguments for tool", "invalid [tool=")
_ENDS = re.compile(r"\.?(?:\s|\\n){0,8}(?:(?<=\\n)|(?<!\w))Error(?: message)?:")
_TOOL = re.compile(r"\binvalid \[tool=(?P<name>[\w.:/-]{1,100}<[^\]\n]{1,2000})\]")
_ESCAPED = ('{\\"', '[{\\"')
_STRING = re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL)
_ELLIPSIS = "..."
_MAX_CALLS = 50


def _finds(paste: Paste) -> float:
    return 0.98 if paste.value is None and _call(paste.text) is not None else 0.0


def _call(text: str) -> tuple[str, str] | None:
    """Return name and arguments of the first call that is quoted; `None` where none is."""
    if not has_any(text, _SIGNS):
        return None
    found = _BEGINS.search(text)
    if found is None:
        garbled = [one["name"].partition(", error=")[0] for one in islice(_TOOL.finditer(text), _MAX_CALLS)]
        whole = [name for name in garbled if _ELLIPSIS not in name]  # others were shortened by who copied them
        return ((whole or garbled)[0], "{}") if garbled else None
    quoted = _unescaped(text[found.end() :])
    end = _ENDS.search(quoted)
    stop = quoted.find("\n\n") if end is None else end.start()
    arguments = quoted[: stop if stop >= 0 else len(quoted)].strip()
    return (found["name"], arguments) if arguments else None


def _unescaped(text: str) -> str:
    r"""Return what follows; as it was before it became part of a string of JSON, where its quotation marks say so.

    >>> _unescaped(r'{\"a\": 1}.\nError: no", "stack": 2}')
    '{"a": 1}.\nError: no'
    """
    if not text.startswith(_ESCAPED):
        return text
    inside = _STRING.match(text)
    try:
        value: object = json.loads(f'"{inside[0]}"', strict=False) if inside is not None else text
    except ValueError:
        return text
    return str(value)


def _read(paste: Paste) -> Evidence:
    name, arguments = _call(paste.text) or ("", "")
    call: JSONObject = {"id": UNKNOWN_ID, "type": "function", "function": {"name": name, "arguments": arguments}}
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    return Evidence(
        Form.FRAGMENT, "a call that a client refused", chat=ChatResult(message, None), notes=(OF_REFUSED_CALL,)
    )


READER = Reader(Form.FRAGMENT, _finds, _read)
