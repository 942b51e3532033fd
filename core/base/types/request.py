"""1 · What someone asked."""

from __future__ import annotations

from typing import Literal

from prompt_debugger.core.base.types.base import Api, JSONObject
from prompt_debugger.core.base.types.frozen import value


@value(frozen=True, slots=True)
class Notice:
    """Something about the request that is worth saying and is not an error.

    Attributes:
        field: Path of the field, such as `messages[0].content`.
        message: What is to be said about it, one sentence.
        line: Line in the pasted text, from 1, where known.
        column: Column in the pasted text, from 1, where known.
    """

    field: str
    message: str
    line: int | None = None
    column: int | None = None


@value(frozen=True, slots=True)
class Request:
    """A chat completion request as someone wrote it.

    Attributes:
        body: The body, complete: nothing unknown is thrown away.
        text: What was pasted if that was the body in plain JSON, else the body as JSON: the rest may contain keys.
        source: The form it was pasted in.
        base_url: Server address named in a pasted command, up to and including `/v1`.
        notices: Fields that a server would ignore, and repairs made while reading.
        api: The API that the pasted body is of.
        native: That body, where it is not of chat completions; `body` is then what it converts to.
    """

    body: JSONObject
    text: str
    source: Literal["json", "curl", "python"] = "json"
    base_url: str | None = None
    notices: tuple[Notice, ...] = ()
    api: Api = Api.CHAT
    native: JSONObject | None = None

    @property
    def messages(self) -> tuple[JSONObject, ...]:
        """The messages that are objects, in order."""
        messages = self.body.get("messages")
        return tuple(m for m in messages if isinstance(m, dict)) if isinstance(messages, list) else ()

    @property
    def tools(self) -> tuple[JSONObject, ...]:
        """The tool specs that are objects, in order."""
        tools = self.body.get("tools")
        return tuple(t for t in tools if isinstance(t, dict)) if isinstance(tools, list) else ()
