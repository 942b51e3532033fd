"""A chat completion body as it is built from a body of another API, with notices of what has no place in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from prompt_debugger.core.base.json_values import text_or_json
from prompt_debugger.core.base.types import JSON, JSONObject, Notice

MAX_NOTICES = 50


# Options that no vendor's API has, and that self-hosted servers take in each of their APIs.
OF_SERVERS = (
    "top_k",
    "min_p",
    "repetition_penalty",
    "logit_bias",
    "chat_template_kwargs",
    "cache_salt",
    "structured_outputs",
)


@dataclass(slots=True)
class BodyWork:
    """The body as built so far, and what was lost on the way.

    Attributes:
        body: Its fields but for the messages.
        messages: Its messages.
        lost: A notice for each thing that was left out or changed.
        place: Path of the part of the other body that is being read; "" where origins are not recorded.
        origins: Path in the other body, by path of what was made of it.
    """

    body: JSONObject = field(default_factory=dict)
    messages: list[JSON] = field(default_factory=list)
    lost: list[Notice] = field(default_factory=list)
    place: str = ""
    origins: dict[str, str] = field(default_factory=dict)

    def note_loss(self, place: str, words: str) -> None:
        """Add a notice of what was left out or changed."""
        if len(self.lost) < MAX_NOTICES:
            self.lost.append(Notice(place, words))

    def note_no_place(self, place: str, subject: str) -> None:
        """Add a notice that something of the other API does not exist in chat completions."""
        self.note_loss(place, f"{subject} does not exist in chat completions.")

    def add_message(self, role: str, content: JSON) -> None:
        """Add a message."""
        self.add({"role": role, "content": content})

    def add(self, message: JSONObject, content: str = "content", answers: str = "") -> None:
        """Add a message whose text is in the field `content` ("": the place itself), its call's id in `answers`."""
        at = f"messages[{len(self.messages)}]"
        self.messages.append(message)
        if self.place:
            self.origins |= {at: self.place, f"{at}.content": f"{self.place}.{content}".rstrip(".")}
            if answers:
                self.origins[f"{at}.tool_call_id"] = f"{self.place}.{answers}"

    def add_reasoning(self, text: str) -> None:
        """Add an assistant message with reasoning; `add_answer` and `add_call` complete it."""
        if self.place:
            self.origins[f"messages[{len(self.messages)}].reasoning"] = self.place
        self.add({"role": "assistant", "content": None, "reasoning": text})

    def add_answer(self, content: JSON) -> None:
        """Add what the assistant says: to the last message, if that is the assistant's and has no text yet."""
        last = self.messages[-1] if self.messages else None
        if not isinstance(last, dict) or last.get("role") != "assistant" or last.get("content") is not None:
            self.add_message("assistant", content)
            return
        last["content"] = content
        if self.place:
            self.origins[f"messages[{len(self.messages) - 1}].content"] = f"{self.place}.content"

    def add_call(self, call_id: JSON, name: JSON, arguments: JSON, *, within: str = "", named: str = "id") -> None:
        """Add a tool call to the assistant message at the end, which is made if there is none.

        Args:
            call_id: Its id.
            name: Its tool.
            arguments: The JSON text, or the value that becomes one.
            within: Name of the field with its arguments in the other body; "" for `arguments`.
            named: Name of the field with its id in the other body.
        """
        text = text_or_json(arguments)
        call: JSONObject = {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
        last = self.messages[-1] if self.messages else None
        if not isinstance(last, dict) or last.get("role") != "assistant":
            last = {"role": "assistant", "content": None}
            self.messages.append(last)
        calls = last.setdefault("tool_calls", [])
        if isinstance(calls, list):
            at = f"messages[{len(self.messages) - 1}].tool_calls[{len(calls)}]"
            calls.append(call)
            if self.place:
                self.origins |= {at: self.place, f"{at}.function": self.place, f"{at}.id": f"{self.place}.{named}"}
                self.origins[f"{at}.function.arguments"] = f"{self.place}.{within or 'arguments'}"


@dataclass(slots=True)
class CallIds:
    """Ids for calls of an API that has none: a result answers the first open call of its name.

    Attributes:
        count: How many calls there were.
        made: How many of their ids were made up here.
        waiting: Name and id of each call without a result.
    """

    count: int = 0
    made: int = 0
    waiting: list[tuple[str, str]] = field(default_factory=list)

    def of_call(self, name: JSON, own: JSON = None) -> str:
        """Return the id of a call: `own`, if it has one."""
        is_own = isinstance(own, str) and own != ""
        call_id = str(own) if is_own else f"call_{self.count}"
        self.count += 1
        self.made += not is_own
        self.waiting.append((str(name), call_id))
        return call_id

    def of_result(self, name: JSON, own: JSON = None) -> str | None:
        """Return the id of the call that a result answers; `None` if no call waits for one."""
        if isinstance(own, str) and own:
            self.waiting = [one for one in self.waiting if one[1] != own]
            return own
        at = next((at for at, (waits, _) in enumerate(self.waiting) if name is None or waits == str(name)), None)
        return None if at is None else self.waiting.pop(at)[1]


def plain_text(parts: list[JSON]) -> JSON:
    """Return a single text part as its text, which every template reads; else the parts."""
    only = parts[0] if len(parts) == 1 else None
    return only["text"] if isinstance(only, dict) and only.get("type") == "text" else parts


def keep_tools(kept: list[JSON], given: JSON, work: BodyWork) -> None:
    """Set the tools; if all given ones were lost, no list at all: servers refuse an empty one."""
    if kept or not given:
        work.body["tools"] = kept
