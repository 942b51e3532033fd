"""Answers to tool calls, typed or from a stub, and the request that continues with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import text_or_json
from prompt_debugger.core.base.types import JSON, JSONObject, Request, Trace

ANY_TOOL = "*"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool answered.

    Attributes:
        call_id: Id of the call, as the server gave it, if it gave one.
        name: The tool.
        content: The answer.
    """

    call_id: str | None
    name: str
    content: str


def read_stub(text: str) -> JSONObject:
    """Return a stub: an object with an answer per tool, `*` for any other.

    Raises:
        RequestError: The text is not a stub.
    """
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"The tools' answers are not valid JSON: {error}", field="--tool-answers") from None
    if not isinstance(value, dict):
        raise RequestError(
            "The tools' answers are not a JSON object.", 'Write {"get_weather": "20 °C"}.', field="--tool-answers"
        )
    return value


def answers_from_stub(stub: Mapping[str, JSON], trace: Trace) -> tuple[tuple[ToolAnswer, ...], tuple[str, ...]]:
    """Return the answers to the calls of a run's message, and the names of tools that the stub does not know.

    Args:
        stub: An answer per tool name: a text as it is, any other value as JSON; `*` answers for all others.
        trace: The run.
    """
    return answers_to_calls(trace, (), stub)


def answers_to_calls(
    trace: Trace, texts: Sequence[str], stub: Mapping[str, JSON]
) -> tuple[tuple[ToolAnswer, ...], tuple[str, ...]]:
    """Return typed answers, the stub's where nothing was typed, and the names of tools that have neither.

    `texts` are in the order of the calls; a blank or missing one is no answer.
    """
    answers: list[ToolAnswer] = []
    unknown: list[str] = []
    for number, call in enumerate(returned_calls(trace)):
        call_id, name = _identity(call)
        typed = texts[number] if number < len(texts) else ""
        if typed.strip():
            answers.append(ToolAnswer(call_id, name, typed))
        elif name in stub or ANY_TOOL in stub:
            answers.append(ToolAnswer(call_id, name, text_or_json(stub.get(name, stub.get(ANY_TOOL)))))
        else:
            unknown.append(name)
    return tuple(answers), tuple(unknown)


def returned_calls(trace: Trace) -> list[JSONObject]:
    """Return the tool calls of a run's message."""
    calls = None if trace.chat is None else trace.chat.message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def request_after(trace: Trace, answers: Sequence[ToolAnswer], *, user: str | None = None) -> Request:
    """Return the request that continues where a run ended: its message, the answers, and what the user says.

    The message goes back as the server gave it, without fields that are null or an empty list of calls, as client
    libraries send it.

    Raises:
        RequestError: The run has no message.
    """
    if trace.chat is None:
        raise RequestError("The run has no message to continue from.", "Run the request again.")
    messages = trace.request.body.get("messages")
    kept = {key: value for key, value in trace.chat.message.items() if value is not None and value != []}
    message: JSONObject = {"role": "assistant", "content": None, **kept}
    results: list[JSON] = [_result(answer) for answer in answers]
    further: list[JSON] = [] if user is None else [{"role": "user", "content": user}]
    before = messages if isinstance(messages, list) else []
    body: JSONObject = {**trace.request.body, "messages": [*before, message, *results, *further]}
    return Request(body, json.dumps(body, ensure_ascii=False, indent=2))


def _result(answer: ToolAnswer) -> JSONObject:
    pointer: JSONObject = {} if answer.call_id is None else {"tool_call_id": answer.call_id}
    return {"role": "tool", **pointer, "name": answer.name, "content": answer.content}


def _identity(call: JSONObject) -> tuple[str | None, str]:
    function, call_id = call.get("function"), call.get("id")
    name = function.get("name") if isinstance(function, dict) else None
    return (call_id if isinstance(call_id, str) else None), str(name)
