"""Calls of a model as tools that watch applications export them: each with what was asked and what was answered.

    Langfuse   {"observations": [{"type": "GENERATION", "input": […] or "[…]", "output": {…} or "{…}"}]}
    LiteLLM    {"call_type": "acompletion", "messages": […], "model_parameters": {"tools": […]}, "response": {…}}
    Datadog    {"meta": {"span.kind": "llm", "input": {"messages": […]}, "output": {"messages": […]}}}
    Bedrock    {"schemaType": "ModelInvocationLog", "input": {"inputBodyJson": {…}}, "output": {"outputBodyJson": {…}}}

One, a list of them, or one a line. Where the tools that were offered are not recorded, the request is left out: that
there were none does not follow.

Sources: the exports' fields as Langfuse 3, LiteLLM 1.8x (`StandardLoggingPayload`), Datadog's LLM Observability and
Amazon Bedrock's model invocation logging document them, as of 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_list, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader, checked_row
from prompt_debugger.core.evidence.taking import add_answer, exchange_of
from prompt_debugger.core.evidence.values.chat_messages import call_of
from prompt_debugger.core.evidence.values.json_of import decoded, json_lines, json_of

_SIGNS = ('"observations"', '"model_parameters"', '"span.kind"', '"ModelInvocationLog"')
_MAX_ENTRIES = 5_000
_MAX_OTHERS = 10


class _Call(NamedTuple):
    """A recorded call: whose export it is, the request, or `None` where its tools are unknown, and the answer."""

    name: str
    body: JSONObject | None
    answer: JSON


def _finds(paste: Paste) -> float:
    if not any(sign in paste.text for sign in _SIGNS):
        return 0.0
    return 0.94 if next(_calls(_values(paste)), None) is not None else 0.0


def _values(paste: Paste) -> list[JSONObject]:
    value = paste.value
    if value is not None:
        return [*objects_in(value)] if isinstance(value, list) else [as_object(value)]
    return [as_object(json_of(line)) for line in json_lines(paste.text)[:_MAX_ENTRIES]]


def _read(paste: Paste) -> Evidence:
    calls = list(_calls(_values(paste)))
    evidence = _read_one(calls, checked_row(paste.row, len(calls)))
    others: list[Evidence] = []
    for row in range(2, min(len(calls), _MAX_OTHERS + 1) + 1 if paste.row == 1 else 2):
        with suppress(RequestError):
            note = f"Entry {row} of {len(calls):,} is shown: no problem was found in those before it."
            one = _read_one(calls, row)
            others.append(replace(one, notes=(note, *one.notes)))
    return replace(evidence, others=tuple(others))


def _read_one(calls: Sequence[_Call], row: int) -> Evidence:
    call = calls[row - 1]
    if call.body is None:
        evidence = add_answer(Evidence(Form.EXCHANGE, "an answer"), read_answer(call.answer))
    else:
        evidence = exchange_of(Form.EXCHANGE, call.body, call.answer)
    if len(calls) == 1:
        return replace(evidence, words=f"a call that {call.name} recorded: {evidence.words}")
    words = f"calls that {call.name} recorded, {row} of {len(calls):,}: {evidence.words}"
    return replace(evidence, words=words, row=row, rows=len(calls))


def _calls(values: Sequence[JSONObject]) -> Iterator[_Call]:
    for value in values[:_MAX_ENTRIES]:
        for read in (_langfuse, _litellm, _datadog, _bedrock):
            yield from _drop_unanswered(read(value))


def _drop_unanswered(calls: Iterator[_Call]) -> Iterator[_Call]:
    return (call for call in calls if call.answer)


def _langfuse(value: JSONObject) -> Iterator[_Call]:
    for one in objects_in(value.get("observations")):
        if one.get("type") == "GENERATION":
            given, answer = decoded(one.get("input")), decoded(one.get("output"))
            body: JSONObject = {"messages": given} if isinstance(given, list) else as_object(given)
            if isinstance(answer, str):
                answer = {"role": "assistant", "content": answer}
            yield _Call("Langfuse", body if "tools" in body else None, answer)


def _litellm(value: JSONObject) -> Iterator[_Call]:
    parameters = value.get("model_parameters")
    if "call_type" in value and isinstance(parameters, dict) and isinstance(value.get("messages"), list):
        body = {"model": value.get("model"), "messages": value["messages"], **parameters}
        yield _Call("LiteLLM", body if "tools" in body else None, value.get("response"))


def _datadog(value: JSONObject) -> Iterator[_Call]:
    meta = as_object(value.get("meta"))
    message = next(iter(objects_in(as_object(meta.get("output")).get("messages"))), None)
    if meta.get("span.kind") == "llm" and message is not None:
        calls: list[JSON] = [
            call_of(one.get("name"), one.get("arguments"), as_text(one.get("tool_id")) or UNKNOWN_ID)
            for one in objects_in(message.get("tool_calls"))
        ]
        answer: JSONObject = {"role": "assistant", "content": message.get("content")}
        yield _Call("Datadog", None, {**answer, "tool_calls": calls} if calls else answer)


def _bedrock(value: JSONObject) -> Iterator[_Call]:
    if value.get("schemaType") == "ModelInvocationLog":
        body = as_object(as_object(value.get("input")).get("inputBodyJson"))
        answer = as_object(value.get("output")).get("outputBodyJson")
        model: JSONObject = {} if "model" in body or "toolConfig" in body else {"model": value.get("modelId")}
        yield _Call("Bedrock", {**body, **model} if as_list(body.get("messages")) else None, answer)


READER = Reader(Form.EXCHANGE, _finds, _read)
