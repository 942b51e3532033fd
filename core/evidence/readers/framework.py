"""Conversations and answers as agent frameworks hold, dump and print them: the last answer, and what came before.

    [{"role": "user", …}, {"type": "function_call", …}]        items of the Responses API, as its SDK keeps them
    {'messages': [HumanMessage(content='Hi', …), AIMessage(content='', tool_calls=[…]), ToolMessage(…)]}
    [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [{"type": "tool-call", …}]}]
    AIMessage {                          { text: '', toolCalls: [], finishReason: 'stop' }     as JavaScript prints
      "content": "", …                   CreateResult(finish_reason='function_calls', content=[FunctionCall(…)])
    ChatResponse [… toolCalls=[ToolCall[id=a, type=function, name=f, arguments={}]] …]         Spring AI

Which objects there are is in `core.evidence.values.framework_messages`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from prompt_debugger.core.base.comparable import REQUEST_GAP
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import has_any, line_end
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import is_script
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import CUT_NOTE, forget_end
from prompt_debugger.core.evidence.values.chat_messages import assistant_of, call_of
from prompt_debugger.core.evidence.values.dotnet_messages import end_of_dotnet
from prompt_debugger.core.evidence.values.framework_messages import (
    CLASSES,
    REASONS,
    autogens_answer,
    autogens_event,
    is_of_framework,
    messages_of,
)
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, lenient_json_of
from prompt_debugger.core.evidence.values.printed_classes import LANGCHAIN
from prompt_debugger.core.evidence.values.printed_objects import class_of
from prompt_debugger.core.evidence.values.python_repr import (
    CLASS,
    CUT,
    plain,
    printed_objects,
    read_fields,
    read_printed,
)
from prompt_debugger.core.request import body_text, read_request

_NAMES = sorted((*CLASSES, "CreateResult", "AgentOutput"), key=len, reverse=True)
_CALLS = tuple(f"{name}(" for name in _NAMES)
_START = re.compile(rf"(?<![\w.'\"])(?:{'|'.join(_NAMES)})\((?=\s*+[a-z_]\w*+=)")
_OF_COMPLETION = re.compile(r"\bmessage=AssistantMessage\(")
_RAW_CHUNK = ", raw=ChatCompletionChunk("
_JS_CLASS = re.compile(r"\b((?:Human|AI|System|Tool)Message(?:Chunk)?) \{")
_JS_RESULT = re.compile(r"\btoolCalls['\"]?: ?\[")
_SPRING = re.compile(r"\bToolCall\[id=(?P<id>[^,\]]{0,200}), type=\w{1,20}, name=(?P<name>[^,\]]{0,200}), arguments=")
_SIGNS = ("ToolCall[", "Message {", "MessageChunk {", "toolCalls")  # of Spring and JavaScript
_SPRING_TEXT = "textContent="
_AUTOGEN = re.compile(r"(?m)^(?:id='[^']{0,60}' )?source='[^'\n]{1,80}' models_usage=")
_ITEMS = ("function_call", "function_call_output", "reasoning", "message")
_MAX_JOINED = 50  # objects of one call
_MAX_MESSAGES = 5_000
_MAX_CHARS = 2_000_000


def _finds(paste: Paste) -> float:
    text = paste.text
    value = _value_of(paste)
    if value is not None:
        is_known = bool(_values_of(value)) or _vercels(value) is not None or _are_items(value)
        return 0.85 if is_known else 0.0  # less than a session's export, which has its own reader
    if len(text) > _MAX_CHARS or is_script(text):
        return 0.0
    if has_any(text, _CALLS) and _START.search(text) is not None:
        # Mistral's `AssistantMessage` is a part of its completion, and LlamaIndex's events hold the server's chunks.
        if _OF_COMPLETION.search(text) is not None or _RAW_CHUNK in text:
            return 0.0
        names = [class_of(value) for value in printed_objects(text, _START)]
        is_other = any(name not in LANGCHAIN for name in names) or names.count("AIMessage") > 1
        return 0.93 if is_other else 0.0
    if "models_usage=" in text and _AUTOGEN.search(text) is not None:
        return 0.93 if _events(text) else 0.0
    has_sign = has_any(text, _SIGNS) and any(sign.search(text) for sign in (_SPRING, _JS_CLASS, _JS_RESULT))
    return 0.93 if has_sign and _read_other(text) is not None else _read_lines(text)


def _read_lines(text: str) -> float:
    lines = [json_of(line) for line in json_lines(text)]
    return 0.93 if lines and all(map(_is_message, lines)) and any(map(is_of_framework, lines)) else 0.0


def _value_of(paste: Paste) -> JSON:
    """Return the value of a text that is JSON, or dicts as Python prints them; else `None`."""
    if paste.value is not None or not paste.text.lstrip().startswith(("[{'", "{'")) or len(paste.text) > _MAX_CHARS:
        return paste.value
    if _START.search(paste.text) is not None:
        return None  # objects with their classes, which say more
    read = read_printed(paste.text.strip())
    return None if read is None or read.is_cut or read.stop < len(paste.text.strip()) else plain(read.value)


def _are_items(value: JSON) -> bool:
    """Return whether a value is a list of items of the Responses API, calls or results among them."""
    items = [as_object(one) for one in value] if isinstance(value, list) else []
    kinds = [one.get("type") for one in items]
    is_known = all("role" in one or kind in _ITEMS for one, kind in zip(items, kinds, strict=True))
    return is_known and len(items) > 1 and any(kind in ("function_call", "function_call_output") for kind in kinds)


def _read_items(value: JSON) -> Evidence:
    request = read_request(body_text({"input": value}))
    return Evidence(Form.REQUEST, "the items of a conversation", request=request)


def _is_message(value: JSON) -> bool:
    return is_of_framework(value) or (
        isinstance(value, dict) and "role" in value and bool({"content", "parts"} & value.keys())
    )


def _values_of(value: JSON) -> list[JSON]:
    """Return the messages of a JSON value that are held in a framework's form; none of any other."""
    held = value.get("messages", value.get("input")) if isinstance(value, dict) else value
    if not isinstance(held, list):
        held = [value] if is_of_framework(value) else []
    return held if held and all(map(_is_message, held)) and any(map(is_of_framework, held)) else []


