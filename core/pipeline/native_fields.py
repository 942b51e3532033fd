"""Findings on a run through another API, with places in that API's own bodies and answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import Api, ChatResult, Finding, FindingEvidence, JSONObject, Trace
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.complete.dialects._received import objects_of_stream
from prompt_debugger.core.complete.shapes import parse_object
from prompt_debugger.core.request import convert_as, place_in

_NAMES: Mapping[Api, Mapping[str, str]] = {
    Api.CHAT: {},
    Api.RESPONSES: {
        "max_completion_tokens": "max_output_tokens",
        "response_format": "text.format",
        "reasoning_effort": "reasoning.effort",
    },
    Api.MESSAGES: {"stop": "stop_sequences", "parallel_tool_calls": "tool_choice.disable_parallel_tool_use"},
    Api.GEMINI: {
        "max_tokens": "generationConfig.maxOutputTokens",
        "stop": "generationConfig.stopSequences",
        "temperature": "generationConfig.temperature",
        "seed": "generationConfig.seed",
        "response_format": "generationConfig.responseJsonSchema",
        "tool_choice": "toolConfig.functionCallingConfig",
    },
}
_STOP_WORDS: Mapping[Api, Mapping[str, str]] = {
    Api.CHAT: {},
    Api.RESPONSES: {
        "length": "`status: incomplete`",
        "stop": "`status: completed`",
        "tool_calls": "`status: completed`",
    },
    Api.MESSAGES: {
        "length": "`stop_reason: max_tokens`",
        "stop": "`stop_reason: end_turn` or `stop_sequence`",
        "tool_calls": "`stop_reason: tool_use`",
    },
    Api.GEMINI: {
        "length": "`finishReason: MAX_TOKENS`",
        "stop": "`finishReason: STOP`",
        "tool_calls": "`finishReason: STOP`",
    },
}
_IMAGES = frozenset({"image", "input_image", "inlineData", "inline_data", "fileData", "file_data"})
_SIGNATURES = frozenset({"signature", "thoughtSignature", "thought_signature"})
_MARKS = ("cache_control", "encrypted_content", *sorted(_SIGNATURES), *sorted(_IMAGES))
_OF_CLIENTS = frozenset({"function", "custom", "namespace", "functionDeclarations", "function_declarations"})
_PARTS = {  # by kind of item or block: the part of the message, where it is in the item, and its arguments
    "message": ("content", ".content[0].text"),
    "reasoning": ("reasoning", ".content[0].text"),
    "text": ("content", ".text"),
    "thinking": ("reasoning", ".thinking"),
}
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "tool_use": "input"}


def add_native_fields(trace: Trace) -> Trace:
    """Return a run whose findings name the places in the pasted body and in the API's own answer, too."""
    request = trace.request
    origins: dict[str, str] = {}
    if request.native is not None and (converted := convert_as(request.api, request.native)) is not None:
        is_same = converted.body == request.body
        origins = {**_NAMES[request.api], **converted.origins} if is_same else {}
    answered = {} if trace.chat is None or trace.api is Api.CHAT else _answer_paths(trace.api, trace.chat.body)
    if not origins and not answered:
        return trace
    maps = {"request": origins, "message": answered}
    return replace(trace, findings=tuple(_renamed(finding, maps) for finding in trace.findings))


def _answer_paths(api: Api, body: str) -> dict[str, str]:
    """Return, by path of the message, where that is in the answer of another API, whole or streamed."""
    if api is Api.GEMINI:
        return _gemini_paths(body)
    holder = "output" if api is Api.RESPONSES else "content"
    answer = parse_object(body) if body.lstrip().startswith("{") else _read_stream(body, holder)
    paths: dict[str, str] = {}
    count = 0
    for index, item in enumerate(objects_in(answer.get(holder))):
        kind, place = as_text(item.get("type")) or "", f"{holder}[{index}]"
        if kind in _CALLS:
            at = f"tool_calls[{count}]"
            count += 1
            paths |= {at: place, f"{at}.function": place, f"{at}.function.arguments": f"{place}.{_CALLS[kind]}"}
        elif kind in _PARTS:
            part, within = _PARTS[kind]
            paths.setdefault(part, place + within)
    return paths


