"""Bodies of Gemini's generateContent as chat completion bodies.

Source: https://ai.google.dev/api/generate-content, as of 2026-10.
"""

from __future__ import annotations

import json

from prompt_debugger.core.base.json_values import as_object, either_case, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.request.body_work import BodyWork, CallIds

_CONFIG = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "maxOutputTokens": "max_tokens",
    "stopSequences": "stop",
    "seed": "seed",
    "candidateCount": "n",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}
_CHOICES = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
_MAX_DEPTH = 60


def is_gemini_body(value: JSONObject) -> bool:
    """Return whether a body is for generateContent."""
    return isinstance(value.get("contents"), str | list | dict) and "messages" not in value


def convert_gemini(value: JSONObject, work: BodyWork) -> None:
    """Convert a body for generateContent; what chat completions cannot express is noted in `work`."""
    system = either_case(value, "systemInstruction")
    if system is not None:
        work.place = "systemInstruction"
        work.add({"role": "system", "content": _texts(system)}, "parts")
    given = value["contents"]
    contents = given if isinstance(given, list) else [given]
    ids = CallIds()
    for index, content in enumerate(contents):
        work.place = f"contents[{index}]" if isinstance(given, list) else "contents"
        if isinstance(content, str):
            work.add_message("user", content)
        elif isinstance(content, dict):
            _content(content, f"contents[{index}]", work, ids)
    if ids.made:
        work.note_loss("contents", "Calls without ids were given `call_0`, `call_1` …, in order.")
    for name, option in value.items():
        if name == "stream":  # in Gemini's API the address says so, not the body
            work.body[name] = option
        elif name not in ("model", "contents", "systemInstruction", "system_instruction"):
            _field(name, option, work)


def _texts(value: JSON) -> str:
    if isinstance(value, str):
        return value
    parts = objects_in(as_object(value).get("parts"))
    return "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))


def _content(content: JSONObject, place: str, work: BodyWork, ids: CallIds) -> None:
    role = "assistant" if content.get("role") == "model" else "user"
    texts: list[JSON] = []
    calls: list[tuple[str, JSONObject]] = []
    reasoning: list[str] = []
    for index, part in enumerate(objects_in(content.get("parts"))):
        call, result = (as_object(either_case(part, name)) for name in ("functionCall", "functionResponse"))
        if call:
            calls.append((f"parts[{index}].functionCall", call))
        elif result:
            shown = json.dumps(result.get("response"), ensure_ascii=False)
            call_id = ids.of_result(result.get("name"), result.get("id"))
            within = f"parts[{index}].functionResponse"
            message: JSONObject = {"role": "tool", "tool_call_id": call_id, "content": shown}
            work.add(message, f"{within}.response", f"{within}.id" if result.get("id") else "")
        elif isinstance(part.get("text"), str):
            if part.get("thought") is True:
                reasoning.append(str(part["text"]))
            else:
                texts.append({"type": "text", "text": part["text"]})
        else:
            _other_part(part, f"{place}.parts[{index}]", texts, work)
        if either_case(part, "thoughtSignature") is not None:
            work.note_no_place(f"{place}.parts[{index}]", "`thoughtSignature`")
    if texts or (calls and role == "assistant"):
        only = as_object(texts[0]) if len(texts) == 1 else {}
        shown_as: JSON = only["text"] if only.get("type") == "text" else texts
        work.add({"role": role, "content": shown_as if texts else None}, "parts")
        if reasoning and isinstance(work.messages[-1], dict):
            work.messages[-1]["reasoning"] = "".join(reasoning)
    for within, call in calls:
        call_id = ids.of_call(call.get("name"), call.get("id"))
        work.add_call(call_id, call.get("name"), call.get("args") or {}, within=f"{within}.args", named=f"{within}.id")


def _other_part(part: JSONObject, place: str, texts: list[JSON], work: BodyWork) -> None:
    data = as_object(either_case(part, "inlineData"))
    if data:
        kind = data.get("mimeType") or data.get("mime_type")
        url = f"data:{kind};base64,{data.get('data')}"
        texts.append({"type": "image_url", "image_url": {"url": url}})
    else:
        names = ", ".join(f"`{name[:40]}`" for name in list(part)[:4])
        work.note_loss(place, f"A part with {names or 'nothing in it'} has no place in a chat completion.")


def _field(name: str, option: JSON, work: BodyWork) -> None:
    match name:
        case "tools":
            work.body["tools"] = _tools(option, work)
        case "toolConfig" | "tool_config":
            _tool_config(as_object(either_case(as_object(option), "functionCallingConfig")), work)
        case "generationConfig" | "generation_config" | "config":
            _config(as_object(option), work)
        case _ if option not in (None, False, []):
            work.note_no_place(name, f"`{name[:40]}`")
        case _:
            pass


def _tools(option: JSON, work: BodyWork) -> list[JSON]:
    tools: list[JSON] = []
    for index, tool in enumerate(objects_in(option)):
        for at, declared in enumerate(_declared(tool, work)):
            work.origins[f"tools[{len(tools)}].function"] = f"tools[{index}].functionDeclarations[{at}]"
            tools.append(declared)
    return tools


def _declared(tool: JSONObject, work: BodyWork) -> list[JSON]:
    declarations = objects_in(either_case(tool, "functionDeclarations"))
    if not declarations:
        names = ", ".join(f"`{name[:40]}`" for name in list(tool)[:4])
        work.note_no_place("tools", f"The built-in tool {names}")
    made: list[JSON] = []
    for declared in declarations:
        function: JSONObject = {name: declared[name] for name in ("name", "description") if name in declared}
        schema = either_case(declared, "parametersJsonSchema") or declared.get("parameters")
        if schema is not None:
            function["parameters"] = _schema(schema)
        made.append({"type": "function", "function": function})
    return made


def _schema(value: JSON, depth: int = 0) -> JSON:
    """Return a schema with its type names in lower case, as JSON Schema has them."""
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [_schema(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    made: JSONObject = {name: _schema(item, depth + 1) for name, item in value.items()}
    if isinstance(value.get("type"), str) and value["type"] in _TYPES:
        made["type"] = str(value["type"]).lower()
    return made


def _tool_config(config: JSONObject, work: BodyWork) -> None:
    mode, names = str(config.get("mode", "AUTO")), either_case(config, "allowedFunctionNames")
    work.body["tool_choice"] = _CHOICES.get(mode, mode.lower())
    if isinstance(names, list) and len(names) == 1 and mode == "ANY":
        work.body["tool_choice"] = {"type": "function", "function": {"name": names[0]}}
    elif names:
        work.note_no_place("toolConfig", "`allowedFunctionNames` with several names")


def _config(config: JSONObject, work: BodyWork) -> None:
    kinds = ("responseMimeType", "responseSchema", "responseJsonSchema")
    mime, *schemas = (either_case(config, name) for name in kinds)
    schema = next((one for one in schemas if one is not None), None)
    if schema is not None:
        work.body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": _schema(schema)},
        }
    elif mime == "application/json":
        work.body["response_format"] = {"type": "json_object"}
    for name, value in config.items():
        camel = next((one for one in _CONFIG if either_case({name: value}, one) is not None), None)
        if camel is not None:
            work.body[_CONFIG[camel]] = value
            continue
        is_kind = any(either_case({name: value}, kind) is not None for kind in kinds)
        if not is_kind and value not in (None, False, []):
            work.note_no_place(f"generationConfig.{name}", f"`{name[:40]}`")
