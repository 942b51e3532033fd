"""A streamed answer put together: the document that the server would have sent unstreamed. Sans-I/O.

    chat completions   chunks with `choices[].delta`, by the assembler that reads every stream here
    completions        chunks with `choices[].text`
    responses          the event that ends it holds the whole response; without it, its items and their deltas
    messages           message_start, content_block_start/_delta/_stop, message_delta, message_stop
    gemini             answers with the parts that are new; the last ones have `finishReason` and the counts

What is not known to be complete is `is_whole` false, with the reason; it is never passed off as an answer.

Source: https://platform.openai.com/docs/api-reference and https://docs.anthropic.com/en/api/messages-streaming,
as of 2026-10.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.json_values import as_count, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete import run_facts
from prompt_debugger.core.complete.answers import problem_of_error
from prompt_debugger.core.complete.assemble import MessageAssembler
from prompt_debugger.core.complete.backends.limits import MAX_CHOICES
from prompt_debugger.core.tools.capture.exchange import Api

NO_END = "the stream ended without"  # as each API says that it did not come whole
_OF_THE_WHOLE = ("id", "created", "model", "system_fingerprint", "service_tier", "usage")
# Said once, or put together elsewhere; of some proxies the ids of one event, which are not those of the answer.
_NOT_OF_A_CHOICE = frozenset({"delta", "index", "text", "token_ids", "prompt_token_ids", "provider_specific_fields"})


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a stream came to: the answer as without a stream, and the problem why it is not the whole; "" if it is."""

    document: JSONObject | None
    problem: str = ""


def assemble(api: Api, chunks: Sequence[JSONObject], *, is_done: bool) -> Assembled:
    """Put the JSON of a stream's events together, in order; `is_done` says whether `[DONE]` came."""
    match api:
        case Api.CHAT:
            return _chat(chunks, is_done=is_done)
        case Api.COMPLETIONS:
            return _completions(chunks, is_done=is_done)
        case Api.RESPONSES:
            return _responses(chunks)
        case Api.MESSAGES:
            return _messages(chunks)
        case Api.GEMINI:
            return _gemini(chunks)


def _chat(chunks: Sequence[JSONObject], *, is_done: bool) -> Assembled:
    """Put chat chunks together: a message for each choice."""
    choices: dict[int, _ChatChoice] = {}
    for chunk in chunks:
        for choice in objects_in(chunk.get("choices"))[:MAX_CHOICES]:
            index = as_count(choice.get("index")) or 0
            if index in choices or len(choices) < MAX_CHOICES:
                choices.setdefault(index, _ChatChoice()).add(choice)
    made: list[JSON] = [choices[index].document(index) for index in sorted(choices)]
    document = {"object": "chat.completion", **_head_of(chunks), "choices": made}
    return _judged(chunks, document, made, is_done=is_done)


class _ChatChoice:
    """One choice of a chat stream."""

    def __init__(self) -> None:
        self._message = MessageAssembler()
        self._fields = _ChoiceFields()
        self._logprobs: list[JSON] = []

    def add(self, choice: JSONObject) -> None:
        self._message.add(as_object(choice.get("delta")))
        tokens = as_object(choice.get("logprobs")).get("content")
        self._logprobs += tokens if isinstance(tokens, list) else []
        self._fields.add(choice)

    def document(self, index: int) -> JSONObject:
        more: JSONObject = {"logprobs": {"content": list(self._logprobs)}} if self._logprobs else {}
        message = {"role": "assistant", **self._message.message()}
        return {"index": index, "message": message, **self._fields.document(), **more}


class _ChoiceFields:
    """What a choice says besides its text; the last word counts, ids are joined."""

    def __init__(self) -> None:
        self._fields: JSONObject = {"finish_reason": None}
        self._ids: list[JSON] | None = None

    def add(self, choice: JSONObject) -> None:
        ids = run_facts.output_ids({}, choice)
        if ids is not None:
            self._ids = self._ids or []
            self._ids += ids
        for name, value in choice.items():
            if name not in _NOT_OF_A_CHOICE and name != "logprobs" and value is not None:
                self._fields[name] = value

    def document(self) -> JSONObject:
        return self._fields if self._ids is None else {**self._fields, "token_ids": self._ids}