def _gemini_paths(body: str) -> dict[str, str]:
    """Return the same of Gemini's parts; a stream has its parts in several answers, which have no common places."""
    candidates = objects_in(parse_object(body).get("candidates")) if body.lstrip().startswith("{") else ()
    parts = objects_in(as_object(candidates[0].get("content")).get("parts")) if candidates else ()
    paths: dict[str, str] = {}
    count = 0
    for index, part in enumerate(parts):
        place = f"candidates[0].content.parts[{index}]"
        if "functionCall" in part:
            at, call = f"tool_calls[{count}]", f"{place}.functionCall"
            count += 1
            paths |= {at: call, f"{at}.function": call, f"{at}.function.arguments": f"{call}.args"}
        elif "text" in part:
            paths.setdefault("reasoning" if part.get("thought") is True else "content", f"{place}.text")
    return paths


def _read_stream(text: str, holder: str) -> JSONObject:
    """Return the answer that a stream ends with, or its blocks as they began."""
    blocks: dict[int, JSONObject] = {}
    for value in objects_of_stream(text):
        response = as_object(value.get("response"))
        if response.get(holder):
            return response
        if (block := as_object(value.get("content_block"))) and (index := as_count(value.get("index"))) is not None:
            blocks[index] = block
    return {holder: [blocks[index] for index in sorted(blocks)]}


def _renamed(finding: Finding, maps: Mapping[str, Mapping[str, str]]) -> Finding:
    return replace(finding, evidence=tuple(_placed(one, maps.get(one.where, {})) for one in finding.evidence))


def _placed(item: FindingEvidence, places: Mapping[str, str]) -> FindingEvidence:
    field = item.field
    if field is None or item.native_field is not None:
        return item
    place = place_in(places, field)
    return item if place is None else replace(item, native_field=place)


def notes_on_native(trace: Trace) -> tuple[str, ...]:
    """Return what does not show of a run that another API was asked by, a sentence each."""
    if trace.sent_native is None:
        return ()
    return (*_unseen(trace.sent_native), *_stop_words(trace.api, trace.chat))


def _unseen(body: JSONObject) -> Iterator[str]:
    if body.get("previous_response_id"):
        yield (
            "`previous_response_id` names an answer that the server keeps: what it adds to the prompt is visible "
            "only if the server reports its prompt."
        )
    if body.get("store") is True or body.get("background") is True:
        yield "Whether the server keeps the answer, as `store` or `background` asks, was not checked."
    tools = body.get("tools")
    kinds = [_kind_of_tool(as_object(tool)) for tool in tools] if isinstance(tools, list) else []
    built_in = [f"`{kind[:40]}`" for kind in dict.fromkeys(kinds) if kind not in _OF_CLIENTS]
    if built_in:
        yield f"Tools that the server runs itself ({', '.join(built_in)}) leave no call to check."
    found = {*_marks_in(body)}
    if "cache_control" in found:
        yield "Whether the server used `cache_control` shows only in its usage, if at all; it was not checked."
    if found & _IMAGES:
        yield "Images were sent as they are; what the model saw of them is unknown."
    if "encrypted_content" in found:
        yield "Encrypted reasoning was sent as it is; what the server reads of it is unknown."
    if found & _SIGNATURES:
        yield "Signatures of thinking blocks were sent as they are; whether the server checks them is unknown."


def _kind_of_tool(tool: JSONObject) -> str:
    """Return the type of a tool; one of Gemini's is named by its only field."""
    if "type" not in tool and "name" not in tool and "function" not in tool and tool:
        return str(next(iter(tool)))
    return str(tool.get("type", "custom"))


def _marks_in(body: JSONObject) -> Iterator[str]:
    """Yield names of fields and types of parts, at any depth of the messages."""
    waiting = [body.get(name) for name in ("messages", "input", "system", "contents")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from (name for name in _MARKS if value.get(name))
            yield str(value.get("type"))
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _stop_words(api: Api, chat: ChatResult | None) -> Iterator[str]:
    """Yield what this API calls the end that is named here in the words of chat completions."""
    reason = None if chat is None else chat.finish_reason
    if reason is not None and (own := _STOP_WORDS[api].get(reason)) is not None:
        yield f"Findings use the words of chat completions: `finish_reason: {reason}` is {own} of this API."
