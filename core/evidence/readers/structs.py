r"""A message of the assistant as programs in Go and Ruby print their structs: `%+v`, `%#v`, `inspect`.

    openai.ChatCompletionMessage{Role:"assistant", Content:"", ToolCalls:[]openai.ToolCall{openai.ToolCall{ID:"c", …}}}
    {Role:assistant Content:… ToolCalls:[{Index:<nil> ID:c Type:function Function:{Name:f Arguments:{"a":1}}}]}
    {Role:assistant … ToolCalls:[{ID: Function:{Index:0 Name:f Arguments:{"a":1}}}] …}     Ollama's; its tools are JSON
    #<RubyLLM::Message:0x0001 @content="…", @role=:assistant, @tool_calls=nil>

Of `%+v`, which puts no quotation marks around texts, only the calls are read, as their arguments show where they end.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import is_script
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.python_repr import read_printed

_MAX_CHARS = 200_000
_TEXT = r"\"(?:[^\"\\]|\\.)*+\""
_GO = re.compile(rf"\bRole: ?\"assistant\", Content: ?(?P<content>{_TEXT})")
_GO_CALLS = re.compile(r"\bToolCalls:(?:\(?\[\][\w.]{1,60}\)?)?(?P<none>\(nil\)|\[\]|nil)?")
_GO_CALL = re.compile(
    rf"\bID:(?P<id>{_TEXT}), Type:\"function\", Function:[\w.]{{0,60}}\{{Name:(?P<name>{_TEXT}), "
    rf"Arguments:(?P<arguments>{_TEXT})\}}"
)
_PLAIN_CALL = re.compile(
    r"\bID:(?P<id>[\w.-]{0,100}) (?:Type:function )?Function:\{(?:Index:\d{1,4} )?Name:(?P<name>[\w.:/-]{0,100}) "
    r"Arguments:(?=\{)"
)
_TOOLS = re.compile(r"\bTools:(?=\[\{\"type\":\"function\")")
_RUBY = re.compile(r"#<[\w:]{1,60}Message(?::0x[0-9a-f]{4,20})?\s{1,4}@content=(?:(?P<content>" + _TEXT + r")|nil),")
_RUBY_HEAD = re.compile(r"@role=:assistant\b")
_RUBY_NONE = re.compile(r"@tool_calls=(?:nil|\{\})")
_LAST_END = "}}}]"  # of the arguments, unless they broke off, the function, the call and the list
_SIGNS = ("ToolCalls:", "@tool_calls=")


def _finds(paste: Paste) -> float:
    text = paste.text
    if paste.value is not None or len(text) > _MAX_CHARS or not any(sign in text for sign in _SIGNS):
        return 0.0
    return 0.0 if is_script(text) or _message(text) is None else 0.92


def _read(paste: Paste) -> Evidence:
    message = _message(paste.text)
    if message is None:
        raise RequestError("The printed message is cut.", "Paste everything that was printed.")
    return Evidence(Form.OBJECT, "a printed message", chat=ChatResult(message, None), tools=_tools(paste.text))


def _tools(text: str) -> tuple[JSONObject, ...]:
    """Return the tools of a request that Go printed above the message: those of Ollama print themselves as JSON."""
    found = _TOOLS.search(text)
    read = None if found is None else read_printed(text, found.end())
    return () if read is None or read.is_cut else tuple(tool for tool in objects_in(read.value) if "function" in tool)


def _message(text: str) -> JSONObject | None:
    return _gos(text) if "ToolCalls:" in text else _rubys(text)


def _gos(text: str) -> JSONObject | None:
    """Return the last message that Go printed; `None` where it is cut, or says neither a text nor a call."""
    heads = list(_GO.finditer(text))
    start = heads[-1].start() if heads else 0
    held = _GO_CALLS.search(text, start)
    if held is None:
        return None
    calls = [
        call_of(_decoded(one["name"]), _decoded(one["arguments"]), _decoded(one["id"]) or UNKNOWN_ID)
        for one in _GO_CALL.finditer(text, held.end())
    ]
    plain = _plain_calls(text, held.end()) if not heads and not calls else []
    content = _decoded(heads[-1]["content"]) if heads else ""
    is_known = bool(calls or plain) or (bool(content) and held["none"] is not None)
    return assistant_of(content or None, [*calls, *plain]) if is_known else None


def _plain_calls(text: str, at: int) -> list[JSONObject]:
    calls: list[JSONObject] = []
    for found in _PLAIN_CALL.finditer(text, at):
        read = read_printed(text, found.end())
        stop = -1 if read is None or read.is_cut else read.stop
        if not text.startswith("}", max(stop, 0)):  # the end of the function, or else of the last call
            stop = text.find(_LAST_END, found.end()) + 1 or text.find(_LAST_END[1:], found.end())
        if stop <= 0 or _PLAIN_CALL.search(text, found.end(), stop) is not None:
            return []  # of arguments that broke off before another call the end is not known
        calls.append(call_of(found["name"], text[found.end() : stop], found["id"] or UNKNOWN_ID))
    return calls


def _rubys(text: str) -> JSONObject | None:
    """Return the last message that Ruby printed, if it has a text and no calls."""
    last = list(_RUBY.finditer(text))[-1:]
    if not last or last[0]["content"] is None:
        return None
    rest = text[last[0].end() :].split("#<", 1)[0]
    is_its = _RUBY_HEAD.search(rest) is not None and _RUBY_NONE.search(rest) is not None
    return assistant_of(_decoded(last[0]["content"]), []) if is_its else None


def _decoded(quoted: str) -> str:
    """Return a text that Go or Ruby printed; what is no escape of JSON is left as it is."""
    value = json_of(quoted.replace("\\e", "\\u001b").replace("\\#", "#"))
    return value if isinstance(value, str) else quoted[1:-1]


READER = Reader(Form.OBJECT, _finds, _read)
