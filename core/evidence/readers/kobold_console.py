"""What KoboldCpp prints for each request: the request in one line, counts, and the output.

    Input: {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 512}

    Processing Prompt (12 / 12 tokens)
    Generating (5 / 512 tokens)
    (EOS token triggered! ID:2)
    [12:00:01] CtxLimit:17/4096, Amt:5/512, Init:0.00s, Process:0.02s, Generate:0.14s, Total:0.16s
    Output: Hello.

The output of the last request counts. It is what the model wrote, without the end token.
"""

from __future__ import annotations

import re
from contextlib import suppress

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.request import body_text, read_request

# The other fields are KoboldCpp's own, with its defaults: whoever asked need not have sent them.
_FIELDS = ("model", "messages", "tools", "tool_choice", "stream", "max_tokens", "response_format")
_INPUT = re.compile(r"(?m)^Input: (\{[^\n]{0,400000})$")
_OUTPUT = re.compile(r"(?m)^Output:(?: |$)")
_COUNTS = re.compile(r"(?m)^(?:Processing Prompt(?: \[\w{1,20}\])?|Generating) \(\d|^\[\d\d:\d\d:\d\d\] CtxLimit:\d")
_NEXT = re.compile(r"\n(?:\[\d\d:\d\d:\d\d\] CtxLimit:|Input: \{|Processing Prompt|\d{1,3}(?:\.\d{1,3}){3} - - \[)")


def _finds(paste: Paste) -> float:
    is_console = paste.value is None and "Output:" in paste.text and _COUNTS.search(paste.text) is not None
    return 0.97 if is_console and _OUTPUT.search(paste.text) is not None else 0.0


def _read(paste: Paste) -> Evidence:
    text = paste.text
    output = [*_OUTPUT.finditer(text)][-1]
    end = _NEXT.search(text, output.end())
    raw = text[output.end() : len(text) if end is None else end.start()].strip()
    if not raw:
        raise RequestError("KoboldCpp's console shows no output.", "Paste it up to the text after `Output:`.")
    asked = [*_INPUT.finditer(text, 0, output.start())]
    body = as_object(json_of(asked[-1][1])) if asked else {}
    request = None
    if isinstance(body.get("messages"), list):
        with suppress(RequestError):
            request = read_request(body_text({name: body[name] for name in _FIELDS if name in body}))
    return Evidence(Form.EXCHANGE, "a raw output on KoboldCpp's console", request=request, raw=raw)


READER = Reader(Form.EXCHANGE, _finds, _read)
