"""Chat completion bodies as bodies of Gemini's generateContent.

Source: https://ai.google.dev/api/generate-content, as of 2026-10.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.request.api_work import ApiWork, data_of_url, limit_of, reasoning_of, text_of_parts

_CONFIG: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "n": "candidateCount",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
_MODES: Mapping[JSON, str] = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
SAME = frozenset({"model", "stream"})


def write_gemini(body: JSONObject, work: ApiWork) -> None:
    """Write the messages, tools and limit of a body; `gemini_option` takes its other fields.

    Gemini: {"systemInstruction": {"parts": [{"text": "…"}]},
             "contents": [{"role": "user", "parts": [{"text": "…"}]},
                          {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                          {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}],
             "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {}}]}],
             "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}, "generationConfig": {"maxOutputTokens": 9}}
    """
    names: dict[str, JSON] = {}
    contents: list[JSON] = []
    system: list[JSON] = []
    for index, message in enumerate(objects_in(body.get("messages"))):
        place, role = f"messages[{index}]", message.get("role")
        work.note_other_fields(message, place)
        if role in ("system", "developer") and not contents:
            system.append({"text": text_of_parts(message.get("content"), f"{place}.content", work)})
        elif role == "tool":
            _add(contents, "user", [_result(message, place, names, work)])
        else:
            if role not in ("user", "assistant"):
                notice = f"Gemini has no role `{str(role)[:40]}` within a conversation: `user` was set."
                work.note_loss(f"{place}.role", notice)
            parts = _parts(message, place, work) + _calls(message, place, names, work)
            _add(contents, "model" if role == "assistant" else "user", parts)
    if system:
        work.body["systemInstruction"] = {"parts": system}
    work.body["contents"] = contents
    if objects_in(body.get("tools")):
        functions = enumerate(as_object(tool.get("function")) for tool in objects_in(body["tools"]))
        declared: list[JSON] = [_declaration(one, f"tools[{at}].function", work) for at, one in functions]
        work.body["tools"] = [{"functionDeclarations": declared}]
    _choice(body.get("tool_choice"), work)
    if body.get("parallel_tool_calls") is False:
        work.note_no_place("parallel_tool_calls", "`parallel_tool_calls: false`")
    if (limit := limit_of(body)) is not None:
        _configure(work, maxOutputTokens=limit)


def gemini_option(name: str, value: JSON, work: ApiWork) -> bool:
    """Take a field besides messages, tools and limits; return whether it has a place."""
    if name in _CONFIG:
        _configure(work, **{_CONFIG[name]: value})
    elif name == "stop" and value:
        _configure(work, stopSequences=[value] if isinstance(value, str) else value)
    elif name == "response_format" and value is not None:
        _format(as_object(value), work)
    else:
        return False
    return True


def _configure(work: ApiWork, **fields: JSON) -> None:
    work.body["generationConfig"] = {**as_object(work.body.get("generationConfig")), **fields}


def _add(contents: list[JSON], role: str, parts: list[JSON]) -> None:
    """Add parts: to the turn at the end, if that only holds results as well."""
    last = as_object(contents[-1]) if contents else {}
    turn = last.get("parts")
    is_result = all("functionResponse" in as_object(part) for part in parts) and bool(parts)
    if is_result and isinstance(turn, list) and all("functionResponse" in as_object(part) for part in turn):
        turn += parts
    else:
        contents.append({"role": role, "parts": parts})


def _parts(message: JSONObject, place: str, work: ApiWork) -> list[JSON]:
    content = message.get("content")
    made: list[JSON] = []
    if reasoning := reasoning_of(message):
        made.append({"text": reasoning, "thought": True})
    if isinstance(content, str) and (content or not (message.get("tool_calls") or reasoning)):
        made.append({"text": content})
    elif content == "":
        work.note_no_place(f"{place}.content", "The empty text next to the calls")
    for index, part in enumerate(objects_in(content)):
        at = f"{place}.content[{index}]"
        url = as_object(part.get("image_url")).get("url")
        if part.get("type") == "text":
            made.append({"text": part.get("text", "")})
        elif isinstance(url, str) and (data := data_of_url(url)) is not None:
            made.append({"inlineData": {"mimeType": data.mime, "data": data.text}})
        elif isinstance(url, str):
            made.append({"fileData": {"fileUri": url}})
        else:
            work.note_no_place(at, f"A part of type `{str(part.get('type'))[:40]}`")
    return made


def _calls(message: JSONObject, place: str, names: dict[str, JSON], work: ApiWork) -> list[JSON]:
    made: list[JSON] = []
    for index, call in enumerate(objects_in(message.get("tool_calls"))):
        function = as_object(call.get("function"))
        names[str(call.get("id"))] = function.get("name")
        arguments = work.arguments(function.get("arguments"), f"{place}.tool_calls[{index}].function.arguments", "args")
        made.append({"functionCall": {"id": call.get("id"), "name": function.get("name"), "args": arguments}})
    return made


def _result(message: JSONObject, place: str, names: Mapping[str, JSON], work: ApiWork) -> JSONObject:
    """Return the result of a call, which Gemini wants as an object and by the name of its function."""
    call_id = message.get("tool_call_id")
    name = names.get(str(call_id))
    if name is None:
        work.note_loss(f"{place}.tool_call_id", "No earlier call has this id, so the result has no function name.")
    text = text_of_parts(message.get("content"), f"{place}.content", work)
    value: JSON = None
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
    if not isinstance(value, dict):
        work.note_loss(f"{place}.content", "A result has to be an object in Gemini: the text was put into `output`.")
        value = {"output": text}
    return {"functionResponse": {"id": call_id, "name": name, "response": value}}


def _declaration(function: JSONObject, place: str, work: ApiWork) -> JSONObject:
    made: JSONObject = {name: function[name] for name in ("name", "description") if function.get(name) is not None}
    if isinstance(function.get("parameters"), dict):
        made["parametersJsonSchema"] = function["parameters"]
    for name, value in function.items():
        if name not in ("name", "description", "parameters") and value not in (None, False):
            work.note_no_place(f"{place}.{name[:40]}", f"`{name[:40]}` of a tool")
    return made


def _choice(choice: JSON, work: ApiWork) -> None:
    config: JSONObject = {}
    if isinstance(choice, str):
        config = {"mode": _MODES.get(choice, choice.upper())}
    elif isinstance(choice, dict):
        name = as_object(choice.get("function")).get("name")
        config = {"mode": "ANY", "allowedFunctionNames": [name]}
    if config:
        work.body["toolConfig"] = {"functionCallingConfig": config}


def _format(form: JSONObject, work: ApiWork) -> None:
    schema = as_object(form.get("json_schema"))
    if form.get("type") == "text":
        return
    _configure(work, responseMimeType="application/json")
    if "schema" in schema:
        _configure(work, responseJsonSchema=schema["schema"])
    if schema.get("strict"):
        work.note_no_place("response_format.json_schema.strict", "`strict` of a response format")
