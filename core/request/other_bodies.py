"""Bodies of other APIs (Responses, Messages, Gemini, Ollama), known by their shape, as chat completion bodies.

What a chat completion has no place for is left out and said, one notice for each; nothing goes silently.

Source: https://platform.openai.com/docs/api-reference/responses and
https://docs.anthropic.com/en/api/messages, as of 2026-10.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Notice
from prompt_debugger.core.base.wire import name_in
from prompt_debugger.core.request.body_work import BodyWork, objects_in
from prompt_debugger.core.request.gemini_body import convert_gemini, is_gemini_body
from prompt_debugger.core.request.ollama_body import convert_ollama, is_ollama_body
from prompt_debugger.core.request.responses_tools import flat_tools, set_choice

MODEL_LEFT_OUT = "The model's name is not in the snippet: it is left out, and a run uses the target's model."


class Converted(NamedTuple):
    """A body of another API as one of chat completions.

    Attributes:
        body: The chat completion body.
        notices: What was changed or left out.
        api: The API that the body was of, where this program asks servers by it.
        origins: By path of `body`, where in the other body that comes from, as far as it was followed.
    """

    body: JSONObject
    notices: tuple[Notice, ...]
    api: Api = Api.CHAT
    origins: Mapping[str, str] = MappingProxyType({})

    def place_of(self, field: str) -> str:
        """Return where in the other body a field of `body` is; the field itself where that was not followed."""
        return place_in(self.origins, field) or field


def place_in(places: Mapping[str, str], field: str) -> str | None:
    """Return where a field is by the places of what it is part of; `None` if they do not show it.

    >>> place_in({"messages[1]": "input[4]"}, "messages[1].content")
    'input[4].content'
    """
    known = [path for path in places if field == path or field.startswith((f"{path}.", f"{path}["))]
    longest = max(known, key=len, default=None)
    return None if longest is None else places[longest] + field[len(longest) :]


def convert_body(value: JSONObject) -> Converted | None:
    """Return a body of another API as a chat completion body; `None` if it is of no other API that is known."""
    if is_responses_body(value):
        return _converted("OpenAI Responses", value, _responses)._replace(api=Api.RESPONSES)
    if is_anthropic_body(value):
        return _converted("Anthropic Messages", value, _anthropic)._replace(api=Api.MESSAGES)
    if is_gemini_body(value):
        return _converted("Gemini's generateContent", value, convert_gemini)._replace(api=Api.GEMINI)
    if is_ollama_body(value):
        return _converted("Ollama's own API", value, convert_ollama)
    return None


def convert_as(api: Api | None, value: JSONObject) -> Converted | None:
    """Return the same of a body that is known by its address or its call; `None` if it is known to be of another."""
    converted = convert_body(value)
    if converted is not None or api is not Api.MESSAGES or _is_of_chat(value):
        return converted
    return _converted("Anthropic Messages", value, _anthropic)._replace(api=api)


def _is_of_chat(value: JSONObject) -> bool:
    """Return whether a body has what only chat completions have; one without can be of Messages as well."""
    messages = objects_in(value.get("messages"))
    has_roles = any(one.get("role") not in ("user", "assistant") or "tool_calls" in one for one in messages)
    return not messages or has_roles or any("function" in tool for tool in objects_in(value.get("tools")))


def is_responses_body(value: JSONObject) -> bool:
    """Return whether a body is for `/v1/responses`."""
    return "messages" not in value and "prompt" not in value and isinstance(value.get("input"), str | list)


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


def _converted(api: str, value: JSONObject, convert: Callable[[JSONObject, BodyWork], None]) -> Converted:
    work = BodyWork()
    convert(value, work)
    body: JSONObject = {}
    if "model" in value:
        body["model"] = value["model"]
    body = {**body, "messages": work.messages, **work.body}
    lost = "nothing was left out" if not work.lost else "what does not exist there is listed below"
    notice = Notice("", f"This is a body of {api}; it was read as a chat completion: {lost}.")
    return Converted(body, (notice, *work.lost), origins=work.origins)


# --- OpenAI Responses ----------------------------------------------------------------

_RENAMED = {"max_output_tokens": "max_completion_tokens", "tool_choice": "tool_choice"}
_OF_SERVERS = (
    "top_k",
    "min_p",
    "repetition_penalty",
    "logit_bias",
    "chat_template_kwargs",
    "cache_salt",
    "structured_outputs",
)
_OF_VLLM = (
    "ignore_eos",
    "stop_token_ids",
    "include_stop_str_in_output",
    "skip_special_tokens",
    "include_reasoning",
    "vllm_xargs",
    "priority",
)  # its Responses and its chat completions take them
_SAME = frozenset(
    {"temperature", "top_p", "stream", "parallel_tool_calls", "metadata", "user", "seed", "top_logprobs", "stop"}
    | {"presence_penalty", "frequency_penalty", *_OF_SERVERS, *_OF_VLLM}
)


# Fields of chat completions that Responses names differently, or has elsewhere; `stop` it does not have.
OF_CHAT: dict[str, str] = {
    "response_format": "text.format",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "functions": "tools",
    "function_call": "tool_choice",
}


def _responses(value: JSONObject, work: BodyWork) -> None:
    if isinstance(value.get("instructions"), str):
        work.place = "instructions"
        work.add({"role": "system", "content": value["instructions"]}, "")
    given = value["input"]
    if isinstance(given, str):
        work.place = "input"
        work.add({"role": "user", "content": given}, "")
    for index, item in enumerate(given if isinstance(given, list) else []):
        work.place = f"input[{index}]"
        _item(item, work.place, work)
    for name, option in value.items():
        if name not in ("model", "instructions", "input"):
            _responses_option(name, option, value.get("tools"), work)
    if work.body.get("top_logprobs"):  # chat completions takes it only together with this
        work.body["logprobs"] = True


def _item(item: JSON, place: str, work: BodyWork) -> None:
    if not isinstance(item, dict):
        return work.lose(place, "This item is not an object; it was left out.")
    match item.get("type", "message"):
        case "message":
            content = item.get("content")
            if not isinstance(content, str):
                content = _parts(content, place, work)
            role = str(item.get("role", "user"))
            if role == "assistant":
                work.answer(content)
            else:
                work.say(role, content)
        case "reasoning" if thought := _thought(item):
            work.think(thought)
            if item.get("encrypted_content"):
                work.lose(place, "`encrypted_content` does not exist in chat completions.")
        case "function_call":
            call_id, called = item.get("call_id") or item.get("id"), name_in(item.get("namespace"), item.get("name"))
            work.call(call_id, called, item.get("arguments", ""), named="call_id")
        case "custom_tool_call":
            call_id = item.get("call_id") or item.get("id")
            work.call(call_id, item.get("name"), {"input": item.get("input", "")}, within="input", named="call_id")
        case "function_call_output" | "custom_tool_call_output":
            output = item.get("output", "")
            output = _parts(output, place, work) if isinstance(output, list) else output
            work.add({"role": "tool", "tool_call_id": item.get("call_id"), "content": output}, "output", "call_id")
        case other:
            work.lose(place, f"Items of type `{str(other)[:40]}` do not exist in chat completions.")
    return None


def _thought(item: JSONObject) -> str:
    """Return the text of a reasoning item: its own, else the summary's."""
    texts = [[str(part.get("text", "")) for part in objects_in(item.get(name))] for name in ("content", "summary")]
    return "\n".join(texts[0] or texts[1])


