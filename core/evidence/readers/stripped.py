"""Text of a harmony model whose control tokens were taken out: the names of its channels stay, glued to their words.

    analysisThe user asks for … .assistantfinalFour.

Such a text is the content of a message: no model writes it, and no server that reads harmony returns it.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import ChatResult
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader

_BEGINS = re.compile(r"\s*+(?:analysis|commentary)(?=[A-Z\"'*])|\s*+commentary to=functions\.[\w-]{1,64} ?json\{")
_GOES_ON = re.compile(r"assistant(?:final|commentary|analysis)(?=\S| to=)")


def _finds(paste: Paste) -> float:
    begins = _BEGINS.match(paste.text)
    is_call = begins is not None and begins[0].endswith("{")
    return 0.7 if is_call or (begins is not None and _GOES_ON.search(paste.text) is not None) else 0.0


def _read(paste: Paste) -> Evidence:
    chat = ChatResult({"role": "assistant", "content": paste.text.strip()}, None)
    note = "The text was read as the content of a message: it contains names of channels, but no control token."
    return Evidence(Form.ANSWER, "the content of a message", chat=chat, notes=(note,))


READER = Reader(Form.ANSWER, _finds, _read)
