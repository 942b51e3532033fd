r"""What OpenAI's client for .NET writes of an answer that is an error: status, field and words in paragraphs.

HTTP 400 (invalid_request_error: array_above_max_length)
Parameter: messages[2].tool_calls

Invalid 'messages[2].tool_calls': array too long.
   at OpenAI.Chat.ChatClient.CompleteChat(…)
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.known_errors import as_path

_FORM = re.compile(
    r"\bHTTP (?P<status>[45]\d\d) \((?P<type>[\w.-]{0,80}): ?(?P<code>[\w.-]{0,80})\)[ \t]*\r?\n"
    r"(?:Parameter: (?P<field>[^\s'\"]{1,200})[ \t]*\r?\n)?"
    r"(?:[ \t]*\r?\n){0,3}(?P<words>\S(?:[^\r\n]|\r?\n(?![ \t]{1,8}at |[ \t]{0,8}--- End of|[ \t\r]*\n)){0,4000}+)"
)
# An answer without a body that it could read.
_BARE = re.compile(
    r"ClientResultException: Service request failed\.?\s{1,4}Status: (?P<status>[45]\d\d) \((?P<phrase>[\w -]{1,60})\)"
    r"\s{0,9}(?=at |\Z)"
)


def error_of_dotnet(text: str) -> Refusal | None:
    r"""Return the error that the client prints; `None` if a text contains none.

    >>> error_of_dotnet("HTTP 400 (invalid_request_error: )\nParameter: messages.[2].role\n\nNo such call.").field
    'messages[2].role'
    """
    found = _FORM.search(text)
    if found is None and (bare := _BARE.search(text)) is not None:
        return Refusal(int(bare["status"]), f"Service request failed. Status: {bare['status']} ({bare['phrase']})")
    if found is None or found["words"].lstrip().startswith("at "):
        return None
    words = found["words"].strip()
    # a debugger shows the message of an exception between single quotation marks
    words = words.removesuffix("'") if words.count("'") % 2 else words
    field = as_path(found["field"]) if found["field"] else None
    return Refusal(int(found["status"]), words, field, found["code"] or found["type"] or None)
