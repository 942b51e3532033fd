"""Bodies of OpenAI Responses as chat completion bodies.

Of tools that are no functions, two become some:

    {"type": "custom", "name": "patch"}                                     a function with one text, `input`
    {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find", …}]}
                                                                            a function `crm__find`

Sources: https://platform.openai.com/docs/api-reference/responses, as of 2026-10;
https://platform.openai.com/docs/guides/function-calling, as of 2026-11; what vLLM 0.32 shows to a model.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.base.wire import name_in
from prompt_debugger.core.request.body_work import OF_SERVERS, BodyWork, keep_tools, plain_text

_ONE_TEXT: JSONObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
_CALLED = ("function", "custom")


_LATER_TOOLS = ("additional_tools", "tool_search_output")  # items of the input that offer more tools


def is_responses_body(value: JSONObject) -> bool:
    """Return whether a body is for `/v1/responses`; one with a `voice` is for `/v1/audio/speech`."""
    return (
        "messages" not in value
        and "voice" not in value
        and "prompt" not in value
        and isinstance(value.get("input"), str | list)
    )


_RENAMED = {"max_output_tokens": "max_completion_tokens", "tool_choice": "tool_choice"}
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
    | {"presence_penalty", "frequency_penalty", *OF_SERVERS, *_OF_VLLM}
)


# Fields of chat completions that Responses names differently, or has elsewhere; `stop` it does not have.
_OF_CHAT: dict[str, str] = {
    "response_format": "text.format",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "functions": "tools",
    "function_call": "tool_choice",
}


def convert_responses(value: JSONObject, work: BodyWork) -> None:
    """Convert messages and options; what has no place is noted as lost."""
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
        if name not in ("model", "instructions", "input", "tools"):
            _responses_option(name, option, value.get("tools"), work)
    _set_tools(value, work)
    if work.body.get("top_logprobs"):  # chat completions takes it only together with this
        work.body["logprobs"] = True


def _item(item: JSON, place: str, work: BodyWork) -> None:
    if not isinstance(item, dict):
        return work.note_loss(place, "This item is not an object; it was left out.")
    match item.get("type", "message"):
        case "message":
            content = item.get("content")
            if not isinstance(content, str):
                content = _parts(content, place, work)
            role = str(item.get("role", "user"))
            if role == "assistant":
                work.add_answer(content)
            else:
                work.add_message(role, content)
        case "reasoning" if thought := _thought(item):
            work.add_reasoning(thought)
            if item.get("encrypted_content"):
                work.note_no_place(place, "`encrypted_content`")
        case "function_call":
            call_id, called = item.get("call_id") or item.get("id"), name_in(item.get("namespace"), item.get("name"))
            work.add_call(call_id, called, item.get("arguments", ""), named="call_id")
        case "custom_tool_call":
            call_id = item.get("call_id") or item.get("id")
            work.add_call(call_id, item.get("name"), {"input": item.get("input", "")}, within="input", named="call_id")
        case "function_call_output" | "custom_tool_call_output":
            output = item.get("output", "")
            output = _parts(output, place, work) if isinstance(output, list) else output
            work.add({"role": "tool", "tool_call_id": item.get("call_id"), "content": output}, "output", "call_id")
        case other:
            as_offered = f"The tools of `{other}` were read as if they had been offered from the beginning."
            unknown = f"Items of type `{str(other)[:40]}` do not exist in chat completions."
            work.note_loss(place, as_offered if other in _LATER_TOOLS else unknown)
    return None


def _thought(item: JSONObject) -> str:
    """Return the text of a reasoning item: its own, else the summary's."""
    texts = [[str(part.get("text", "")) for part in objects_in(item.get(name))] for name in ("content", "summary")]
    return "\n".join(texts[0] or texts[1])


def _parts(content: JSON, place: str, work: BodyWork) -> JSON:
    parts = [_part(part, place, work) for part in objects_in(content)]
    return plain_text([part for part in parts if part is not None])


def _part(part: JSONObject, place: str, work: BodyWork) -> JSON:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": part.get("text", "")}
        case "input_image":
            return {"type": "image_url", "image_url": {"url": part.get("image_url")}}
        case other:
            work.note_loss(place, f"Parts of type `{str(other)[:40]}` do not exist in chat completions.")
            return None


def _set_tools(value: JSONObject, work: BodyWork) -> None:
    """Set the tools of the request and those that its input brings, each once."""
    given = value.get("tools")
    if given is not None and not isinstance(given, list):
        work.note_loss("tools", "`tools` is not a list.")
    tools = [*_flat_tools(given, work)]
    names = [as_object(as_object(tool).get("function")).get("name") for _, tool in tools]
    for place, tool in _later_tools(value["input"], work):
        if (name := as_object(as_object(tool).get("function")).get("name")) not in names:
            names.append(name)
            tools.append((place, tool))
    if tools or isinstance(given, list):
        keep_tools([tool for _, tool in tools], given, work)
    work.origins |= {f"tools[{at}].function": place for at, (place, _) in enumerate(tools)}


