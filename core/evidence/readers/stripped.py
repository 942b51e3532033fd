"""Text of a harmony model whose control tokens were taken out: the names of its channels stay, glued to their words.

    analysisThe user asks for … .assistantfinalFour.

Such a text is the content of a message: no model writes it, and no server that reads harmony returns it.
"""

from __future__ import annotations

import re

from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from prompt_debugger.core.diagnose.calls.written_calls import READ_AS_CONTENT
from prompt_debugger.core.evidence.evidence import Evidence, content_alone
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.transcripts import is_agents_log
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.recognise import MARKER
from prompt_debugger.core.formats import CONTROL_TOKEN

_BEGINS = re.compile(r"\s*+(?:analysis|commentary)(?=[A-Z\"'*])|\s*+commentary to=functions\.[\w-]{1,64} ?json\{")
# A header without control tokens somewhere in the text, a recipient at its beginning, or Gemini's call as Python.
_CALL = re.compile(r"(?:analysis|commentary) ?to=functions\.[\w-]{1,64} ?(?:json|code)?\{")
_WHOLE = re.compile(
    r"\s*+to=functions\.[\w-]{1,64}\b[^\n{}`\"'<]{0,24}\n?[ \t]{0,8}\{|\s*+(?:print\()?default_api\.[\w.]{1,64}\("
    r"|\s*+tool_code\s{0,8}(?:print\s?\()?default_api\.[\w.]{1,64}\("
    r"|\s*+functions\.[\w.-]{1,64}:\d{1,4}\s{0,4}\{[^\n]{0,4000}\}\s*+\Z"
    r"|\s*+call:[A-Za-z_][\w.-]{0,64}\{[^\n]{0,4000}\}\s*+\Z"
)
# A client's own words to the model, which show the form of a call.
_TEACHES = re.compile(
    r"Tool uses are formatted using XML-style tags|# Reminder: Instructions for Tool Use|<tool_name>\s{0,4}<param"
)
_GOES_ON = re.compile(r"assistant(?:final|commentary|analysis)(?=\S| to=)")


def _finds(paste: Paste) -> float:
    if CONTROL_TOKEN.search(paste.text) is not None:
        return 0.0  # something else is below it
    if _TEACHES.search(paste.text) is not None or is_agents_log(paste.text):
        return 0.0
    begins = _BEGINS.match(paste.text)
    is_call = begins is not None and begins[0].endswith("{")
    is_data = paste.text.lstrip().startswith(("{", "[", "}", "]", ","))  # a piece of an answer that contains the call
    if paste.value is None and not is_data and "```" not in paste.text and _has_client_call(paste.text):
        return 0.66
    has_call = _WHOLE.match(paste.text) is not None or _CALL.search(paste.text) is not None
    is_bare = paste.value is None and "```" not in paste.text  # a fence is read without what is around it
    if has_call and is_bare and MARKER.search(paste.text) is None:
        return 0.7
    return 0.7 if is_call or (begins is not None and _GOES_ON.search(paste.text) is not None) else 0.0


def _has_client_call(text: str) -> bool:
    """Return whether a text has a call of a client's notation; a request to an MCP server is most often a log's."""
    call = find_client_call(text)
    return call is not None and call.notation is not Notation.JSON_RPC


def _read(paste: Paste) -> Evidence:
    return content_alone(paste.text.strip(), READ_AS_CONTENT)


READER = Reader(Form.ANSWER, _finds, _read)
