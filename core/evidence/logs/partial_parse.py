r"""Lines in which llama.cpp logs how it reads half an output while it streams: neither errors nor an answer.

Failed to parse up to error: [json.exception.parse_error.101] … <<<{"name": "f", "argu>>>
Parsed partial JSON: {…} (json_healing_marker: "27872)
Cleaned up JSON {…} to {…}
Partial parse: incomplete tool call
Parsed message: {"role":"assistant","content":null,"tool_calls":[…]}
"""

from __future__ import annotations

import re

_PROGRESS = re.compile(
    r"(?m)^[^\n]{0,80}(?:Failed to parse up to error: |Parsed partial JSON: |Cleaned up JSON )[^\n]*\n?"
)
_MESSAGE = re.compile(r"(?m)^([^\n]{0,80}\bPartial parse: [^\n]*\n)[^\n]{0,80}\bParsed message: \{[^\n]*\n?")


def drop_progress(text: str) -> str:
    """Return a log without what was read of an output that was still being written."""
    if "Partial parse: " not in text:
        return text
    return _MESSAGE.sub(r"\1", _PROGRESS.sub("", text))
