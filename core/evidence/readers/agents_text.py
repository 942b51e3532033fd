"""An answer's text alone, with a call in a form that agent frameworks read from it: ReAct, JSON with their own keys.

    Thought: I have to look that up.              {"function": "search", "arguments": {"query": "news"}}
    Action: search
    Action Input: {"query": "news"}

It is the text of an answer, not a raw output: a server returned it as it is.
"""

from __future__ import annotations

from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from prompt_debugger.core.diagnose.calls.written_calls import READ_AS_CONTENT
from prompt_debugger.core.evidence.evidence import Evidence, content_alone
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.transcripts import is_agents_log
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.values.json_fragment import ends_an_answer

_MAX_CHARS = 20_000
_FORMS = (Notation.REACT, Notation.AGENTS, Notation.WRAPPED, Notation.PRINTED)
_SIGNS = ("Action", "Calling tool", " (to ")


def _finds(paste: Paste) -> float:
    text = paste.text
    if len(text) > _MAX_CHARS or not (text.lstrip().startswith("{") or any(sign in text for sign in _SIGNS)):
        return 0.0
    found = None if ends_an_answer(text) or is_agents_log(text) else find_client_call(text)
    if found is None or (found.notation is Notation.PRINTED and text.lstrip().startswith(("{", "["))):
        return 0.0  # which is a call, and no text with one
    return 0.5 if found.notation in _FORMS else 0.0


def _read(paste: Paste) -> Evidence:
    return content_alone(paste.text.strip(), READ_AS_CONTENT)


READER = Reader(Form.ANSWER, _finds, _read)
