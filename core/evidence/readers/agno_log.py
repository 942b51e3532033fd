"""The debug log of an Agno agent: its messages, one below the other, each under a rule with its role.

    DEBUG ==================== system ====================
    DEBUG You are an agent.
    DEBUG ===================== user =====================
    DEBUG What is the weather?
    DEBUG =================== assistant ==================
    DEBUG <tool_call>
          {"name": …
    DEBUG *******************  METRICS  ******************

What the last assistant message says is the answer, the messages before it are the request. A message whose calls Agno
lists (`Tool Calls:`) was parsed: it is not read, as the list leaves out how the arguments were written.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer
from prompt_debugger.core.request import body_text, read_request

_MAX_CHARS = 400_000
_ROLE = re.compile(r"(?m)^DEBUG {1,8}={5,120} (system|developer|user|assistant|tool) ={5,120}[ \t]*$")
_END = re.compile(
    r"(?m)^DEBUG {1,8}(?:\*{4,120} .{1,80}\*{3,120}|-{4,120} .{1,120}-{3,120}|={5,120} ?\w{0,20} ?={5,120})"
)
_HEAD = re.compile(r"(?m)^DEBUG {1,8}")
_MARGIN = re.compile(r"(?m)^ {6,14}")
_CALLS = re.compile(r"(?m)^(?:DEBUG)?[ ]{1,14}Tool Calls:")


def _finds(paste: Paste) -> float:
    if paste.value is not None or "DEBUG" not in paste.text or len(paste.text) > _MAX_CHARS:
        return 0.0
    turns = _turns(paste.text)
    return 0.92 if turns and turns[-1][0] == "assistant" and turns[-1][1] else 0.0


def _turns(text: str) -> list[tuple[str, str]]:
    """Return role and text of each message; none where one is listed with its calls."""
    found: list[tuple[str, str]] = []
    heads = list(_ROLE.finditer(text))
    for number, head in enumerate(heads):
        stop = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        end = _END.search(text, head.end(), stop)
        body = text[head.end() : stop if end is None else end.start()]
        if _CALLS.search(body) is not None:
            return []
        found.append((head[1], _MARGIN.sub("", _HEAD.sub("", body)).strip("\n")))
    return found


def _read(paste: Paste) -> Evidence:
    turns = _turns(paste.text)
    if not turns or turns[-1][0] != "assistant":
        raise RequestError("The log ends without an answer.", "Paste it up to the end of the run.")
    messages: list[JSON] = [{"role": role, "content": text} for role, text in turns[:-1]]
    note = "Agno's log shows messages alone: tools and settings of the request are not in it."
    evidence = Evidence(Form.EXCHANGE, "a debug log of an Agno agent", notes=(note,))
    evidence = add_answer(evidence, read_answer({"role": "assistant", "content": turns[-1][1]}))
    if not messages:
        return evidence
    return replace(evidence, request=read_request(body_text({"messages": messages})))


READER = Reader(Form.EXCHANGE, _finds, _read)
