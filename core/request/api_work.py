"""A body of another API that is being made of a chat completion body, and what it has no place for."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, Api, JSONObject, Notice
from prompt_debugger.core.request.body_work import MAX_NOTICES, objects_in

LIMITS = ("max_completion_tokens", "max_tokens")
_DATA_URL = re.compile(r"data:([\w.+-]{1,40}/[\w.+-]{1,80});base64,(.*)", re.DOTALL)
_OWN = frozenset({"role", "content", "tool_calls", "tool_call_id", "reasoning", "reasoning_content"})


@dataclass(slots=True)
class ApiWork:
    """The body, and a notice for each thing that was lost."""

    api: Api
    body: JSONObject = field(default_factory=dict)
    lost: list[Notice] = field(default_factory=list)

    def lose(self, place: str, words: str) -> None:
        """Say what was left out or changed."""
        if len(self.lost) < MAX_NOTICES:
            self.lost.append(Notice(place, words))

    def has_no_place(self, place: str, subject: str) -> None:
        """Say that something has no place."""
        self.lose(place, f"{subject} has no place in {self.api.label} and was left out.")

    def own_fields(self, message: JSONObject, place: str) -> None:
        """Say which fields of a message have no place."""
        for name, value in message.items():
            if name not in _OWN and value is not None:
                self.has_no_place(f"{place}.{name[:40]}", f"`{name[:40]}` of a message")

    def arguments(self, arguments: JSON, place: str, name: str) -> JSONObject:
        """Return the arguments of a call as an object, which the API has under `name` in place of their text."""
        value: JSON = arguments
        if isinstance(arguments, str):
            value = None
            with suppress(ValueError, RecursionError):
                value = json.loads(arguments)
        if not isinstance(value, dict):
            self.lose(place, f"The arguments are not a JSON object, which `{name}` has to be: it was left empty.")
            return {}
        if isinstance(arguments, str) and arguments not in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
            self.lose(
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
        work.lose(place, "The parts of this content that are not text were left out.")
    else:
        work.lose(place, "The parts of this content were joined into one text.")
    return "\n".join(texts)
