"""Conversations that engines are known to render differently, each as a client sends it.

To transformers goes the request as it is, kwargs by kwargs; to a server goes the same body. Where the two have
different ways to say the same thing, a conversation has the words for each.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL, USER_WORDS
from prompt_debugger.core.tools.check.ideal import Ideal

RESULT = "zqIt is sunny."
_THOUGHT = "zqThought of before."


@dataclass(frozen=True, slots=True)
class Conversation:
    """One request that both are asked to render.

    Transformers gets `kwargs` and `add_generation_prompt`, or what the body says where they are `None`. A habit is
    what a server does unasked that explains a difference which its own precedence explains.
    """

    name: str
    about: str
    body: JSONObject
    kwargs: JSONObject | None = None
    add_generation_prompt: bool | None = None
    habit: str = ""

    @property
    def plain_body(self) -> JSONObject:
        """The request as transformers gets it."""
        if self.kwargs is None:
            return self.body
        kept = {name: value for name, value in self.body.items() if name != "reasoning_effort"}
        return {**kept, "chat_template_kwargs": self.kwargs}


def conversations(
    ideals: Sequence[Ideal], tools: Sequence[JSONObject], variables: Collection[str]
) -> Iterator[Conversation]:
    """Yield the conversations to compare; the ideals show how a call is best written down."""
    offered: JSONObject = {"tools": list(tools)}
    yield _turns("plain", "a question", _user())
    yield _turns("system", "a system message and a question", {"role": "system", "content": "zqBe brief."}, _user())
    yield _turns("developer", "a developer message", {"role": "developer", "content": "zqBe kind."}, _user())
    yield _turns("tools", "tools", _user(), more=offered)
    bare: JSONObject = {"type": "function", "function": {"name": "list_items"}}
    yield _turns("bare-tool", "a tool without description and parameters", _user(), more={"tools": [bare]})
    yield _turns("content-parts", "content as a list of two texts", _user(_parts(USER_WORDS, "zqIn Paris.")))
    yield from _list_with_call(ideals, offered)
    for name in ("reasoning_content", "reasoning"):
        answer: JSONObject = {"role": "assistant", "content": "zqSunny.", name: _THOUGHT}
        yield _turns(
            f"{name.replace('_', '-')}-sent-back", f"reasoning of an earlier turn in `{name}`", _user(), answer, _user()
        )
    yield from _list_with_kwargs(variables)


def _list_with_call(ideals: Sequence[Ideal], offered: JSONObject) -> Iterator[Conversation]:
    """Yield histories with a call, its arguments as the text that clients send, and as an object."""
    ideal = next((one for one in ideals if one.answer.name == SIMPLEST_CALL and one.is_whole), None)
    if ideal is None:
        return
    call = ideal.answer.calls[0]
    turn = ideal.form.message(ideal.answer)
    calls = turn["tool_calls"]
    assert isinstance(calls, list)
    first = calls[0]
    assert isinstance(first, dict)
    result: JSONObject = {"role": "tool", "tool_call_id": first["id"], "name": call.name, "content": RESULT}

    def set_arguments(arguments: JSON) -> JSONObject:
        return {**turn, "tool_calls": [{**first, "function": {"name": call.name, "arguments": arguments}}]}

    as_text = set_arguments(json.dumps(call.arguments))
    yield _turns(
        "arguments-as-text", "a call and its result, arguments as text", _user(), as_text, result, more=offered
    )
    as_object = set_arguments(call.arguments)
    yield _turns("arguments-as-object", "the same, arguments as an object", _user(), as_object, result, more=offered)
    null = {**as_text, "content": None}
    yield _turns("null-content", "a call with content null", _user(), null, result, more=offered)
    parts = {**result, "content": _parts(RESULT, "zqAnd warm.")}
    yield _turns("result-parts", "a tool result as a list of two texts", _user(), as_text, parts, more=offered)


def _list_with_kwargs(variables: Collection[str]) -> Iterator[Conversation]:
    """Yield requests that set template kwargs, those of thinking only where the template knows them."""
    yield Conversation(
        "no-generation-prompt",
        "`add_generation_prompt` false in `chat_template_kwargs`",
        {"messages": [_user()], "chat_template_kwargs": {"add_generation_prompt": False}},
        kwargs={},
        add_generation_prompt=False,
        habit="`add_generation_prompt` in `chat_template_kwargs` is ignored: the request's own field, true by "
        "default, wins",
    )
    if "enable_thinking" in variables:
        yield Conversation(
            "no-effort",
            '`reasoning_effort` "none"',
            {"messages": [_user()], "reasoning_effort": "none"},
            kwargs={"reasoning_effort": "none"},
            habit='`reasoning_effort` "none" sets `enable_thinking` to false',
        )
    for switch in [one for one in TABLES.switches if one.name in variables][:2]:
        yield _turns(
            f"{switch.name.replace('_', '-')}-off",
            f"`{switch.name}` {json.dumps(switch.off)} in `chat_template_kwargs`",
            _user(),
            more={"chat_template_kwargs": {switch.name: switch.off}},
        )


def _turns(name: str, about: str, *messages: JSONObject, more: JSONObject | None = None) -> Conversation:
    return Conversation(name, about, {"messages": list(messages), **(more or {})})


def _user(content: JSON = USER_WORDS) -> JSONObject:  # text or parts
    return {"role": "user", "content": content}


def _parts(*texts: str) -> list[JSON]:
    return [{"type": "text", "text": text} for text in texts]
