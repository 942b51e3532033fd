"""Raw outputs in notations of plain words, which no tag tells from prose: where such a call begins a line.

    [Calling tool: get_weather({"city": "Oslo"})]      [Calling tool="get_weather" city="Oslo"]
    invoke name="get_weather">                         with the brackets of its tags lost
    ```tool_code                                       Thought: …
    get_weather(city="Oslo")                           Action: click(start_box='…')

Also JSON or a list with the token after it that ends a turn.
"""

from __future__ import annotations

import re

from prompt_debugger.core.evidence.evidence import Evidence, output_alone
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader

_CALL = re.compile(
    r"(?m)^(?:\[(?:Call(?:ing|ed) (?:tool|function)|Tool[ _](?:[Uu]se|[Cc]all)|Function[ _][Cc]all)(?:: \w|=\")"
    r"|[ \t]{0,8}invoke name=\"[^\">\n]{1,256}\">\s{0,8}(?:parameter name=\"|(?:</?)?invoke>)"
    r"|```tool_code$|Action: ?\n?```json\n\s{0,8}\[\s{0,8}\{\s{0,12}\"tool_name\""
    r"|Thought: [^\n]{0,2000}\n(?:[^\n]{0,2000}\n){0,20}?Action: \w+\()"
)
_END = re.compile(r"[}\])]\s*+(?:</s>|<\|[a-z_]{3,30}\|>|<end_of_turn>|<eos>)\s*+\Z")
_CODE = re.compile(r"(?m)^[ \t]*(?:from [\w.]+ import |client\b)|\.create\(|^```(?!tool_code|json)\w")
_TAIL = 200


def _finds(paste: Paste) -> float:
    text = paste.text
    if paste.value is not None or _CODE.search(text[:20_000]):
        return 0.0
    if _CALL.search(text[:20_000]):
        return 0.6
    return 0.6 if text.lstrip()[:1] in ("[", "{") and _END.search(text[-_TAIL:]) else 0.0


def _read(paste: Paste) -> Evidence:
    return output_alone(paste.text)


READER = Reader(Form.OUTPUT, _finds, _read)