def _completions(chunks: Sequence[JSONObject], *, is_done: bool) -> Assembled:
    """Put chunks of raw completions together: a text for each choice."""
    texts: dict[int, list[str]] = {}
    fields: dict[int, _ChoiceFields] = {}
    for chunk in chunks:
        for choice in objects_in(chunk.get("choices"))[:MAX_CHOICES]:
            index = as_count(choice.get("index")) or 0
            if index in texts or len(texts) < MAX_CHOICES:
                texts.setdefault(index, []).append(as_text(choice.get("text")) or "")
                fields.setdefault(index, _ChoiceFields()).add(choice)
    made: list[JSON] = [
        {"index": index, "text": "".join(texts[index]), **fields[index].document()} for index in sorted(texts)
    ]
    document = {"object": "text_completion", **_head_of(chunks), "choices": made}
    return _judged(chunks, document, made, is_done=is_done)


def _head_of(chunks: Sequence[JSONObject]) -> JSONObject:
    """Return what chunks say of the whole; the last word counts."""
    head = {name: chunk[name] for chunk in chunks for name in _OF_THE_WHOLE if chunk.get(name) is not None}
    prompt = next((ids for chunk in chunks if (ids := run_facts.prompt_ids(chunk)) is not None), None)
    return head if prompt is None else {**head, "prompt_token_ids": list(prompt)}


def _judged(chunks: Sequence[JSONObject], document: JSONObject, choices: list[JSON], *, is_done: bool) -> Assembled:
    problem = next((found for chunk in chunks if (found := problem_of_error(chunk)) is not None), None)
    if problem is None and not choices:
        problem = "the stream contained no choice"
    ended = all(as_object(choice).get("finish_reason") for choice in choices)
    if problem is None and not ended and not is_done:
        problem = f"{NO_END} a finish reason and without `[DONE]`"
    return Assembled(document if choices else None, problem or "")


def _responses(chunks: Sequence[JSONObject]) -> Assembled:
    """Take the response that the last event holds."""
    ends = ("response.completed", "response.incomplete", "response.failed")
    for chunk in reversed(chunks):
        if chunk.get("type") in ends and isinstance(whole := chunk.get("response"), dict):
            return Assembled(whole)
    failed = next((f"the server reported an error: {chunk}" for chunk in chunks if chunk.get("type") == "error"), None)
    problem = failed or f"{NO_END} the event that contains the response"
    return Assembled(_begun_response(chunks), problem)


def _begun_response(chunks: Sequence[JSONObject]) -> JSONObject | None:
    """Return a response as far as its events came: its items, texts and arguments cut where the stream was."""
    begun = next((whole for chunk in chunks if isinstance(whole := chunk.get("response"), dict)), None)
    items: dict[int, JSONObject] = {}
    texts: dict[int, list[str]] = {}
    for chunk in chunks:
        index = as_count(chunk.get("output_index")) or 0
        kind, item = as_text(chunk.get("type")) or "", chunk.get("item")
        if isinstance(item, dict) and (index in items or len(items) < MAX_CHOICES):
            items[index] = item
            if kind == "response.output_item.done":
                texts.pop(index, None)  # the item contains them
        elif index in items and kind.endswith(".delta") and isinstance(piece := chunk.get("delta"), str):
            texts.setdefault(index, []).append(piece)
    if begun is None and not items:
        return None
    output: list[JSON] = [_begun_item(items[index], "".join(texts.get(index, ()))) for index in sorted(items)]
    return {**(begun or {"object": "response"}), "output": output}


