"""What every dialect is made of: how it knows an answer or an event, and how it reads them as chat completions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from prompt_debugger.core.base.json_values import text_or_json
from prompt_debugger.core.base.types import JSON, Api, ChatResult, JSONObject, StreamDelta, Usage
from prompt_debugger.core.complete.assemble import MessageAssembler
from prompt_debugger.core.complete.dialects._answer import Answer

COPIED = "The stream was copied"  # of one that was pasted
NO_END = "the stream ended without a finish reason"
NO_BEGIN = "; its beginning is missing, too"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One API's way of writing answers.

    Attributes:
        api: Its name for a person: `Anthropic's Messages API`.
        is_answer: Whether a JSON object is an answer of it.
        read_answer: Reads one.
        is_event: Whether a JSON object is an event of its stream.
        read_events: Reads the events of a stream, in order; the text is the stream as it was pasted.
        asked_as: Which API of a server a request goes to; `None` if this program asks no server by it.
    """

    api: str
    is_answer: Callable[[JSONObject], bool]
    read_answer: Callable[[JSONObject], Answer]
    is_event: Callable[[JSONObject], bool]
    read_events: Callable[[Sequence[JSONObject], str], Answer]
    asked_as: Api | None = None


@dataclass(slots=True)
class Notes:
    """Sentences on what has no place in a message of chat completions."""

    notes: list[str] = field(default_factory=list)

    def note(self, words: str) -> None:
        """Keep a sentence, once."""
        if words not in self.notes and len(self.notes) < 20:
            self.notes.append(words)


@dataclass(slots=True)
class MessageDraft(Notes):
    """A message that is made of blocks, items or parts of another API."""

    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    calls: list[JSON] = field(default_factory=list)

    def call(self, call_id: JSON, name: JSON, arguments: JSON) -> None:
        """Add a tool call; arguments that are not a text are written as one."""
        function: JSONObject = {"name": name, "arguments": text_or_json(arguments)}
        named: JSONObject = {} if call_id is None else {"id": call_id}
        self.calls.append({**named, "type": "function", "function": function})

    def message(self, separator: str = "\n") -> JSONObject:
        """Return the message; content is `None` where no text was written."""
        message: JSONObject = {"role": "assistant", "content": "".join(self.texts) or None}
        if self.reasoning:
            message["reasoning"] = separator.join(self.reasoning)
        if self.refusals:
            message["refusal"] = "".join(self.refusals)
        return {**message, "tool_calls": [*self.calls]} if self.calls else message


class StreamDraft(Notes):
    """A stream of another API as the deltas that a stream of chat completions would have had."""

    def __init__(self) -> None:
        super().__init__()
        self._assembler = MessageAssembler()
        self._deltas: list[StreamDelta] = []
        self.finish_reason: str | None = None
        self.stop_reason: str | None = None
        self.usage: Usage | None = None
        self.error: str | None = None

    def add(self, delta: JSONObject, finish_reason: str | None = None) -> None:
        """Take what an event adds."""
        self._assembler.add(delta)
        self._deltas.append(StreamDelta(delta, None, finish_reason, 0.0))
        self.finish_reason = finish_reason or self.finish_reason

    def call(
        self, index: int, call_id: JSON = None, name: JSON = None, arguments: JSON = None, *, extra: JSON = None
    ) -> None:
        """Take a part of a tool call."""
        function: JSONObject = {} if name is None else {"name": name}
        if arguments is not None:
            function["arguments"] = text_or_json(arguments)
        part: JSONObject = {"index": index, "function": function}
        if call_id is not None:
            part |= {"id": call_id, "type": "function"}
        self.add({"tool_calls": [part if extra is None else {**part, "extra_content": extra}]})

    def fail(self, words: str) -> None:
        """Keep the first thing that went wrong."""
        self.error = self.error or words

    @property
    def message(self) -> JSONObject:
        """The message so far."""
        return self._assembler.message()

    def answer(self, api: str, body: str, *, is_ended: bool, end: str, begin: str = "") -> Answer:
        """Return the stream as an answer.

        Args:
            api: Whose stream it is.
            body: The stream as pasted.
            is_ended: Whether its last event came.
            end: What that event is called.
            begin: What the first event is called, if it did not come.
        """
        if begin:
            self.note(f"{COPIED} without its beginning: there is no {begin}.")
        if not is_ended and self.finish_reason is None:
            self.fail(f"{NO_END} and without {end}{NO_BEGIN if begin else ''}")
        message = self.message
        chat = ChatResult(
            message={"role": "assistant", **message} if message else message,
            finish_reason=self.finish_reason,
            stop_reason=self.stop_reason,
            usage=self.usage,
            deltas=tuple(self._deltas),
            body=body,
            elapsed_s=0.0,
            error=self.error,
        )
        words = f"a stream of {api}"
        notes = ("The message was assembled from a stream.", *self.notes)
        return Answer(chat, chat, finish_reason=chat.finish_reason, notes=notes, words=words)


def of_message(
    api: str,
    message: JSONObject,
    reason: str | None,
    *,
    whole: JSONObject | None = None,
    usage: Usage | None = None,
    stop_reason: str | None = None,
    error: str | None = None,
    notes: Sequence[str] = (),
) -> Answer:
    """Return an answer that was read as a message of chat completions.

    Args:
        api: Whose answer it is.
        message: What was read.
        reason: Its finish reason.
        whole: The answer, if it is a whole one; `None` for a part, where nothing follows from what is absent.
        usage: The server's accounting.
        stop_reason: The stop string that the server named.
        error: What went wrong.
        notes: What was left out.
    """
    body = "" if whole is None else json.dumps(whole, ensure_ascii=False)
    chat = ChatResult(message, reason, stop_reason, usage=usage, body=body, error=error)
    return Answer(chat, finish_reason=reason, notes=tuple(notes), words=f"an answer of {api}")


def no_place(kind: JSON) -> str:
    """Return the sentence for a part of an answer, by its type, that no message of chat completions has.

    >>> no_place("server_tool_use")
    'A part of type `server_tool_use` does not exist in chat completions; it was left out.'
    """
    return f"A part of type `{str(kind)[:40]}` does not exist in chat completions; it was left out."
