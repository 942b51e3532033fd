"""Where in the request the cause of a server's refusal is: looked up for the sentences that are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, pairwise
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_list, as_object, as_text, decode_json
from prompt_debugger.core.base.types import JSON, JSONObject, Request
from prompt_debugger.core.diagnose.fields import (
    CallField,
    calls_of_message,
    content_of,
    content_parts,
    history_calls,
    numbered_messages,
    reasoning_of,
    request_tools,
    texts_inside,
)
from prompt_debugger.core.diagnose.markers import MEDIA_PLACEHOLDERS
from prompt_debugger.core.diagnose.schemas import walk_schema
from prompt_debugger.core.known_errors import Look

MAX_SPOTS = 3
NINE = re.compile(r"[A-Za-z0-9]{9}")
_MEDIA = frozenset({"image_url", "input_image", "image", "video_url", "video", "input_audio", "audio_url", "audio"})
# Of regular expressions, and not of llama.cpp's grammars: classes of characters, edges of words, looking around.
_ESCAPE = re.compile(r"\\[dDwWsSbB]|\(\?<?[=!]")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SYSTEM = ("system", "developer")


class Spot(NamedTuple):
    """A place in the request that explains a refusal.

    Attributes:
        field: Its path.
        says: What is wrong there, in a sentence.
        quote: The value, where one line shows it.
    """

    field: str
    says: str
    quote: str | None = None


def spots_of(request: Request, look: Look | None, parts: Mapping[str, str]) -> tuple[Spot, ...]:
    """Return the first places of the request that an error is about; none where it contains no such place.

    Args:
        request: What was asked.
        look: What to look for.
        parts: What the words of the error name.
    """
    if look is None or not request.body:
        return ()
    return tuple(islice(_LOOKS[look](request, parts), MAX_SPOTS))


def _roles(request: Request) -> list[tuple[int, str]]:
    return [(index, as_text(message.get("role")) or "") for index, message in numbered_messages(request)]


def _roles_alternate(request: Request, parts: Mapping[str, str]) -> Iterator[Spot]:
    roles = _roles(request)
    wanted = (parts.get("before"), parts.get("role"))
    for (before_index, before), (index, role) in pairwise(roles):
        pair = f"`messages[{before_index}]` and `messages[{index}]`"
        field = f"messages[{index}].role"
        if all(wanted):
            if (before, role) == wanted:
                yield Spot(
                    field,
                    f"`messages[{index}]` has the role `{role}` and follows a message with the role `{before}`.",
                    role,
                )
        elif role == before and role in ("user", "assistant"):
            yield Spot(field, f"{pair} both have the role `{role}`.", role)
        elif role in _SYSTEM:
            yield Spot(field, f"`messages[{index}]` has the role `{role}` and is not the first message.", role)
        elif before in _SYSTEM and role == "assistant":
            yield Spot(field, f"The first turn, `messages[{index}]`, has the role `assistant`, not `user`.", role)


def _groups(request: Request) -> Iterator[tuple[tuple[CallField, ...], list[tuple[int, JSONObject]]]]:
    """Yield the calls of each message with the tool messages that follow it directly; results without calls, too."""
    calls: tuple[CallField, ...] = ()
    results: list[tuple[int, JSONObject]] = []
    for index, message in numbered_messages(request):
        if message.get("role") == "tool":
            results.append((index, message))
            continue
        yield calls, results
        calls, results = calls_of_message(message, f"messages[{index}]"), []
    yield calls, results


def _open_calls(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for calls, results in _groups(request):
        answered = {as_text(message.get("tool_call_id")) for _, message in results}
        for call in calls:
            if call.id not in answered:
                yield Spot(
                    call.field, f"The call `{call.name}` with id `{call.id}` has no result right after it.", call.id
                )


def _orphan_results(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for calls, results in _groups(request):
        made = {call.id for call in calls}
        for index, message in results:
            call_id = as_text(message.get("tool_call_id"))
            if call_id not in made:
                named = f"`{call_id}`" if call_id else "no call"
                before = "has no call with that id" if calls else "has no call"
                says = f"`messages[{index}]` answers {named}, and the message before the results {before}."
                yield Spot(f"messages[{index}].tool_call_id", says, call_id)


def _ids_of_nine(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for call in history_calls(request):
        if call.id is None or not NINE.fullmatch(call.id):
            says = f"`{call.field}.id` is `{call.id}`: {len(call.id or '')} characters, not nine letters or digits."
            yield Spot(f"{call.field}.id", says, call.id)


def _id_absent(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for call in history_calls(request):
        if call.id in (None, "", "null"):
            yield Spot(f"{call.field}.id", f"The call `{call.name}` has no id.", call.id)


def _reasoning_absent(request: Request, parts: Mapping[str, str]) -> Iterator[Spot]:
    named = parts.get("index")
    for index, message in numbered_messages(request):
        if message.get("role") != "assistant" or reasoning_of(message) is not None:
            continue
        if named == str(index) or (named is None and message.get("tool_calls")):
            yield Spot(f"messages[{index}]", f"`messages[{index}]` is the assistant's and has no `reasoning_content`.")


def _empty_text(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, message in numbered_messages(request):
        content = message.get("content")
        if content == "":
            yield Spot(f"messages[{index}].content", f"The content of `messages[{index}]` is empty.", "")
        for at, part in enumerate(as_list(content)):
            if as_object(part).get("text") == "":
                field = f"messages[{index}].content[{at}].text"
                yield Spot(field, f"`{field}` is empty.", "")


def _tool_names(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for tool in request_tools(request):
        if not _TOOL_NAME.fullmatch(tool.name):
            yield Spot(
                f"{tool.field}.name", f"The name `{tool.name}` contains invalid characters, or is too long.", tool.name
            )


def _last_role(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    roles = _roles(request)
    if roles and roles[-1][1] == "assistant":
        index = roles[-1][0]
        yield Spot(
            f"messages[{index}].role", f"The last message, `messages[{index}]`, has the role `assistant`.", "assistant"
        )


def _system_not_first(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, role in _roles(request):
        if role in _SYSTEM and index > 0:
            says = f"`messages[{index}]` has the role `{role}` and is not the first message."
            yield Spot(f"messages[{index}].role", says, role)


def _no_user(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    roles = [role for _, role in _roles(request)]
    if roles and "user" not in roles:
        yield Spot("messages", f"The roles are {', '.join(f'`{role}`' for role in roles[:8])}: there is no `user`.")


def _several_calls(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, message in numbered_messages(request):
        calls = calls_of_message(message)
        if len(calls) > 1:
            yield Spot(f"messages[{index}].tool_calls", f"`messages[{index}]` makes {len(calls)} calls.")


def _broken_arguments(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for call in history_calls(request):
        text = as_text(call.arguments)
        if text is not None and not isinstance(decode_json(text), dict):
            state = "empty" if not text.strip() else "not a JSON object"
            yield Spot(
                f"{call.field}.function.arguments", f"The arguments of the call `{call.name}` are {state}.", text
            )


def _signature_absent(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, message in numbered_messages(request):
        for at, call in enumerate(as_list(message.get("tool_calls"))):
            if not any(key in ("thought_signature", "thoughtSignature") for key in texts_inside(call)):
                field = f"messages[{index}].tool_calls[{at}]"
                yield Spot(field, f"The call of `{field}` contains no `thought_signature`.")


def _undeclared_tool(request: Request, parts: Mapping[str, str]) -> Iterator[Spot]:
    name, names = parts.get("name"), [tool.name for tool in request_tools(request)]
    if name and names and name not in names:
        known = ", ".join(f"`{one}`" for one in names[:8])
        yield Spot("tools", f"The model called `{name}`; the request declares {known}.")


def _no_mention_of_json(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    texts = [content_of(message) or "" for _, message in numbered_messages(request)]
    if texts and not any("json" in text.lower() for text in texts):
        yield Spot("messages", "No message contains the word `json`.")


def _content_absent(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, message in numbered_messages(request):
        if "content" not in message and not message.get("tool_calls"):
            yield Spot(f"messages[{index}]", f"`messages[{index}]` has no `content`.")


def _content_key_absent(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, message in numbered_messages(request):
        if "content" not in message:
            beside = ", only `tool_calls`" if message.get("tool_calls") else ""
            yield Spot(f"messages[{index}]", f"`messages[{index}]` has no `content`{beside}.")


def _content_null(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, message in numbered_messages(request):
        if "content" in message and message["content"] is None:
            yield Spot(f"messages[{index}].content", f"`messages[{index}].content` is null.")


def _small_limit(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for name in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
        limit = request.body.get(name)
        if isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit < _MIN_LIMIT:
            says = f"`{name}` is {limit}: a model that thinks has used that up before its answer begins."
            yield Spot(name, says, str(limit))


def _no_form(request: Request, parts: Mapping[str, str]) -> Iterator[Spot]:
    place = parts.get("place") or ""
    value: JSON = request.body if request.native is None else request.native
    for name, index in _STEP.findall(place):
        if name:
            value = as_object(value).get(name)
        else:
            items = as_list(value)
            value = items[int(index)] if int(index) < len(items) else None
    given = as_object(value)
    shown = [(key, text) for key in ("type", "role") if (text := as_text(given.get(key)))]
    if place and given:
        has = " and ".join(f"the {key} `{text}`" for key, text in shown) or "neither `type` nor `role`"
        yield Spot(place, f"`{place}` has {has}.", shown[0][1] if shown else None)


def _placeholder_in_text(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, message in numbered_messages(request):
        text = content_of(message) or ""
        token = next((token for token in MEDIA_PLACEHOLDERS if token in text), None)
        if token is not None:
            field = f"messages[{index}].content"
            yield Spot(field, f"The text of `messages[{index}]` contains the placeholder `{token}` itself.", token)


def _placeholder_beside_media(request: Request, parts: Mapping[str, str]) -> Iterator[Spot]:
    if any(kind in _MEDIA for _, kind in content_parts(request)):
        for spot in _placeholder_in_text(request, parts):
            says = f"{spot.says} Beside the media of the request, some servers count it as one more item, and fail."
            yield spot._replace(says=says)


def _regex_escapes(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    form = as_object(as_object(request.body.get("response_format")).get("json_schema")).get("schema")
    schemas = [(tool.parameters, f"{tool.field}.parameters") for tool in request_tools(request)]
    for schema, path in (*schemas, (form, "response_format.json_schema.schema")):
        for inner in walk_schema(schema, path):
            pattern = inner.schema.get("pattern")
            found = _ESCAPE.search(pattern) if isinstance(pattern, str) else None
            if found is not None:
                field = f"{inner.path}.pattern"
                yield Spot(field, f"`{field}` contains `{found[0]}`.", found[0])


def _image_of_others(request: Request, _parts: Mapping[str, str]) -> Iterator[Spot]:
    for index, message in numbered_messages(request):
        role = as_text(message.get("role")) or ""
        for at, part in enumerate(as_list(message.get("content"))):
            if role != "user" and as_object(part).get("type") in ("image_url", "input_image", "image"):
                field = f"messages[{index}].content[{at}]"
                yield Spot(field, f"`{field}` is an image in a message of the role `{role}`.", role)


_STEP = re.compile(r"([A-Za-z_]\w{0,80})|\[(\d{1,6})\]")


def broken_calls_in(text: str) -> tuple[str, ...]:
    """Return what is wrong with the calls that a sentence prints as Python, such as LiteLLM's.

    >>> broken_calls_in("[{'function': {'name': 'goto', 'arguments': ''}}]")
    ('The call `goto` has empty arguments.',)
    """
    found = []
    for call in _PRINTED_CALL.finditer(text):
        arguments = call[2]
        if not isinstance(decode_json(arguments.replace("\\'", "'")), dict):
            state = "empty arguments" if not arguments.strip() else "arguments that are not a JSON object"
            found.append(f"The call `{call[1]}` has {state}.")
    return tuple(found[:MAX_SPOTS])


_MIN_LIMIT = 100  # tokens that an answer after some thinking needs
_PRINTED_CALL = re.compile(r"'name': '([^']{1,120})', 'arguments': '([^']{0,2000})'")

_Looker = Callable[[Request, Mapping[str, str]], Iterator[Spot]]
_LOOKS: Mapping[Look, _Looker] = {
    Look.ROLES_ALTERNATE: _roles_alternate,
    Look.OPEN_CALLS: _open_calls,
    Look.ORPHAN_RESULTS: _orphan_results,
    Look.IDS_OF_NINE: _ids_of_nine,
    Look.ID_ABSENT: _id_absent,
    Look.REASONING_ABSENT: _reasoning_absent,
    Look.EMPTY_TEXT: _empty_text,
    Look.TOOL_NAMES: _tool_names,
    Look.LAST_ROLE: _last_role,
    Look.SYSTEM_NOT_FIRST: _system_not_first,
    Look.NO_USER: _no_user,
    Look.SEVERAL_CALLS: _several_calls,
    Look.BROKEN_ARGUMENTS: _broken_arguments,
    Look.SIGNATURE_ABSENT: _signature_absent,
    Look.UNDECLARED_TOOL: _undeclared_tool,
    Look.NO_MENTION_OF_JSON: _no_mention_of_json,
    Look.CONTENT_ABSENT: _content_absent,
    Look.CONTENT_KEY_ABSENT: _content_key_absent,
    Look.CONTENT_NULL: _content_null,
    Look.SMALL_LIMIT: _small_limit,
    Look.NO_FORM: _no_form,
    Look.PLACEHOLDER_IN_TEXT: _placeholder_in_text,
    Look.PLACEHOLDER_BESIDE_MEDIA: _placeholder_beside_media,
    Look.REGEX_ESCAPES: _regex_escapes,
    Look.IMAGE_OF_OTHERS: _image_of_others,
}
