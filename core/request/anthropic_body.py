"""Bodies of Anthropic Messages as chat completion bodies.

Source: https://docs.anthropic.com/en/api/messages, as of 2026-10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.request.body_work import OF_SERVERS, BodyWork, keep_tools, plain_text


def is_anthropic_body(value: JSONObject) -> bool:
    """Return whether a body is for Anthropic's `/v1/messages`."""
    messages, tools = value.get("messages"), value.get("tools")
    if not isinstance(messages, list):
        return False
    if isinstance(value.get("system"), str | list) or "anthropic_version" in value:
        return True
    if any("input_schema" in tool or _is_built_in(tool) for tool in objects_in(tools)):
        return True
    parts = (part for message in objects_in(messages) for part in objects_in(message.get("content")))
    return any(part.get("type") in ("tool_use", "tool_result") for part in parts)


def _is_built_in(tool: JSONObject) -> bool:
    """Return whether a tool is one of Anthropic's own, whose types end in a date, such as `web_search_20250305`."""
    return "function" not in tool and re.search(r"_20\d{6}$", str(tool.get("type"))) is not None


_BILLING = "x-anthropic-billing-header"
_CHOICES: dict[str, str] = {"auto": "auto", "any": "required", "none": "none"}


def convert_anthropic(value: JSONObject, work: BodyWork) -> None:
    """Convert messages and options; what has no place is noted as lost."""
    if value.get("system"):  # servers take an empty one as none, and put nothing between blocks
        work.place = "system"
        work.add({"role": "system", "content": _blocks_text(value["system"], "system", work, "")}, "")
    given = value["messages"]
    for index, message in enumerate(given if isinstance(given, list) else []):
        if isinstance(message, dict):
            work.place = f"messages[{index}]"
            _message(message, work.place, work)
    for name, option in value.items():
        if name not in ("model", "system", "messages"):
            _option(name, option, work)


@dataclass(slots=True)
class _Turn:
    """What the blocks of one message hold."""

    texts: list[JSON] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[tuple[str, JSONObject]] = field(default_factory=list)


def _message(message: JSONObject, place: str, work: BodyWork) -> None:
    role, content = str(message.get("role", "user")), message.get("content")
    if not isinstance(content, list):
        work.add_message(role, content)
        return
    turn = _Turn()
    for index, block in enumerate(objects_in(content)):
        where = f"{place}.content[{index}]"
        if "cache_control" in block:
            work.note_no_place(where, "`cache_control`")
        _block(block, where, turn, work)
    work.place = place
    if turn.thoughts and role == "assistant":
        work.add_reasoning("".join(turn.thoughts))
        if turn.texts:
            work.add_answer(plain_text(turn.texts))
    elif turn.texts or (turn.calls and role == "assistant"):
        work.add_message(role, plain_text(turn.texts) if turn.texts else None)
    for work.place, block in turn.calls:
        work.add_call(block.get("id"), block.get("name"), block.get("input", {}), within="input")


def _block(block: JSONObject, where: str, turn: _Turn, work: BodyWork) -> None:
    match block.get("type"):
        case "text":
            turn.texts.append({"type": "text", "text": block.get("text", "")})
        case "thinking" if block.get("thinking"):
            turn.thoughts.append(str(block["thinking"]))
            if block.get("signature"):
                work.note_no_place(where, "The `signature` of thinking")
        case "tool_use":
            turn.calls.append((where, block))
        case "tool_result":
            result = _blocks_text(block.get("content", ""), where, work)
            work.place = where
            work.add(
                {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": result}, answers="tool_use_id"
            )
        case "image":
            turn.texts.append({"type": "image_url", "image_url": {"url": _image_url(block.get("source"))}})
        case other:
            work.note_loss(where, f"Blocks of type `{str(other)[:40]}` do not exist in chat completions.")


def _blocks_text(value: JSON, place: str, work: BodyWork, between: str = "\n") -> JSON:
    """Return the text of blocks, joined; what is not text is reported."""
    if not isinstance(value, list):
        return value
    blocks = objects_in(value)
    if any("cache_control" in block for block in blocks):
        work.note_no_place(place, "`cache_control`")
    if any(block.get("type") != "text" for block in blocks):
        work.note_loss(place, "Everything that is not text was left out.")
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    if not between:  # the client's header stays on a line of its own, which servers take out
        texts = [f"{text}\n" if text.startswith(_BILLING) and not text.endswith("\n") else text for text in texts]
    return between.join(texts)


def _image_url(source: JSON) -> JSON:
    match source:
        case {"type": "base64", "media_type": str(kind), "data": str(data)}:
            return f"data:{kind};base64,{data}"
        case {"url": str(url)}:
            return url
        case _:
            return ""


def _option(name: str, option: JSON, work: BodyWork) -> None:
    if name == "tools":
        keep_tools([*_tools(objects_in(option), work)], option, work)
    elif name == "tool_choice":
        _choice(as_object(option), work)
    elif name == "stop_sequences":
        work.body["stop"] = option
    elif name == "output_config":
        _output_config(as_object(option), work)
    elif name == "thinking":
        work.note_loss(
            "thinking", "`thinking` does not exist in chat completions; chat templates have their own switches."
        )
    elif name in ("max_tokens", "temperature", "top_p", "stream", "metadata", *OF_SERVERS):
        work.body[name] = option
    elif option not in (None, False, []):
        work.note_no_place(name, f"`{name}`")


def _output_config(config: JSONObject, work: BodyWork) -> None:
    form = as_object(config.get("format"))
    if "schema" in form:
        wanted: JSONObject = {"name": str(form.get("type")), "schema": form["schema"]}
        work.body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    if "effort" in config:
        work.body["reasoning_effort"] = config["effort"]
    for name in config:
        if name not in ("format", "effort"):
            work.note_no_place(f"output_config.{name}", f"`output_config.{name}`")


def _tools(tools: Sequence[JSONObject], work: BodyWork) -> Iterator[JSON]:
    count = 0
    for index, tool in enumerate(tools):
        if _is_built_in(tool) and "input_schema" not in tool:
            kind = str(tool["type"])[:40]
            work.note_no_place(f"tools[{index}]", f"The built-in tool `{kind}`")
            continue
        yield _tool(tool, index, count, work)
        count += 1


def _tool(tool: JSONObject, index: int, at_index: int, work: BodyWork) -> JSON:
    function: JSONObject = {"name": tool.get("name")}
    if "description" in tool:
        function["description"] = tool["description"]
    if "strict" in tool:
        function["strict"] = tool["strict"]
    if "input_schema" in tool:
        function["parameters"] = tool["input_schema"]
    own, made = f"tools[{index}]", f"tools[{at_index}].function"
    work.origins |= {made: own, f"{made}.parameters": f"{own}.input_schema"}
    for name in tool:
        if name not in ("name", "description", "input_schema", "strict", "type"):
            work.note_no_place(f"tools[{index}].{name}", f"`{name}`")
    return {"type": "function", "function": function}


def _choice(option: JSONObject, work: BodyWork) -> None:
    kind = str(option.get("type", "auto"))
    if kind == "tool":
        work.body["tool_choice"] = {"type": "function", "function": {"name": option.get("name")}}
    else:
        work.body["tool_choice"] = _CHOICES.get(kind, kind)
    if option.get("disable_parallel_tool_use") is True:
        work.body["parallel_tool_calls"] = False
