"""Bodies of Amazon Bedrock's Converse, and of Nova's own form, as chat completion bodies.

    {"modelId": "…", "system": [{"text": "…"}], "messages": [
       {"role": "user", "content": [{"text": "…"}]},
       {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]},
       {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"json": {}}]}}]}],
     "inferenceConfig": {"maxTokens": 9}, "toolConfig": {"tools": [{"toolSpec": {…}}], "toolChoice": {"auto": {}}}}

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema.html, as of 2026-11.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.request.body_work import BodyWork, keep_tools, plain_text

_CONFIG = {
    "maxTokens": "max_tokens",
    "max_new_tokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "stopSequences": "stop",
}
_OF_API = ("inferenceConfig", "toolConfig", "guardrailConfig", "additionalModelRequestFields")
_OF_PART = frozenset({"toolUse", "toolResult", "reasoningContent", "cachePoint", "guardContent"})
_CHOICES = {"auto": "auto", "any": "required"}
_AFTER_MESSAGES = ("model", "modelId", "system", "messages", "schemaVersion")


def is_converse_body(value: JSONObject) -> bool:
    """Return whether a body is for Converse: its parts have no `type`, and something else shows the API."""
    messages = objects_in(value.get("messages"))
    contents = [message.get("content") for message in messages]
    if not messages or not all(isinstance(content, list) for content in contents):
        return False
    parts = [part for content in contents for part in objects_in(content)]
    if any("type" in part for part in parts):
        return False
    is_named = any(isinstance(value.get(name), dict) for name in _OF_API) or "schemaVersion" in value
    return is_named or any(_OF_PART & part.keys() for part in parts)


def convert_converse(value: JSONObject, work: BodyWork) -> None:
    """Make a chat completion body of a body of Converse."""
    if isinstance(value.get("modelId"), str):
        work.body["model"] = value["modelId"]
    if isinstance(value.get("system"), list) and value["system"]:
        work.place = "system"
        work.add({"role": "system", "content": "\n".join(_texts(value["system"], "system", work))}, "")
    for index, message in enumerate(objects_in(value["messages"])):
        _message(message, f"messages[{index}]", work)
    for name, option in value.items():
        if name not in _AFTER_MESSAGES:
            _option(name, option, work)


def _texts(value: JSON, place: str, work: BodyWork) -> Iterator[str]:
    """Yield the texts of blocks; what is not text is reported."""
    for index, block in enumerate(objects_in(value)):
        yield from _text(block, f"{place}[{index}]", work)


def _text(block: JSONObject, place: str, work: BodyWork) -> Iterator[str]:
    guarded = as_object(as_object(block.get("guardContent")).get("text")).get("text")
    if isinstance(text := block.get("text", guarded), str):
        yield text
    elif "json" in block:
        yield json.dumps(block["json"], ensure_ascii=False)
    else:
        work.note_loss(place, _no_place(block))


def _message(message: JSONObject, place: str, work: BodyWork) -> None:
    role = str(message.get("role", "user"))
    texts: list[JSON] = []
    thoughts: list[str] = []
    calls: list[tuple[str, JSONObject]] = []
    for index, block in enumerate(objects_in(message.get("content"))):
        where = f"{place}.content[{index}]"
        thought = as_object(as_object(block.get("reasoningContent")).get("reasoningText")).get("text")
        if "toolUse" in block:
            calls.append((f"{where}.toolUse", as_object(block["toolUse"])))
        elif "toolResult" in block:
            _result(as_object(block["toolResult"]), f"{where}.toolResult", work)
        elif isinstance(thought, str):
            thoughts.append(thought)
        elif (url := _image_url(as_object(block.get("image")))) is not None:
            texts.append({"type": "image_url", "image_url": {"url": url}})
        else:
            texts += [{"type": "text", "text": text} for text in _text(block, where, work)]
    work.place = place
    if thoughts and role == "assistant":
        work.add_reasoning("".join(thoughts))
        if texts:
            work.add_answer(plain_text(texts))
    elif texts or (calls and role == "assistant"):
        work.add_message(role, plain_text(texts) if texts else None)
    for work.place, call in calls:
        work.add_call(call.get("toolUseId"), call.get("name"), call.get("input", {}), within="input", named="toolUseId")


def _result(result: JSONObject, where: str, work: BodyWork) -> None:
    text = "\n".join(_texts(result.get("content"), f"{where}.content", work))
    if result.get("status") == "error":
        work.note_no_place(f"{where}.status", "`status`")
    work.place = where
    work.add({"role": "tool", "tool_call_id": result.get("toolUseId"), "content": text}, answers="toolUseId")


def _image_url(image: JSONObject) -> str | None:
    held = as_object(image.get("source")).get("bytes")
    return f"data:image/{image.get('format', 'png')};base64,{held}" if isinstance(held, str) else None


def _no_place(block: JSONObject) -> str:
    names = ", ".join(f"`{name[:40]}`" for name in list(block)[:4])
    return f"A part with {names or 'nothing in it'} has no place in a chat completion."


def _option(name: str, option: JSON, work: BodyWork) -> None:
    if name == "inferenceConfig":
        for key, given in as_object(option).items():
            if key in _CONFIG:
                work.body[_CONFIG[key]] = given
            else:
                work.note_no_place(f"{name}.{key}", f"`{key[:40]}`")
    elif name == "toolConfig":
        _tool_config(as_object(option), work)
    elif name == "stream":
        work.body[name] = option
    elif option not in (None, False, [], {}):
        work.note_no_place(name, f"`{name[:40]}`")


def _tool_config(config: JSONObject, work: BodyWork) -> None:
    kept: list[JSON] = []
    for index, tool in enumerate(objects_in(config.get("tools"))):
        spec, own = as_object(tool.get("toolSpec")), f"toolConfig.tools[{index}].toolSpec"
        if not spec:
            work.note_loss(f"toolConfig.tools[{index}]", _no_place(tool))
            continue
        function: JSONObject = {name: spec[name] for name in ("name", "description", "strict") if name in spec}
        made = f"tools[{len(kept)}].function"
        work.origins |= {made: own, f"{made}.parameters": f"{own}.inputSchema.json"}
        if "inputSchema" in spec:
            function["parameters"] = as_object(spec["inputSchema"]).get("json")
        kept.append({"type": "function", "function": function})
    keep_tools(kept, config.get("tools"), work)
    choice = as_object(config.get("toolChoice"))
    if "tool" in choice:
        name = as_object(choice["tool"]).get("name")
        work.body["tool_choice"] = {"type": "function", "function": {"name": name}}
    for name, said in _CHOICES.items():
        if name in choice:
            work.body["tool_choice"] = said
