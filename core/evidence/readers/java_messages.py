"""The last message of a model as frameworks of Java log and print it.

    response: {"result" : {"output" : {"messageType" : "ASSISTANT", "toolCalls" : [ ], "text" : "…"}, …}}    Spring AI
    AssistantMessage [messageType=ASSISTANT, toolCalls=[], textContent=…, metadata={…}]                      Spring AI
    AiMessage { text = null toolExecutionRequests = [ToolExecutionRequest { id = "a", name = "f", arguments = "{}" }] }
    About to execute ToolExecutionRequest { id = "a", name = "f", arguments = "{}" }

The last two are LangChain4j's, which puts no escapes into what it prints. Spring's print of calls is read in
`framework`.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import ChatResult, JSONObject, Refusal
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.unknown import error_by_meaning
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import is_script
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.readers.error import evidence_of_error
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of
from prompt_debugger.core.evidence.values.framework_messages import REASONS

_MAX_CHARS = 400_000
_MAX_AFTER = 2_000  # characters after a message in which the word on its end is
_LOGGED = re.compile(r"\"output\"\s{0,4}:\s{0,4}(?=\{\s{0,12}\"messageType\"\s{0,4}:\s{0,4}\"ASSISTANT\")")
_REASON = re.compile(r"\"finishReason\"\s{0,4}:\s{0,4}\"(\w{1,40})\"")
_PRINTED = re.compile(
    r"AssistantMessage \[messageType=ASSISTANT, toolCalls=\[\], textContent=(?P<text>.{0,20000}?), metadata=\{",
    re.DOTALL,
)
_LANGCHAIN4J = re.compile(
    r"AiMessage \{ text = (?P<text>null|\".{0,20000}?\"),? (?:thinking = (?P<thinking>null|\".{0,20000}?\"),? )?"
    r"toolExecutionRequests = (?P<calls>null|\[(?=\]|ToolExecutionRequest \{))",
    re.DOTALL,
)
_CALL = re.compile(
    r"(?:, )?ToolExecutionRequest \{ id = (?P<id>null|\"[^\"]{0,200}\"), name = \"(?P<name>[^\"]{0,200})\","
    r" arguments = (?P<arguments>null|\".{0,20000}?\") \}",
    re.DOTALL,
)
_THROWN = re.compile(r"(?m)^(?:Caused by: )?(?:[a-z][\w$]{0,40}\.){1,8}[A-Z]\w{1,60}(?:Exception|Error): \S")
_SIGNS = ('"ASSISTANT"', "AssistantMessage [", "AiMessage {", "ToolExecutionRequest { id = ")
_DECODER = json.JSONDecoder()


def _finds(paste: Paste) -> float:
    text = paste.text
    signs = [sign for sign in _SIGNS if sign in text] if len(text) <= _MAX_CHARS else []
    if not signs or is_script(text):
        return 0.0
    if signs == [_SIGNS[-1]] and _error_in(text) is None:
        return 0.0  # a call alone is worth less than an error in other words
    return 0.92 if _last_message(text) is not None else 0.0


def _read(paste: Paste) -> Evidence:
    chat = _last_message(paste.text)
    if chat is None:
        raise RequestError("The printed message is cut.", "Paste everything that was printed.")
    evidence = Evidence(Form.OBJECT, "an answer as a framework of Java prints it", chat=chat)
    error = _error_in(paste.text)
    return evidence if error is None else replace(evidence, error=evidence_of_error(error).error)


def _error_in(text: str) -> Refusal | None:
    """Return the exception that is thrown below a message, in words that are known or whose meaning is."""
    thrown = _THROWN.search(text)
    if thrown is None:
        return None
    found = error_of_text(text[thrown.start() :]) or error_by_meaning(text[thrown.start() :], text)
    return None if found is None else found.refusal


def _last_message(text: str) -> ChatResult | None:
    for sign, read in zip(_SIGNS, (_logged, _printed, _langchain4j, _lone_call), strict=True):
        if sign in text and (found := read(text)) is not None:
            return found
    return None


def _logged(text: str) -> ChatResult | None:
    """Return what Spring's `SimpleLoggerAdvisor` logs as JSON."""
    last = list(_LOGGED.finditer(text))[-1:]
    if not last:
        return None
    try:
        value, stop = _DECODER.raw_decode(text, last[0].end())
    except (ValueError, RecursionError):
        return None
    output = as_object(value)
    listed = output.get("toolCalls")
    calls = [as_object(one) for one in listed] if isinstance(listed, list) else []
    said = output.get("text")
    reason = _REASON.search(text, stop, stop + _MAX_AFTER)
    made = [call_of(one.get("name"), one.get("arguments"), one.get("id") or UNKNOWN_ID) for one in calls]
    message = assistant_of(said if isinstance(said, str) and said else None, made)
    return _result(message, None if reason is None else reason[1])


def _printed(text: str) -> ChatResult | None:
    """Return what Spring prints of a message without calls."""
    last = list(_PRINTED.finditer(text))[-1:]
    shown = last[0]["text"] if last else "null"
    return None if shown in ("", "null") else _result(assistant_of(shown, []), None)


def _langchain4j(text: str) -> ChatResult | None:
    last = list(_LANGCHAIN4J.finditer(text))[-1:]
    if not last:
        return None
    at, calls = last[0].end(), []
    while (found := _CALL.match(text, at)) is not None:
        calls.append(call_of(found["name"], _unquoted(found["arguments"]) or "", _unquoted(found["id"]) or UNKNOWN_ID))
        at = found.end()
    if last[0]["calls"] != "null" and not text.startswith("]", at):
        return None  # it is cut within a call
    said = _unquoted(last[0]["text"])
    return None if said is None and not calls else _result(assistant_of(said, calls), None)


def _lone_call(text: str) -> ChatResult | None:
    """Return the last call that LangChain4j logs before it runs it."""
    found = _CALL.match(text, text.rfind(_SIGNS[-1]))
    if found is None or "AiMessage {" in text:
        return None
    call = call_of(found["name"], _unquoted(found["arguments"]) or "", _unquoted(found["id"]) or UNKNOWN_ID)
    return _result(assistant_of(None, [call]), None)


def _unquoted(shown: str) -> str | None:
    return None if shown == "null" else shown[1:-1]


def _result(message: JSONObject, reason: str | None) -> ChatResult:
    return ChatResult(message, None if reason is None else REASONS.get(reason.lower()))


READER = Reader(Form.OBJECT, _finds, _read)