def _begun_item(item: JSONObject, text: str) -> JSONObject:
    if not text:
        return item
    match item.get("type"):
        case "function_call":
            return {**item, "arguments": text}
        case "custom_tool_call":
            return {**item, "input": text}
        case "reasoning":
            return {**item, "content": [{"type": "reasoning_text", "text": text}]}
        case _:
            return {**item, "content": [{"type": "output_text", "text": text}]}


def _messages(chunks: Sequence[JSONObject]) -> Assembled:
    """Put the events of Anthropic's Messages together."""
    message: JSONObject | None = None
    blocks: dict[int, _Block] = {}
    problem = f"{NO_END} `message_stop`"
    for chunk in chunks:
        index = as_count(chunk.get("index")) or 0
        match chunk.get("type"):
            case "message_start":
                message = {**as_object(chunk.get("message"))}
            case "content_block_start" if index in blocks or len(blocks) < MAX_CHOICES:
                blocks[index] = _Block(as_object(chunk.get("content_block")))
            case "content_block_delta" if index in blocks:
                blocks[index].add(as_object(chunk.get("delta")))
            case "message_delta" if message is not None:
                usage = {**as_object(message.get("usage")), **as_object(chunk.get("usage"))}
                message = {**message, **as_object(chunk.get("delta")), "usage": usage}
            case "message_stop":
                problem = ""
            case "error":
                problem = f"the server reported an error: {json.dumps(chunk.get('error'))[:400]}"
                break
            case _:
                pass
    if message is None:
        return Assembled(None, problem or "the stream contains no message")
    made = [blocks[index].document() for index in sorted(blocks)]
    broken = next((block.problem for block in blocks.values() if block.problem), "")
    return Assembled({**message, "content": list(made)}, problem or broken)


class _Block:
    """One content block of a message."""

    def __init__(self, start: JSONObject) -> None:
        self._start = start
        self._texts: dict[str, list[str]] = {}
        self.problem = ""

    def add(self, delta: JSONObject) -> None:
        for name in ("text", "thinking", "signature", "partial_json"):
            if isinstance(piece := delta.get(name), str):
                self._texts.setdefault(name, []).append(piece)

    def document(self) -> JSONObject:
        block = {**self._start}
        for name, pieces in self._texts.items():
            text = "".join(pieces)
            if name == "partial_json":
                block["input"] = self._input(text)
            else:
                block[name] = f"{as_text(block.get(name)) or ''}{text}"
        return block

    def _input(self, text: str) -> JSON:
        try:
            value: JSON = json.loads(text or "{}")
        except (ValueError, RecursionError):
            self.problem = "the assembled arguments of a tool call are not JSON"
            return text
        return value


def _gemini(chunks: Sequence[JSONObject]) -> Assembled:
    """Put answers of Gemini's together: one candidate with all their parts, a text that continues as one."""
    candidate: JSONObject = {}
    parts: list[JSON] = []
    whole: JSONObject = {}
    for chunk in chunks:
        first = next(iter(objects_in(chunk.get("candidates"))), {})
        whole |= {name: value for name, value in chunk.items() if name != "candidates" and value is not None}
        candidate |= {name: value for name, value in first.items() if name != "content" and value is not None}
        for part in objects_in(as_object(first.get("content")).get("parts")):
            last = as_object(parts[-1]) if parts else {}
            if {*part, *last} <= {"text", "thought"} and part.get("thought") == last.get("thought") and last:
                parts[-1] = {**last, "text": f"{as_text(last.get('text')) or ''}{as_text(part.get('text')) or ''}"}
            else:
                parts.append(part)
    problem = next((found for chunk in chunks if (found := problem_of_error(chunk)) is not None), None)
    if problem is None and not candidate.get("finishReason"):
        problem = f"{NO_END} `finishReason`"
    if not parts and not candidate:
        return Assembled(None, problem or "")
    made: JSONObject = {"content": {"role": "model", "parts": parts}, **candidate}
    return Assembled({**whole, "candidates": [made]}, problem or "")
