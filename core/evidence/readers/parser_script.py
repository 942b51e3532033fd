"""A script that gives an output to a parser of vLLM or SGLang by hand, as reports to their trackers do.

    output = '<tool_call>…</tool_call>'
    parser.extract_tool_calls(output, request)

    In [1]: parser.extract_tool_calls('<tool_call>…</tool_call>', request)
    Out[1]: ExtractedToolCallInformation(tools_called=False, tool_calls=[], content='…')      vLLM
    In [2]: FunctionCallParser(tools, "qwen25").parse_non_stream("<tool_call>…")
    Out[2]: ('<tool_call>…', [])                                                      SGLang

The text that the parser is given is the raw output, and what is printed below it is the message that the parser made;
the script is read, never run.
"""

from __future__ import annotations

import ast
import re
import warnings
from itertools import islice

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Server
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.commands.flags import server_of
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.reports.mentions import parsers_in_sources
from prompt_debugger.core.evidence.values.printed_objects import answer_of, class_of
from prompt_debugger.core.evidence.values.python_repr import read_printed

_MAX_CHARS = 40_000
_METHODS = (
    "extract_tool_calls",
    "extract_tool_calls_streaming",
    "detect_and_parse",
    "parse_streaming_increment",
    "parse_non_stream",
    "parse_tool_call",
)
_OF_STREAMS = ("extract_tool_calls_streaming", "parse_streaming_increment")
_TYPED = re.compile(r"(?m)^(?:>>>|\.\.\.|In \[\d{1,4}\]:|   \.\.\.:) ?(?P<code>.*)$")
_PRINTED = re.compile(
    r"(?m)^(?:Out\[\d{1,4}\]:|#)?[ \t]{0,8}(?=ExtractedToolCallInformation\(|StreamingParseResult\(|\(['\"])"
)
_CHOSEN = re.compile(r"\b(?:FunctionCallParser\([^()\n]{0,80}|get_tool_parser\()[\"']([a-z][\w.-]{1,40})[\"']\)")
_MAX_PRINTED = 20  # values that are tried
_CALL = re.compile(rf"\b(?:{'|'.join(_METHODS)})\(")
NOTE = "The raw output is the text that the script gives to a parser; what the parser made of it is not read."


def _finds(paste: Paste) -> float:
    return 0.9 if paste.value is None and _output(paste.text) is not None else 0.0


def _output(text: str) -> str | None:
    """Return the literal text that a script gives to a parser; `None` where there is none."""
    if len(text) > _MAX_CHARS or _CALL.search(text) is None:
        return None
    typed = [found["code"] for found in _TYPED.finditer(text)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse("\n".join(typed) if typed else text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    texts: dict[str, str] = {}
    given: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and (value := _literal(node.value)) is not None:
            texts |= {target.id: value for target in node.targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            named = (one.value for one in node.keywords if one.arg in ("model_output", "text"))
            given += [*node.args[:1], *named][:1]
    known = (_literal(one) or (texts.get(one.id) if isinstance(one, ast.Name) else None) for one in given)
    return next((one for one in known if one and one.strip()), None)


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _made_of_it(text: str) -> JSONObject | None:
    """Return the message that a parser made, as it is printed below the one place where a script calls it."""
    calls = [*_CALL.finditer(text)]
    if len(calls) != 1 or any(calls[0][0].startswith(name) for name in _OF_STREAMS):
        return None
    for found in islice(_PRINTED.finditer(text, _line_after(text, calls[0].end())), _MAX_PRINTED):
        read = read_printed(text, found.end())
        if read is not None and not read.is_cut and (message := _message(read.value)) is not None:
            return message
    return None


def _line_after(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _message(value: JSON) -> JSONObject | None:
    """Return the message of a printed result; `None` if a value is not one."""
    if isinstance(value, list):
        text, made = value if len(value) == 2 else (None, None)
    elif class_of(value) == "StreamingParseResult":
        text, made = as_object(value).get("normal_text"), as_object(value).get("calls")
    else:
        answer = answer_of(value) if class_of(value) == "ExtractedToolCallInformation" else None
        chat = None if answer is None else read_answer(answer).chat
        return None if chat is None else chat.message
    items = objects_in(made)
    if not isinstance(text, str | None) or not isinstance(made, list) or len(items) < len(made):
        return None
    calls: list[JSON] = []
    for item in items:
        function: JSONObject = {"name": item.get("name"), "arguments": item.get("parameters")}
        calls.append({"id": UNKNOWN_ID, "type": "function", "function": function})
    return {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def _parser_of(text: str) -> Server | None:
    """Return the engine and the parser that a script runs, where it names exactly one parser."""
    named = {found[1] for found in _CHOSEN.finditer(text)} or {*parsers_in_sources(text)}
    method = _CALL.search(text)
    if len(named) != 1 or method is None:
        return None
    kind = "vllm" if method[0].startswith("extract") else "sglang"
    return server_of(kind, {"tool_call_parser": named.pop()}, is_whole=False).server


def _read(paste: Paste) -> Evidence:
    raw, message, server = _output(paste.text) or "", _made_of_it(paste.text), _parser_of(paste.text)
    words = f"a script with a raw output of {len(raw):,} characters"
    if message is None or server is None:
        return Evidence(Form.OUTPUT, words, raw=raw, notes=(NOTE,))
    words += ", and what a parser made of it"
    return Evidence(Form.OUTPUT, words, raw=raw, chat=ChatResult(message, None), server=server)


READER = Reader(Form.OUTPUT, _finds, _read)
