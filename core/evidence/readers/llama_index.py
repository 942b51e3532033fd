"""Completions as LlamaIndex prints them: one, or the pieces of a stream, each with the text so far.

    CompletionResponse(text='<tool_call>…', additional_kwargs={}, raw={…}, logprobs=None, delta=None)
    [CompletionResponse(text='<tool', …, delta='<tool'), CompletionResponse(text='<tool_call>', …, delta='_call>')]

`complete` sends no tools, so the text is an output, and no message that a server should have parsed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.evidence.evidence import Evidence, output_alone
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import is_script
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.values.python_repr import CUT, printed_objects

_CLASS = "CompletionResponse("
_START = re.compile(r"(?<![\w.'\"])CompletionResponse\((?=text=['\"])")
_RAW = ", raw=ChatCompletion"  # of the server, which says more
_FIELDS = {"additional_kwargs", "delta"}
_MAX_CHARS = 2_000_000


def _finds(paste: Paste) -> float:
    if paste.value is not None or _CLASS not in paste.text or _RAW in paste.text or is_script(paste.text):
        return 0.0
    return 0.93 if _output(paste.text) else 0.0


def _read(paste: Paste) -> Evidence:
    output = _output(paste.text)
    if not output:
        raise RequestError("The printed completion has no text.", "Paste everything that was printed.")
    return output_alone(output)


@lru_cache(maxsize=4)
def _output(text: str) -> str:
    """Return the text of the completion that is printed, "" if there is none or it is cut."""
    if len(text) > _MAX_CHARS:
        return ""
    values = list(printed_objects(text, _START))
    if not values or any(CUT in value or not value.keys() >= _FIELDS for value in values):
        return ""
    pieces = [value.get("delta") for value in values]
    joined = "".join(piece for piece in pieces if isinstance(piece, str))
    return max(joined, _text(values[-1]), key=len)


def _text(value: JSONObject) -> str:
    text = value.get("text")
    return text if isinstance(text, str) else ""


READER = Reader(Form.OUTPUT, _finds, _read)
