"""A body of another API as it is built from a chat completion body, with notices of what has no place in it."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from prompt_debugger.core.base.json_values import objects_in
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Notice
from prompt_debugger.core.request.body_work import MAX_NOTICES

LIMITS = ("max_completion_tokens", "max_tokens")
_DATA_URL = re.compile(r"data:([\w.+-]{1,40}/[\w.+-]{1,80});base64,(.*)", re.DOTALL)
_OF_MESSAGES = frozenset({"role", "content", "tool_calls", "tool_call_id", "reasoning", "reasoning_content"})


@dataclass(slots=True)
class ApiWork:
    """The body as built so far, and a notice for each thing that was left out or changed."""

    api: Api
    body: JSONObject = field(default_factory=dict)
    lost: list[Notice] = field(default_factory=list)

    def note_loss(self, place: str, words: str) -> None:
        """Add a notice of what was left out or changed."""
        if len(self.lost) < MAX_NOTICES:
            self.lost.append(Notice(place, words))

    def note_no_place(self, place: str, subject: str) -> None:
        """Add a notice that something has no place in this API."""
        self.note_loss(place, f"{subject} has no place in {self.api.label} and was left out.")

    def note_other_fields(self, message: JSONObject, place: str) -> None:
        """Add a notice for each field of a message that has no place in this API."""
        for name, value in message.items():
            if name not in _OF_MESSAGES and value is not None:
                self.note_no_place(f"{place}.{name[:40]}", f"`{name[:40]}` of a message")

    def arguments(self, arguments: JSON, place: str, name: str) -> JSONObject:
        """Return the arguments of a call as an object, which is what the API's field `name` takes."""
        value: JSON = arguments
        if isinstance(arguments, str):
            value = None
            with suppress(ValueError, RecursionError):
                value = json.loads(arguments)
        if not isinstance(value, dict):
            self.note_loss(place, f"The arguments are not a JSON object, which `{name}` has to be: it was left empty.")
            return {}
        if isinstance(arguments, str) and arguments not in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
            self.note_loss(
                place, f"The spelling of the arguments (spaces, escapes) is lost: `{name}` is an object, not a string."
            )
        return value


class Data(NamedTuple):
    """What a `data:` URL holds: its type, and its text in base 64."""

    mime: str
    text: str


def data_of_url(url: str) -> Data | None:
    """Return what a `data:` URL holds; `None` of any other URL."""
    found = _DATA_URL.fullmatch(url)
    return None if found is None else Data(found[1], found[2])


def limit_of(body: JSONObject) -> JSON:
    """Return how many tokens an answer may have; `None` if the body does not say."""
    return next((body[name] for name in LIMITS if body.get(name) is not None), None)


def reasoning_of(message: JSONObject) -> str:
    """Return the reasoning of a message."""
    return next((text for name in ("reasoning", "reasoning_content") if isinstance(text := message.get(name), str)), "")


def text_of_parts(content: JSON, place: str, work: ApiWork) -> str:
    """Return content as one text."""
    if isinstance(content, str) or content is None:
        return content or ""
    texts = [str(part.get("text", "")) for part in objects_in(content) if part.get("type") == "text"]
    if len(texts) < len(objects_in(content)):
        work.note_loss(place, "The parts of this content that are not text were left out.")
    else:
        work.note_loss(place, "The parts of this content were joined into one text.")
    return "\n".join(texts)