def _responses_option(name: str, option: JSON, offered: JSON, work: BodyWork) -> None:
    value = as_object(option)
    if name == "tool_choice" and value:
        _set_choice(value, offered, work)
    elif name == "reasoning" and "effort" in value:
        work.body["reasoning_effort"] = value["effort"]
    elif name == "text" and "format" in value:
        if (form := _format(as_object(value["format"]))) is not None:
            work.body["response_format"] = form
    elif name in _RENAMED:
        work.body[_RENAMED[name]] = option
    elif name in _SAME:
        work.body[name] = option
    elif name in _OF_CHAT and option is not None:
        work.note_loss(name, f"Responses has no field `{name}`: it takes `{_OF_CHAT[name]}`.")
    elif option not in (None, False, []):
        work.note_no_place(name, f"`{name}`")


def _later_tools(items: JSON, work: BodyWork) -> Iterator[tuple[str, JSON]]:
    """Yield the tools that items of the input offer besides the request's own, each with its place there."""
    for index, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, dict) and item.get("type") in _LATER_TOOLS:
            yield from _flat_tools(item.get("tools"), work, f"input[{index}].tools")


def _flat_tools(tools: JSON, work: BodyWork, within: str = "tools") -> Iterator[tuple[str, JSON]]:
    """Yield the tools of chat completions that tools of Responses are, each with its place there."""
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        place = f"{within}[{index}]"
        if isinstance(tool, dict) and tool.get("type") == "namespace":
            yield from _read_namespace(tool, place, work)
        elif (flat := _flat_tool(tool, place, work)) is not None:
            yield place, flat


def _read_namespace(namespace: JSONObject, place: str, work: BodyWork) -> Iterator[tuple[str, JSON]]:
    name, tools = namespace.get("name"), objects_in(namespace.get("tools"))
    label = f"`{str(name)[:40]}`"
    work.note_loss(
        place, f"The functions of the namespace {label} were read as functions named `{name_in(name, 'NAME')}`."
    )
    for index, tool in enumerate(tools):
        if tool.get("type") == "function":
            function: JSONObject = {key: part for key, part in tool.items() if key != "type"}
            called = name_in(name, tool.get("name"))
            yield f"{place}.tools[{index}]", {"type": "function", "function": {**function, "name": called}}
        else:
            kind = str(tool.get("type"))[:40]
            work.note_loss(f"{place}.tools[{index}]", f"A tool of type `{kind}` in a namespace was left out.")


def _flat_tool(tool: JSON, place: str, work: BodyWork) -> JSON:
    if isinstance(tool, dict) and tool.get("type") == "function" and "function" not in tool:
        return {"type": "function", "function": {name: part for name, part in tool.items() if name != "type"}}
    if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
        work.note_loss(
            f"{place}.function", "Responses has no field `function` in a tool: its members belong directly to the tool."
        )
        return tool
    if isinstance(tool, dict) and tool.get("type") == "custom":
        work.note_loss(place, "This custom tool was read as a function with one text, `input`.")
        function: JSONObject = {name: tool[name] for name in ("name", "description") if name in tool}
        return {"type": "function", "function": {**function, "parameters": _ONE_TEXT}}
    kind = tool.get("type") if isinstance(tool, dict) else tool
    work.note_no_place(place, f"The built-in tool `{str(kind)[:40]}`")
    return None


def _set_choice(choice: JSONObject, tools: JSON, work: BodyWork) -> None:
    """Set a choice that is an object; a custom tool is a function in chat completions."""
    kind = choice.get("type")
    if kind in _CALLED:
        work.body["tool_choice"] = {"type": "function", "function": {"name": _chosen(choice, tools)}}
    elif kind == "allowed_tools":
        names = [_chosen(one, tools) for one in objects_in(choice.get("tools")) if one.get("type") in _CALLED]
        named: list[JSON] = [{"type": "function", "function": {"name": name}} for name in names]
        allowed: JSONObject = {"mode": choice.get("mode", "auto"), "tools": named}
        work.body["tool_choice"] = {"type": kind, kind: allowed}
    else:
        work.note_no_place("tool_choice", f"A choice of type `{str(kind)[:40]}`")


def _chosen(choice: JSONObject, tools: JSON) -> JSON:
    """Return the name of a tool that is chosen; one of a namespace may be named without it, if only one has it."""
    name, offered = choice.get("name"), objects_in(tools)
    if choice.get("namespace") or any(tool.get("name") == name for tool in offered if tool.get("type") != "namespace"):
        return name_in(choice.get("namespace"), name)
    within = [
        name_in(space.get("name"), name)
        for space in offered
        if space.get("type") == "namespace"
        for tool in objects_in(space.get("tools"))
        if tool.get("name") == name
    ]
    return within[0] if len(within) == 1 else name


def _format(form: JSONObject) -> JSON:
    if form.get("type") == "json_schema":
        return {"type": "json_schema", "json_schema": {name: part for name, part in form.items() if name != "type"}}
    return None if form.get("type") == "text" else {**form}