def _parts(content: JSON, place: str, work: BodyWork) -> JSON:
    parts = [_part(part, place, work) for part in objects_in(content)]
    return _plain_text([part for part in parts if part is not None])


def _part(part: JSONObject, place: str, work: BodyWork) -> JSON:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": part.get("text", "")}
        case "input_image":
            return {"type": "image_url", "image_url": {"url": part.get("image_url")}}
        case other:
            work.lose(place, f"Parts of type `{str(other)[:40]}` do not exist in chat completions.")
            return None


def _plain_text(parts: list[JSON]) -> JSON:
    """Return parts that are one text as that text: every template reads it."""
    only = parts[0] if len(parts) == 1 else None
    return only["text"] if isinstance(only, dict) and only.get("type") == "text" else parts


def _responses_option(name: str, option: JSON, offered: JSON, work: BodyWork) -> None:
    value = as_object(option)
    if name == "tools" and isinstance(option, list):
        tools = [*flat_tools(option, work)]
        _keep_tools([tool for _, tool in tools], option, work)
        work.origins |= {f"tools[{at}].function": place for at, (place, _) in enumerate(tools)}
    elif name == "tool_choice" and value:
        set_choice(value, offered, work)
    elif name == "reasoning" and "effort" in value:
        work.body["reasoning_effort"] = value["effort"]
    elif name == "text" and "format" in value:
        if (form := _format(as_object(value["format"]))) is not None:
            work.body["response_format"] = form
    elif name in _RENAMED:
        work.body[_RENAMED[name]] = option
    elif name in _SAME:
        work.body[name] = option
    elif name in OF_CHAT and option is not None:
        work.lose(name, f"Responses has no field `{name}`: it takes `{OF_CHAT[name]}`.")
    elif option not in (None, False, []):
        work.lose(name, f"`{name}` does not exist in chat completions.")


def _keep_tools(kept: list[JSON], given: JSON, work: BodyWork) -> None:
    """Set the tools; none at all where each was lost, as servers refuse an empty list, which was not in the request."""
    if kept or not given:
        work.body["tools"] = kept


def _format(form: JSONObject) -> JSON:
    if form.get("type") == "json_schema":
        return {"type": "json_schema", "json_schema": {name: part for name, part in form.items() if name != "type"}}
    return None if form.get("type") == "text" else {**form}


# --- Anthropic Messages --------------------------------------------------------------

_BILLING = "x-anthropic-billing-header"
_CHOICES: dict[str, str] = {"auto": "auto", "any": "required", "none": "none"}


