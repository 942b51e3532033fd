"""Causes that concern the content of messages: text or a list of parts."""

from __future__ import annotations

import json

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import clipped
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render.trace.derive import added_text, derived_array, derived_object, peek, peek_all, unwrap
from prompt_debugger.core.render.trace.runs import Field
from prompt_debugger.core.render.trace.strings import TracedStr, traced
from prompt_debugger.core.render.trace.values import Origin, TracedDict, TracedList
from prompt_debugger.core.render.vllm_view.view import View, entries_of, path_of, role_of

_BILLING_HEADER = "x-anthropic-billing-header"
_TEXT_KEY = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "thinking": "thinking",
    "refusal": "refusal",
    "tool_reference": "name",
}
_MEDIA = {
    "image_url": "image",
    "input_image": "image",
    "audio_url": "audio",
    "input_audio": "audio",
    "video_url": "video",
}
# Keys of content parts that vLLM knows; it passes the others on.
_PART_KEYS = frozenset(
    {
        *("type", "text", "thinking", "refusal", "name", "uuid", "closed", "data", "file", "prompt_cache_breakpoint"),
        *("image_url", "image_pil", "image_embeds", "input_audio", "audio_url", "audio_embeds"),
        *("video_url", "video_embeds"),
    }
)
_SHOWN = 60  # characters of a value that a sentence quotes


def strip_billing_header(view: View) -> None:
    """A system text that begins with a certain billing header loses that line."""
    for index, message in enumerate(view.messages):
        content = peek(message, "content")
        if role_of(message) == "system" and isinstance(content, TracedStr) and content.startswith(_BILLING_HEADER):
            rest = content.partition("\n")[2]
            view.put(index, "content", rest if rest else derived_array((), _place(message), Origin.INSIDE))
            view.changes.append(f"removed the first line of `{path_of(message, 'content')}`, a billing header")


def content_as_parts(view: View) -> None:
    """Content format `openai`: a text becomes a list with one text part, parts are put in vLLM's form.

    A tool message is an exception: its text parts are joined to a text.
    """
    for index, message in enumerate(view.messages):
        content = peek(message, "content")
        if role_of(message) == "tool":
            _put(view, index, content, _joined(message, content, keeps_empty=True), "openai")
        elif content is None:
            _put(view, index, content, derived_array((), _place(message), Origin.INSIDE), "openai")
        elif isinstance(content, TracedStr):
            part = _text_part(content, _place(message))
            _put(view, index, content, derived_array((part,), _place(message), Origin.INSIDE), "openai")
        elif isinstance(content, TracedList):
            parts = [_normal_part(part, content._field) for part in peek_all(content)]
            _put(
                view,
                index,
                content,
                derived_array([part for part in parts if part is not None], content._field),
                "openai",
            )


def media_parts(view: View) -> None:
    """Parts with media lose what they hold: the template gets `{"type": "image"}` for an `image_url`."""
    for index, message in enumerate(view.messages):
        content = peek(message, "content")
        parts = peek_all(content) if isinstance(content, TracedList) else []
        kinds = [peek(part, "type") for part in parts]
        if not isinstance(content, TracedList) or not any(str(kind) in _MEDIA for kind in kinds):
            continue
        made = [
            _normal_part(part, content._field) if str(kind) in _MEDIA else part
            for part, kind in zip(parts, kinds, strict=True)
        ]
        view.put(index, "content", derived_array(made, content._field))
        view.changes.extend(
            f"handed `{path_of(message, 'content')}[{at}]` on as `{_MEDIA[str(kind)]}`"
            for at, kind in enumerate(kinds)
            if str(kind) in _MEDIA
        )


def has_media(messages: JSON) -> bool:
    """Return whether a message of a request contains a media part that vLLM passes on in another form."""
    contents = [as_object(message).get("content") for message in (messages if isinstance(messages, list) else [])]
    return any(
        as_object(part).get("type") in _MEDIA for content in contents if isinstance(content, list) for part in content
    )


def content_as_text(view: View) -> None:
    """Content format `string`: null becomes "", and a list of texts is joined with line breaks."""
    join_parts(view, keeps_empty=False)


def join_parts(view: View, *, keeps_empty: bool) -> None:
    """Turn every content into one text."""
    for index, message in enumerate(view.messages):
        content = peek(message, "content")
        _put(view, index, content, _joined(message, content, keeps_empty=keeps_empty), "string")


def _place(message: TracedDict) -> Field:
    return Field(message._field, "content")


def _put(view: View, index: int, was: object, made: object, content_format: str) -> None:
    """Replace the content of a message, and note a change if its value is another one."""
    message = view.messages[index]
    if made is None or (dict.__contains__(message, "content") and _same(made, was)):
        return
    view.put(index, "content", made)
    change = f"{_quoted(was)} into {_quoted(made)} (content format `{content_format}`)"
    view.changes.append(f"turned `{path_of(message, 'content')}` {change}")


def _same(made: object, was: object) -> bool:
    return json.dumps(unwrap(made)) == json.dumps(unwrap(was))


def _quoted(value: object) -> str:
    plain = unwrap(value)
    text = json.dumps(plain, ensure_ascii=False) if isinstance(plain, str) or plain is None else repr(plain)
    return clipped(text, _SHOWN)


def _text_part(text: TracedStr, place: Field) -> TracedDict:
    return derived_object({"type": added_text("text", place), "text": text}, place, Origin.INSIDE)


def _normal_part(part: object, place: Field) -> object:
    """Return a content part as vLLM passes it on; `None` if it drops it."""
    if isinstance(part, TracedStr):
        return _text_part(part, place)
    kind = peek(part, "type")
    if not isinstance(part, TracedDict) or not isinstance(kind, str):
        return part
    extra = {key: value for key, value in entries_of(part).items() if key not in _PART_KEYS}
    if kind in _MEDIA:
        return derived_object({"type": added_text(_MEDIA[kind], Field(part._field, "type")), **extra}, part._field)
    text = _part_text(part)
    if kind == "tool_reference":
        return derived_object({"type": kind, "name": text}, part._field)
    if kind not in _TEXT_KEY:
        return part
    if text is None:
        return None
    shown = kind if kind == "text" else added_text("text", Field(part._field, "type"))
    return derived_object({"type": shown, "text": text, **extra}, part._field)


def _joined(message: TracedDict, content: object, *, keeps_empty: bool) -> TracedStr | None:
    """Return a content as one text; `None` if it is one text already, or contains more than texts."""
    if content is None:
        return traced("", ())
    if not isinstance(content, TracedList):
        return None
    texts: list[TracedStr] = []
    for part in peek_all(content):
        text = part if isinstance(part, TracedStr) else _part_text(part)
        if text is None and peek(part, "type") not in _TEXT_KEY:
            return None
        if text is not None and (text or keeps_empty):
            texts.append(text)
    return added_text("\n", _place(message)).join(texts)


def _part_text(part: object) -> TracedStr | None:
    kind = peek(part, "type")
    text = peek(part, _TEXT_KEY.get(kind, "text")) if isinstance(kind, str) else None
    return text if isinstance(text, TracedStr) else None
