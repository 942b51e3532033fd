"""Answers and chunks as OpenAI's package for Java prints them, without quotation marks or escapes around texts.

    ChatCompletion{id=a, choices=[Choice{finishReason=tool_calls, …, message=ChatCompletionMessage{content=, …}}]}
    [Choice{delta=Delta{content=, …, toolCalls=[ToolCall{index=0, id=a, function=Function{arguments=, name=f, …}}]}, …}]

Spring AI's client logs the chunks so. The order of fields is that of the package's `toString`. What is empty in the
print was an empty text or absent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.answers.read import read_answer, read_stream
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import is_script
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, as_part, forget_end, of_deltas_alone

_MAX_CHARS = 400_000
_MAX_CHOICES = 4_000
_CHOICE = re.compile(r"\bChoice\{(?:(?P<whole>finishReason=(?P<reason>\w{0,40}), index=)|delta=Delta\{(?=content=))")
_MESSAGE = re.compile(r"\bmessage=ChatCompletionMessage\{(?=content=)")
_CONTENT = re.compile(r"content=(?P<content>.{0,20000}?), (?:functionCall|refusal|role|toolCalls)=", re.DOTALL)
_CALL = re.compile(
    r"ToolCall\{(?:index=(?P<index>\d{1,4}), )?id=(?P<id>[^,{}\n]{0,200}), (?:type=\w{0,20}, )?"
    r"function=Function\{arguments=(?P<arguments>.{0,20000}?), name=(?P<name>[^,{}\n]{0,200}), additionalProperties=",
    re.DOTALL,
)
_CALLED = "function=Function{"
_REASONING = re.compile(
    r"additionalProperties=\{reasoning(?:_content)?=(?P<text>.{0,20000}?)\}\}, "
    r"(?:finishReason|additionalProperties|index)=",
    re.DOTALL,
)
_END_OF_DELTA = re.compile(r"\}, finishReason=(?P<reason>\w{0,40}), index=")
_MODEL = re.compile(r", model=([^,{}\s]{1,120}), ")
_USAGE = re.compile(r"CompletionUsage\{completionTokens=(\d{1,9}), promptTokens=(\d{1,9}), totalTokens=(\d{1,9})")


def _finds(paste: Paste) -> float:
    text = paste.text
    if len(text) > _MAX_CHARS or "Choice{" not in text or is_script(text):
        return 0.0
    return 0.92 if any(_parts(text)) else 0.0


def _read(paste: Paste) -> Evidence:
    text = paste.text
    found = list(_parts(text))
    deltas = [part for part in found if "delta" in part]
    if deltas:
        return _stream(deltas)
    if not found:
        raise RequestError("The printed answer is cut inside its message.", "Paste everything that was printed.")
    answer: JSONObject = {"object": "chat.completion", "choices": [*found[:1]], **_facts(text)}
    return add_answer(Evidence(Form.OBJECT, "an answer as OpenAI's package for Java prints it"), read_answer(answer))


def _stream(choices: list[JSONObject]) -> Evidence:
    lines = [f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices]
    has_end = any(choice["finish_reason"] for choice in choices)
    answer = read_stream("".join([*lines, "data: [DONE]\n\n"]))
    words = f"{len(choices):,} chunks of a stream as OpenAI's package for Java prints them"
    evidence = Evidence(Form.OBJECT, words)
    if has_end:
        return forget_end(add_answer(evidence, answer))
    return of_deltas_alone(add_answer(evidence, as_part(answer)))


def _parts(text: str) -> Iterator[JSONObject]:
    """Yield the choices of an answer or of chunks; none that is cut inside its message."""
    heads = list(islice(_CHOICE.finditer(text), _MAX_CHOICES))
    for number, head in enumerate(heads):
        stop = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        choice = _whole(text, head, stop) if head["whole"] else _delta(text, head.end(), stop)
        if choice is not None:
            yield choice


def _whole(text: str, head: re.Match[str], stop: int) -> JSONObject | None:
    begun = _MESSAGE.search(text, head.end(), stop)
    message = None if begun is None else _body(text, begun.end(), stop)
    if message is None:
        return None
    return {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": _known(head["reason"])}


def _delta(text: str, at: int, stop: int) -> JSONObject | None:
    end = _END_OF_DELTA.search(text, at, stop)
    delta = _body(text, at, stop)
    if end is None or delta is None:
        return None
    return {"index": 0, "delta": delta, "finish_reason": _known(end["reason"])}


def _body(text: str, at: int, stop: int) -> JSONObject | None:
    """Return a message or delta, without what is empty; `None` where it is cut."""
    content = _CONTENT.match(text, at, stop)
    if content is None:
        return None
    rest = content.end("content")
    calls = list(_CALL.finditer(text, rest, stop))
    if len(calls) < text.count(_CALLED, rest, stop):
        return None
    made: list[JSON] = [_call(found) for found in calls]
    thought = _REASONING.search(text, calls[-1].end() if calls else rest, stop)
    reasoning = None if thought is None else _known(thought["text"])
    body: JSONObject = {"content": _known(content["content"])}
    body |= {"tool_calls": made} if made else {}
    return body | ({"reasoning_content": reasoning} if reasoning else {})


def _call(found: re.Match[str]) -> JSONObject:
    function: JSONObject = {"arguments": found["arguments"]}
    function |= {"name": found["name"]} if _known(found["name"]) else {}
    call: JSONObject = {"type": "function", "function": function}
    call |= {"id": found["id"]} if _known(found["id"]) else {}
    return call | ({"index": int(found["index"])} if found["index"] else {})


def _known(printed: str | None) -> str | None:
    return None if printed in (None, "", "null") else printed


def _facts(text: str) -> JSONObject:
    model, usage = _MODEL.search(text), _USAGE.search(text)
    facts: JSONObject = {} if model is None else {"model": model[1]}
    if usage is not None:
        written, read, both = (int(one) for one in usage.groups())
        facts["usage"] = {"completion_tokens": written, "prompt_tokens": read, "total_tokens": both}
    return facts


READER = Reader(Form.OBJECT, _finds, _read)