def _read(paste: Paste) -> Evidence:
    value = _value_of(paste)
    if _are_items(value):
        return _read_items(value)
    if value is not None:
        tools = _bedrocks_tools(as_object(value))
        answer = None if _values_of(value) else _vercels(value)
        return _read_answer(answer) if answer is not None else _conversation(_values_of(value), tools)
    if _START.search(paste.text) is not None:
        return _read_printed(list(printed_objects(paste.text, _START)))
    if events := _events(paste.text):
        return of_messages(events)
    other = _read_other(paste.text)
    if other is not None:
        return other
    return _conversation([json_of(line) for line in json_lines(paste.text)], [])


def _read_printed(values: list[JSONObject]) -> Evidence:
    whole = [value for value in values if CUT not in value]
    if whole and _has_whole_text(values[-1]):
        kept: JSONObject = {name: item for name, item in values[-1].items() if name != CUT}
        evidence = _conversation(list(_of_last_state([*whole, kept])), [])
        return forget_end(replace(evidence, notes=(*evidence.notes, CUT_NOTE)))
    if not whole:
        raise RequestError("The first of the printed messages is cut.", "Paste everything that was printed.")
    last = whole[-1]
    if class_of(last) == "CreateResult":
        reason = REASONS.get(str(last.get("finish_reason")), None)
        return _read_answer(ChatResult(autogens_answer(last.get("content")), reason))
    if class_of(last) == "AgentOutput":
        whole = [as_object(last.get("response"))]
    evidence = _conversation(list(_of_last_state(whole)), [])
    note = CUT_NOTE.replace("inside the answer", "inside a message")
    return (
        evidence
        if len(whole) == len(values)
        else Evidence(evidence.form, evidence.words, request=evidence.request, notes=(note,))
    )


def _has_whole_text(value: JSONObject) -> bool:
    """Return whether a model's message is cut after its content, and that has a text: in it a call may be found."""
    content = value.get("content")
    return CUT in value and class_of(value) == "AIMessage" and isinstance(content, str) and bool(content.strip())


def _of_last_state(values: list[JSONObject]) -> list[JSONObject]:
    """Return the messages of the last state of a graph, where a text prints several: each repeats the first's id."""
    ids = [value.get("id") for value in values]
    first = ids[0]
    return values[len(ids) - 1 - ids[::-1].index(first) :] if isinstance(first, str) and first else values


def _events(text: str) -> list[JSONObject]:
    """Return the messages of the events of AutoGen that a text prints, one per line."""
    starts = [found.start() for found in islice(_AUTOGEN.finditer(text), _MAX_MESSAGES)]
    lines = [text[start : line_end(text, start)] for start in starts]
    read = [read_fields(line) for line in lines]
    return [
        one
        for found in read
        if found is not None and not found.is_cut
        for one in autogens_event(as_object(found.value))
    ]


def _conversation(values: list[JSON], tools: list[JSON]) -> Evidence:
    """Return the evidence of a framework's messages.

    Raises:
        RequestError: Nothing in it can be read.
    """
    messages = [message for value in values for message in (messages_of(value) or _plain_message(value))]
    if not messages:
        raise RequestError("The messages could not be read.", "Paste them whole, as they were printed.")
    return of_messages(messages, tools, _reason(as_object(values[-1])))


