"""Chat completion bodies as bodies of OpenAI's Responses, Anthropic's Messages or, by `to_gemini`, Gemini.

The way back is `core.request.other_bodies`. What the other API has no place for is left out and said, one notice for
each, at its place in the chat completion; nothing goes silently.

Source: https://platform.openai.com/docs/api-reference/responses and https://docs.anthropic.com/en/api/messages, as of
2026-10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set

from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, Api, JSONObject
from prompt_debugger.core.request.api_work import LIMITS, ApiWork, data_of_url, limit_of, reasoning_of, text_of_parts
from prompt_debugger.core.request.other_bodies import Converted
from prompt_debugger.core.request.to_gemini import SAME, gemini_option, write_gemini

_SAME_IN_BOTH = frozenset({"model", "temperature", "top_p", "top_k", "stream", "chat_template_kwargs"})
_SAME = {
    Api.RESPONSES: _SAME_IN_BOTH
    | {"parallel_tool_calls", "metadata", "user", "top_logprobs", "store", "service_tier"}
    # Of vLLM; others ignore or refuse them.
    | {
        "seed",
        "stop",
        "min_p",
        "logit_bias",
        "presence_penalty",
        "frequency_penalty",
        "repetition_penalty",
        "structured_outputs",
    },
    Api.MESSAGES: _SAME_IN_BOTH | {"cache_salt"},
    Api.GEMINI: SAME,
}
_MAX_TOKENS = 1_024  # where the request sets no limit: Messages has no body without one
_ASKED_ELSEWHERE = frozenset({"messages", "tools", "tool_choice", "parallel_tool_calls", *LIMITS})
_ON_WITHOUT = frozenset(
    {"add_generation_prompt", "include_reasoning", "skip_special_tokens", "spaces_between_special_tokens"}
)
_NOTHING: dict[str, JSON] = {"n": 1, "add_generation_prompt": True, "include_reasoning": True}  # as without it
_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def to_api(body: JSONObject, api: Api, taken: Set[str] = frozenset()) -> Converted:
    """Return a chat body as one of another API, and a notice for each thing that has no place there.

    Args:
        body: The chat completion body.
        api: The other API.
        taken: Fields of chat completions that the server to be asked takes there by the same name.
    """
    work = ApiWork(api)
    _WRITERS[api](body, work)
    for name, value in body.items():
        if name in taken:
            work.body[name] = value
        elif name not in _ASKED_ELSEWHERE:
            _option(name, value, work)
    return Converted(work.body, tuple(work.lost))


def _option(name: str, value: JSON, work: ApiWork) -> None:
    """Take a field besides messages, tools and limits."""
    is_responses = work.api is Api.RESPONSES
    if name in _SAME[work.api]:
        work.body[name] = value
    elif work.api is Api.GEMINI and gemini_option(name, value, work):
        return
    elif name == "stop" and value:
        work.body["stop_sequences"] = [value] if isinstance(value, str) else value
    elif name == "reasoning_effort" and value is not None and work.api is not Api.GEMINI:
        held = "reasoning" if is_responses else "output_config"
        work.body[held] = {**as_object(work.body.get(held)), "effort": value}
    elif name == "response_format" and value is not None:
        _format(as_object(value), work)
    elif (
        name != "stream_options"
        and (value not in (None, False, [], {}) or _says_no(name, value))
        and value != _NOTHING.get(name)
    ):
        work.note_no_place(name, f"`{name[:40]}`")


def _says_no(name: str, value: JSON) -> bool:
    """Return whether a field switches off what is on without it."""
    return value is False and name in _ON_WITHOUT


def _format(form: JSONObject, work: ApiWork) -> None:
    schema = as_object(form.get("json_schema"))
    if form.get("type") == "text":
        return
    if work.api is Api.RESPONSES:
        own: JSONObject = {"type": "json_schema", **schema} if schema else {**form}
        work.body["text"] = {"format": own}
    elif "schema" in schema:
        held = as_object(work.body.get("output_config"))
        work.body["output_config"] = {**held, "format": {"type": "json_schema", "schema": schema["schema"]}}
    else:
        work.note_no_place("response_format", f"A response format of type `{str(form.get('type'))[:40]}`")


def _calls_of(message: JSONObject, place: str, work: ApiWork) -> Iterator[tuple[str, JSONObject, JSONObject]]:
    """Yield the calls of a message with their places and functions; what cannot be sent with them is reported."""
    calls = objects_in(message.get("tool_calls"))
    if calls and message.get("content") == "":
        work.note_no_place(f"{place}.content", "The empty text next to the calls")
    for index, call in enumerate(calls):
        yield f"{place}.tool_calls[{index}]", call, as_object(call.get("function"))


def _part(part: JSONObject, place: str, role: str, work: ApiWork) -> JSON:
    """Return a content part as the other API has it; `None` if it has none."""
    kind, is_responses = part.get("type"), work.api is Api.RESPONSES
    if kind == "text":
        written = "output_text" if role == "assistant" else "input_text"
        text: JSONObject = {"type": written if is_responses else "text", "text": part.get("text", "")}
        if part.get("text") == "" and not is_responses:
            work.note_no_place(place, "An empty text part")
            return None
        return {**text, "annotations": []} if written == "output_text" and is_responses else text
    url = as_object(part.get("image_url")).get("url")
    if kind == "image_url" and isinstance(url, str):
        if is_responses:
            return {"type": "input_image", "image_url": url}
        if (data := data_of_url(url)) is None:
            return {"type": "image", "source": {"type": "url", "url": url}}
        return {"type": "image", "source": {"type": "base64", "media_type": data.mime, "data": data.text}}
    work.note_no_place(place, f"A part of type `{str(kind)[:40]}`")
    return None


def _content(content: JSON, place: str, role: str, work: ApiWork) -> JSON:
    if not isinstance(content, list):
        return content
    parts = [_part(as_object(part), f"{place}[{index}]", role, work) for index, part in enumerate(content)]
    return [part for part in parts if part is not None]


# --- Responses -----------------------------------------------------------------------


def _responses(body: JSONObject, work: ApiWork) -> None:
    items: list[JSON] = []
    for index, message in enumerate(objects_in(body.get("messages"))):
        items += _items(message, f"messages[{index}]", work)
    work.body["input"] = items
    if "tools" in body:
        work.body["tools"] = [
            {"type": "function", **function, "parameters": function.get("parameters")}
            for function in (as_object(tool.get("function")) for tool in objects_in(body["tools"]))
        ]
    choice = body.get("tool_choice")
    if choice is not None:
        work.body["tool_choice"] = choice if isinstance(choice, str) else _flat_choice(as_object(choice))
    if "parallel_tool_calls" in body:
        work.body["parallel_tool_calls"] = body["parallel_tool_calls"]
    if (limit := limit_of(body)) is not None:
        work.body["max_output_tokens"] = limit


def _flat_choice(choice: JSONObject) -> JSONObject:
    """Return a choice of a tool, or among some, as Responses has it."""
    if choice.get("type") != "allowed_tools":
        return {"type": "function", "name": as_object(choice.get("function")).get("name")}
    allowed = as_object(choice.get("allowed_tools"))
    tools: list[JSON] = [
        {"type": "function", "name": as_object(one.get("function")).get("name")}
        for one in objects_in(allowed.get("tools"))
    ]
    return {"type": "allowed_tools", "mode": allowed.get("mode", "auto"), "tools": tools}


def _items(message: JSONObject, place: str, work: ApiWork) -> Iterator[JSONObject]:
    role, content = str(message.get("role", "user")), message.get("content")
    work.note_other_fields(message, place)
    if role == "tool":
        output = text_of_parts(content, f"{place}.content", work)
        yield {"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": output}
        return
    if reasoning := reasoning_of(message):
        text: JSONObject = {"type": "reasoning_text", "text": reasoning}
        yield {"type": "reasoning", "id": f"rs_{place[9:-1]}", "summary": [], "content": [text]}
    calls = [*_calls_of(message, place, work)]
    if content or not (calls or reasoning):
        converted = _content(content, f"{place}.content", role, work)
        if role == "assistant" and isinstance(
            converted, list
        ):  # servers take parts of the assistant only in an output item
            item: JSONObject = {"type": "message", "id": f"msg_{place[9:-1]}", "status": "completed"}
            yield {**item, "role": role, "content": converted}
        else:
            yield {"role": role, "content": "" if converted is None else converted}  # servers refuse a null
    for _, call, function in calls:
        name, arguments = function.get("name"), function.get("arguments", "")
        yield {"type": "function_call", "call_id": call.get("id"), "name": name, "arguments": arguments}


# --- Messages ------------------------------------------------------------------------


def _messages(body: JSONObject, work: ApiWork) -> None:
    given = [(f"messages[{index}]", message) for index, message in enumerate(objects_in(body.get("messages")))]
    others = (at for at, (_, message) in enumerate(given) if message.get("role") not in ("system", "developer"))
    first = next(others, len(given))
    leading = [*_leading(given[:first], work)]
    if leading:
        blocks: list[JSON] = [{"type": "text", "text": text} for text in leading]
        work.body["system"] = leading[0] if len(leading) == 1 else blocks
    if len(leading) > 1:
        work.note_loss("messages", f"The {len(leading)} leading system messages became blocks of one `system`.")
    made: list[JSON] = []
    results: list[JSON] = []
    for place, message in given[first:]:
        work.note_other_fields(message, place)
        if message.get("role") != "tool":
            results = []
            made.append(_message(message, place, work))
            continue
        if not results:  # the results of one turn are in one message
            made.append({"role": "user", "content": results})
        result = text_of_parts(message.get("content"), f"{place}.content", work)
        results.append({"type": "tool_result", "tool_use_id": message.get("tool_call_id"), "content": result})
    work.body["messages"] = made
    if "tools" in body:
        functions = enumerate(as_object(tool.get("function")) for tool in objects_in(body["tools"]))
        work.body["tools"] = [_tool(one, f"tools[{at}].function", work) for at, one in functions]
    _choice(body, work)
    limit = limit_of(body)
    if limit is None:
        work.note_loss("max_tokens", f"Messages requires `max_tokens`: {_MAX_TOKENS:,} was set.")
    work.body["max_tokens"] = _MAX_TOKENS if limit is None else limit


def _leading(given: list[tuple[str, JSONObject]], work: ApiWork) -> Iterator[str]:
    """Yield the texts of the system messages that lead."""
    for place, message in given:
        text = text_of_parts(message.get("content"), f"{place}.content", work)
        if text:
            yield text
        else:
            work.note_no_place(f"{place}.content", "An empty system message")


def _message(message: JSONObject, place: str, work: ApiWork) -> JSONObject:
    role, content = str(message.get("role", "user")), message.get("content")
    calls = [*_calls_of(message, place, work)]
    reasoning = reasoning_of(message)
    if not calls and not reasoning:
        return {"role": role, "content": _content(content, f"{place}.content", role, work) or ""}
    blocks: list[JSON] = [{"type": "thinking", "thinking": reasoning, "signature": ""}] if reasoning else []
    if isinstance(content, str) and content:
        blocks.append({"type": "text", "text": content})
    elif isinstance(parts := _content(content, f"{place}.content", role, work), list):
        blocks += parts
    for at, call, function in calls:
        given = work.arguments(function.get("arguments"), f"{at}.function.arguments", "input")
        blocks.append({"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": given})
    return {"role": role, "content": blocks}


def _tool(function: JSONObject, place: str, work: ApiWork) -> JSONObject:
    tool: JSONObject = {"name": function.get("name")}
    for name, value in function.items():
        if name in ("description", "strict"):
            tool[name] = value
        elif name not in ("name", "parameters") and value is not None:
            work.note_no_place(f"{place}.{name[:40]}", f"`{name[:40]}` of a tool")
    schema = function.get("parameters")
    if not isinstance(schema, dict):
        work.note_loss(
            f"{place}.parameters", "A tool of Messages needs an `input_schema`: the one of an empty object was set."
        )
        schema = {"type": "object", "properties": {}}
    return {**tool, "input_schema": schema}


def _choice(body: JSONObject, work: ApiWork) -> None:
    choice = body.get("tool_choice")
    made: JSONObject = {}
    if isinstance(choice, str):
        made = {"type": _CHOICES.get(choice, choice)}
    elif isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        mode = as_object(choice.get("allowed_tools")).get("mode")
        made = {"type": "any" if mode == "required" else "auto"}
        work.note_loss(
            "tool_choice", "A choice among some of the tools has no place in Messages: each of them may be called."
        )
    elif isinstance(choice, dict):
        made = {"type": "tool", "name": as_object(choice.get("function")).get("name")}
    if body.get("parallel_tool_calls") is False and body.get("tools"):
        made = {**(made or {"type": "auto"}), "disable_parallel_tool_use": True}
    if made:
        work.body["tool_choice"] = made


_WRITERS: Mapping[Api, Callable[[JSONObject, ApiWork], None]] = {
    Api.RESPONSES: _responses,
    Api.MESSAGES: _messages,
    Api.GEMINI: write_gemini,
}