def _anthropic(value: JSONObject, work: BodyWork) -> None:
    if value.get("system"):  # servers take an empty one as none, and put nothing between blocks
        work.place = "system"
        work.add({"role": "system", "content": _blocks_text(value["system"], "system", work, "")}, "")
    given = value["messages"]
    for index, message in enumerate(given if isinstance(given, list) else []):
        if isinstance(message, dict):
            work.place = f"messages[{index}]"
            _anthropic_message(message, work.place, work)
    for name, option in value.items():
        if name not in ("model", "system", "messages"):
            _anthropic_option(name, option, work)


@dataclass(slots=True)
class _Turn:
    """What the blocks of one message hold."""

    texts: list[JSON] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[tuple[str, JSONObject]] = field(default_factory=list)


def _anthropic_message(message: JSONObject, place: str, work: BodyWork) -> None:
    role, content = str(message.get("role", "user")), message.get("content")
    if not isinstance(content, list):
        work.say(role, content)
        return
    turn = _Turn()
    for index, block in enumerate(objects_in(content)):
        where = f"{place}.content[{index}]"
        if "cache_control" in block:
            work.lose(where, "`cache_control` does not exist in chat completions.")
        _block(block, where, turn, work)
    work.place = place
    if turn.thoughts and role == "assistant":
        work.think("".join(turn.thoughts))
        if turn.texts:
            work.answer(_plain_text(turn.texts))
    elif turn.texts or (turn.calls and role == "assistant"):
        work.say(role, _plain_text(turn.texts) if turn.texts else None)
    for work.place, block in turn.calls:
        work.call(block.get("id"), block.get("name"), block.get("input", {}), within="input")


def _block(block: JSONObject, where: str, turn: _Turn, work: BodyWork) -> None:
    match block.get("type"):
        case "text":
            turn.texts.append({"type": "text", "text": block.get("text", "")})
        case "thinking" if block.get("thinking"):
            turn.thoughts.append(str(block["thinking"]))
            if block.get("signature"):
                work.lose(where, "The `signature` of thinking does not exist in chat completions.")
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
            work.lose(where, f"Blocks of type `{str(other)[:40]}` do not exist in chat completions.")


def _blocks_text(value: JSON, place: str, work: BodyWork, between: str = "\n") -> JSON:
    """Return the text of blocks, joined; what is not text is reported."""
    if not isinstance(value, list):
        return value
    blocks = objects_in(value)
    if any("cache_control" in block for block in blocks):
        work.lose(place, "`cache_control` does not exist in chat completions.")
    if any(block.get("type") != "text" for block in blocks):
        work.lose(place, "Everything that is not text was left out.")
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


def _anthropic_option(name: str, option: JSON, work: BodyWork) -> None:
    if name == "tools":
        _keep_tools([*_anthropic_tools(objects_in(option), work)], option, work)
    elif name == "tool_choice":
        _anthropic_choice(as_object(option), work)
    elif name == "stop_sequences":
        work.body["stop"] = option
    elif name == "output_config":
        _output_config(as_object(option), work)
    elif name == "thinking":
        work.lose("thinking", "`thinking` does not exist in chat completions; chat templates have their own switches.")
    elif name in ("max_tokens", "temperature", "top_p", "stream", "metadata", *_OF_SERVERS):
        work.body[name] = option
    elif option not in (None, False, []):
        work.lose(name, f"`{name}` does not exist in chat completions.")


def _output_config(config: JSONObject, work: BodyWork) -> None:
    form = as_object(config.get("format"))
    if "schema" in form:
        wanted: JSONObject = {"name": str(form.get("type")), "schema": form["schema"]}
        work.body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    if "effort" in config:
        work.body["reasoning_effort"] = config["effort"]
    for name in config:
        if name not in ("format", "effort"):
            work.lose(f"output_config.{name}", f"`output_config.{name}` does not exist in chat completions.")


def _anthropic_tools(tools: list[JSONObject], work: BodyWork) -> Iterator[JSON]:
    count = 0
    for index, tool in enumerate(tools):
        if _is_built_in(tool) and "input_schema" not in tool:
            kind = str(tool["type"])[:40]
            work.lose(f"tools[{index}]", f"The built-in tool `{kind}` does not exist in chat completions.")
            continue
        yield _anthropic_tool(tool, index, count, work)
        count += 1


def _anthropic_tool(tool: JSONObject, index: int, at_index: int, work: BodyWork) -> JSON:
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
            work.lose(f"tools[{index}].{name}", f"`{name}` does not exist in chat completions.")
    return {"type": "function", "function": function}


def _anthropic_choice(option: JSONObject, work: BodyWork) -> None:
    kind = str(option.get("type", "auto"))
    if kind == "tool":
        work.body["tool_choice"] = {"type": "function", "function": {"name": option.get("name")}}
    else:
        work.body["tool_choice"] = _CHOICES.get(kind, kind)
    if option.get("disable_parallel_tool_use") is True:
        work.body["parallel_tool_calls"] = False