def of_messages(messages: list[JSONObject], tools: Sequence[JSON] = (), reason: str | None = None) -> Evidence:
    """Return the evidence of messages in order: the last one is the answer, if the model wrote it."""
    is_answer = messages[-1].get("role") == "assistant"
    sent = messages[:-1] if is_answer else messages
    body: JSONObject = {"messages": list(sent), **({"tools": list(tools)} if tools else {})}
    request = read_request(body_text(body)) if sent else None
    chat = ChatResult(messages[-1], reason) if is_answer else None
    form = Form.EXCHANGE if request is not None and chat is not None else Form.OBJECT
    notes = (REQUEST_GAP,) if messages[0].get("role") == "tool" else ()  # the call that it answers was not copied
    words = f"{counted(len(messages), 'message')} of an agent framework"
    return Evidence(form, words, request=request, chat=chat, notes=notes)


def _plain_message(value: JSON) -> list[JSONObject]:
    read = plain(value)
    return [read] if isinstance(read, dict) and "role" in read else []


def _reason(value: JSONObject) -> str | None:
    """Return the word on how the last answer ended."""
    held = as_object(value.get("kwargs")) or value
    places = (held.get("response_metadata"), held.get("metadata"), held.get("Metadata"), held.get("info"), held)
    found = (
        REASONS.get(str(as_object(place).get(name)).lower())
        for place in places
        for name in ("finish_reason", "stop_reason", "stopReason", "FinishReason", "finish", "finishReason")
    )
    reason = next((one for one in found if one is not None), end_of_dotnet(held))
    done = as_object(held.get("response_metadata")).get("done_reason")  # `stop`, even with calls
    return reason if done is None else "load" if done == "load" else None


def _read_answer(chat: ChatResult) -> Evidence:
    return Evidence(Form.ANSWER, "an answer as an agent framework keeps it", chat=chat)


def _vercels(value: JSON) -> ChatResult | None:
    """Return the result of `generateText`; `None` of anything else."""
    held = as_object(value)
    if not isinstance(held.get("toolCalls"), list) or not {"finishReason", "text"} & held.keys():
        return None
    listed = [as_object(call) for call in held["toolCalls"]]  # type: ignore[union-attr]  # a list, by the line above
    calls = [call_of(one.get("toolName"), one.get("input", one.get("args")), one.get("toolCallId")) for one in listed]
    text = held.get("text")
    message = assistant_of(text if isinstance(text, str) and text else None, calls)
    return ChatResult(message, REASONS.get(str(held.get("finishReason"))))


def _bedrocks_tools(value: JSONObject) -> list[JSON]:
    """Return the tools of a request to Converse as tools of chat completions."""
    listed = as_object(value.get("toolConfig")).get("tools")
    specs = [as_object(as_object(one).get("toolSpec")) for one in (listed if isinstance(listed, list) else [])]
    return [
        {
            "type": "function",
            "function": {
                "name": spec.get("name"),
                "description": spec.get("description") or "",
                "parameters": as_object(spec.get("inputSchema")).get("json") or {},
            },
        }
        for spec in specs
        if spec
    ]


def _read_other(text: str) -> Evidence | None:
    """Return what JavaScript or Java printed; `None` of any other text."""
    if _SPRING.search(text) is not None:
        return _read_answer(_springs(text))
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    named = _JS_CLASS.search(text)
    begins = text[: start if named is None else min(start, named.start())].strip()
    if start < 0 or len(begins) > _MAX_BEFORE:
        return None
    written = _JS_CLASS.sub(rf'{{ "{CLASS}": "\1",', text[len(text) - len(text.lstrip()) :][len(begins) :])
    found = lenient_json_of(written.replace("[Object]", "null").strip())
    value = None if found is None else found[0]
    answer = _vercels(value)
    if answer is not None:
        return _read_answer(answer)
    held = _values_of(value)
    return _conversation(held, []) if held else None


_MAX_BEFORE = 60  # characters of a label before what was printed


def _springs(text: str) -> ChatResult:
    calls = [call_of(found["name"], _json_at(text, found.end()), found["id"]) for found in _SPRING.finditer(text)]
    _, _, after = text.partition(_SPRING_TEXT)
    shown = after.partition(", metadata=")[0]
    content = shown if shown not in ("", "null") else None
    return ChatResult(assistant_of(content, calls), None)


def _json_at(text: str, at: int) -> str:
    """Return the JSON object that begins at a position, or several end to end, or else the text up to a bracket."""
    stop = at
    for _ in range(_MAX_JOINED):
        if not text.startswith("{", stop) or (read := read_printed(text, stop)) is None:
            break
        stop = read.stop
    return text[at:stop] if stop > at else text[at : max(at, text.find("]", at))]


READER = Reader(Form.OBJECT, _finds, _read)
