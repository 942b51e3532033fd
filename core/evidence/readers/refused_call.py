"""A call as a client quotes it that refused it: its name, and arguments that it could not decode.

    Invalid input for tool read: JSON parsing failed: Text: {'path': 'a.md'}. Error message: …      Vercel's AI SDK
    invalid [tool=read<arg_key>path</arg_key><arg_value>a.md</arg_value>]                           OpenCode

What the client says of them is known beforehand; what is wrong with them shows in the call.
"""

from __future__ import annotations

import re
from itertools import islice

from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.evidence.copying.gaps import OF_REFUSED_CALL
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader

_BEGINS = re.compile(
    r"Invalid input for tool (?P<name>[\w.:/-]{1,100}):\s{1,4}JSON\s{1,4}parsing\s{1,4}failed:?\s{1,4}Text:\s{0,8}"
)
_SIGNS = ("Invalid input for tool", "invalid [tool=")
_ENDS = re.compile(r"\.?\s{0,8}\bError(?: message)?:")
_TOOL = re.compile(r"\binvalid \[tool=(?P<name>[\w.:/-]{1,100}<[^\]\n]{1,2000})\]")
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
    end = _ENDS.search(text, found.end())
    stop = text.find("\n\n", found.end()) if end is None else end.start()
    arguments = text[found.end() : stop if stop >= 0 else len(text)].strip()
    return (found["name"], arguments) if arguments else None


def _read(paste: Paste) -> Evidence:
    name, arguments = _call(paste.text) or ("", "")
    call: JSONObject = {"id": UNKNOWN_ID, "type": "function", "function": {"name": name, "arguments": arguments}}
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    return Evidence(
        Form.FRAGMENT, "a call that a client refused", chat=ChatResult(message, None), notes=(OF_REFUSED_CALL,)
    )


READER = Reader(Form.FRAGMENT, _finds, _read)
