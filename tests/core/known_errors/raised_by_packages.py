"""Run by itself: has installed packages raise the sentences that need no server, and prints them as a JSON list."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import mistral_common.protocol.instruct.messages as said
import mistral_common.protocol.instruct.validator as checks
import openai
import pydantic
from anthropic.lib.streaming import _messages as streamed
from anthropic.types import RawContentBlockStopEvent
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.tool_calls import Function, FunctionCall, Tool, ToolCall
from openai.lib._parsing import _completions
from openai.types.chat import ChatCompletion
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

PRINTS = "{% for m in messages %}{{ m.content }}{% endfor %}"
GUARD = "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}"
ID = "123456789"


class Strict(pydantic.BaseModel, extra="forbid"):
    """A model with one field."""

    a: str


def render(template: Any, messages: Any = ({"role": "user", "content": "hi"},), **fields: Any) -> None:
    """Render messages with a template."""
    vocabulary = Tokenizer(WordLevel({"a": 0}, unk_token="a"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=vocabulary, unk_token="a")
    tokenizer.chat_template = template
    tokenizer.apply_chat_template(list(messages), tokenize=False, **fields)


def undocumented(city: str) -> str:  # it has no docstring on purpose
    return city


def half_documented(city: str) -> str:
    """Return a city."""
    return city


def untyped(city):  # it has no types on purpose
    """Return a city.

    Args:
        city: Its name.
    """
    return city


def check(messages: list[Any], version: str = "V3", **fields: Any) -> None:
    """Check messages as a version of Mistral's tokenizer does."""
    validator = getattr(checks, f"MistralRequestValidator{version}")(checks.ValidationMode.serving)
    validator.validate_request(ChatCompletionRequest(model="m", messages=messages, **fields))


def calls(*ids: str, **fields: Any) -> Any:
    """Return an assistant message with calls."""
    made = [ToolCall(id=one, function=FunctionCall(name="f", arguments="{}")) for one in ids]
    return said.AssistantMessage(tool_calls=made, **fields)


def result(call_id: str = ID) -> Any:
    """Return a tool message."""
    return said.ToolMessage(tool_call_id=call_id, content="b")


def tool(name: str = "f", kind: str = "object") -> Any:
    """Return a tool."""
    return Tool(function=Function(name=name, parameters={"type": kind}))


def give(error: Exception) -> None:
    """Raise an error."""
    raise error


USER = said.UserMessage(content="a")
ANSWER = ChatCompletion.model_construct(choices=[], usage=None)
STOP = RawContentBlockStopEvent(index=0, type="content_block_stop")
REASONING = {"role": "assistant", "content": "a", "reasoning": "x", "reasoning_content": "y"}

ATTEMPTS: tuple[Callable[[], object], ...] = (
    lambda: render(None),
    lambda: render({"a": PRINTS, "b": PRINTS}),
    lambda: render(PRINTS, []),
    lambda: render(PRINTS, continue_final_message=True, add_generation_prompt=True),
    lambda: render("{{ messages[0].content.upper() }}", continue_final_message=True),
    lambda: render("x", continue_final_message=True),
    lambda: render(PRINTS, [{"role": "assistant"}], continue_final_message=True),
    lambda: render(PRINTS, tools=[5]),
    lambda: render(PRINTS, tools=[undocumented]),
    lambda: render(PRINTS, tools=[half_documented]),
    lambda: render(PRINTS, tools=[untyped]),
    lambda: render(PRINTS, documents=[5]),
    lambda: render("{{ a.b }}"),
    lambda: render("{{ messages[0].a.b }}"),
    lambda: render("{{ 1|fromjson }}"),
    lambda: render("{% for k, v in messages[0].content|items %}{% endfor %}"),
    lambda: render(GUARD),
    lambda: Strict.model_validate({"a": "x", "b": 1}),
    lambda: said.UserMessage.model_validate({"content": "a", "metadata": {}}),
    lambda: said.AssistantMessage.model_validate({"content": "a", "metadata": {}}),
    lambda: said.SystemMessage.model_validate({"content": "a", "metadata": {}}),
    lambda: said.ToolMessage.model_validate({"content": "a", "tool_call_id": ID, "metadata": {}}),
    lambda: Strict.model_validate({}),
    lambda: Strict.model_validate({"a": 1}),
    lambda: pydantic.TypeAdapter(list[Strict]).validate_json("<tool_call>"),
    lambda: Strict.model_validate_json('{"a": "b"}\n\nDone.'),
    lambda: give(openai.LengthFinishReasonError(completion=ANSWER)),
    lambda: give(openai.ContentFilterFinishReasonError()),
    lambda: _completions.validate_input_tools([{"type": "function", "function": {"name": "get_weather"}}]),
    lambda: streamed.accumulate_event(event=STOP, current_snapshot=None, json_bufs={}),
    lambda: check([USER, calls("call_12345"), result("call_12345")]),
    lambda: check([USER, calls(""), result("")], "V13"),
    lambda: check([USER, calls(ID), USER]),
    lambda: check([USER, said.AssistantMessage(content="a"), result()]),
    lambda: check([USER, said.AssistantMessage(content="a")]),
    lambda: check([USER, calls(ID, content="a"), result()]),
    lambda: check([USER], tools=[tool("fs.read")]),
    lambda: check([USER, calls(ID), result("999999999")], "V11"),
    lambda: check([USER, calls(ID, "999999999"), result("999999999"), result("999999999")], "V11"),
    lambda: check([USER], reasoning_effort="high"),
    lambda: said.AssistantMessage.from_openai(REASONING),
    lambda: check([USER], tools=[tool(kind="str")]),
)


def words(attempt: Callable[[], object]) -> str:
    """Return what is raised."""
    try:
        attempt()
    except Exception as error:  # noqa: BLE001  # whatever it is, its words are what is looked at
        return str(error)
    return ""


if __name__ == "__main__":
    print(json.dumps([words(attempt) for attempt in ATTEMPTS]))  # read by the test
