"""What servers answer, read into our values. Odd shapes are data: they end in `error`, never in an exception."""

from __future__ import annotations

import math
import re

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_count, as_number, as_object, as_text, objects_in
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, TokenLogprob, Usage
from prompt_debugger.core.complete import run_facts
from prompt_debugger.core.complete.backends.error_words import error_of_answer, words_of
from prompt_debugger.core.complete.backends.limits import MAX_CALLS, MAX_LOGPROBS, MAX_VALUES
from prompt_debugger.core.complete.growing_tokens import GrowingLogprobs
from prompt_debugger.core.complete.json_answers import json_of_text
from prompt_debugger.core.complete.problem import Problem
from prompt_debugger.core.complete.reading import READING
from prompt_debugger.core.complete.shapes import count_values, ids_of
from prompt_debugger.core.sandbox import job

_ID = re.compile(r"[0-9]{1,18}")  # more digits than Python reads into a number are not an id
_MOST_TOKENS = 10**12  # that a server counts
_KINDS = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
_TOKEN_ID = re.compile(r"token_id:([0-9]{1,18})")


@job("reading the chat's answer", READING)
def read_chat_text(text: str) -> ChatResult:
    """Read the answer of a chat completion that was not streamed; its body and time are left out.

    Raises:
        BackendError: It is not JSON (kind `not-json`).
    """
    return read_chat(json_of_text(text), "", 0.0)


def read_chat(answer: JSON, body: str, elapsed_s: float) -> ChatResult:
    """Read the answer of a chat completion that was not streamed; the first choice counts.

    Returns:
        What it holds; `error` says what it should hold and does not.
    """
    whole = as_object(answer)
    choice, choice_problem = _first_choice(whole)
    if not isinstance(answer, dict):
        choice_problem = f"the answer is not an object but {_KINDS.get(type(answer), 'a number')}"
    message = choice.get("message")
    stop_reason = stop_reason_of(choice.get("stop_reason"))
    wrong = problem_of_error(whole) or choice_problem or problem_of_error(choice)  # OpenRouter puts it there
    if wrong is None and not isinstance(message, dict):
        wrong = f"the first choice contains no message, only {shorten(message)}"
    read, too_much, _ = bound_message(as_object(message), "the message")
    problem = too_much if wrong is None else Problem(wrong)
    return ChatResult(
        message=read,
        finish_reason=finish_reason_of(choice.get("finish_reason")),
        stop_reason=stop_reason if stop_reason is not None else run_facts.stop_word(whole),
        token_ids=run_facts.output_ids(whole, choice),
        prompt_token_ids=run_facts.prompt_ids(whole),
        prompt_text=run_facts.prompt_text(whole),
        usage=usage_of(whole.get("usage")),
        logprobs=chat_logprobs_of(choice.get("logprobs")),
        prompt_logprobs=prompt_logprobs_of(whole.get("prompt_logprobs")),
        body=body,
        elapsed_s=elapsed_s,
        error=None if problem is None else problem.words,
        unread=None if problem is None else problem.unread,
    )


def bound_message(holder: JSONObject, name: str, most: int = MAX_VALUES) -> tuple[JSONObject, Problem | None, int]:
    """Return a message or delta without what is more than any model writes, what was left unread, and its size.

    Args:
        holder: The message or delta.
        name: What it is called.
        most: Of how many values it may be made; nothing is read of one of more.

    Returns:
        It, what was left unread, and of how many values it is made.
    """
    calls, unread = holder.get("tool_calls"), None
    if isinstance(calls, list) and len(calls) > MAX_CALLS:
        words = f"{name} contains {len(calls):,} tool calls, of which {MAX_CALLS:,} are read"
        unread = Problem(words, "too-much")
        holder = {**holder, "tool_calls": calls[:MAX_CALLS]}
    count = count_values(holder, most)
    if count > most:
        words = f"{name} contains more than {MAX_VALUES:,} values, so it was not read to the end"
        return {}, Problem(words, "too-much"), 1
    return holder, unread, count


def problem_of_error(answer: JSONObject) -> str | None:
    """Return what the error in a good answer or in a stream says; `None` if there is none."""
    error = error_of_answer(answer)
    if not error:
        return None
    return f"the server reported an error: {words_of(error) or shorten(error)}"


def usage_of(value: JSON) -> Usage | None:
    """Read the server's token accounting; zeros throughout are what a proxy writes that knows no counts."""
    if not isinstance(value, dict):
        return None
    counts = [as_count(value.get(key)) for key in ("prompt_tokens", "completion_tokens", "total_tokens")]
    if any(count is not None and not 0 <= count <= _MOST_TOKENS for count in counts):
        return None  # no count of anything
    return Usage(*counts) if any(count != 0 for count in counts) else None


def finish_reason_of(value: JSON) -> str | None:
    """Read the word for why an answer ended: "" is no word, and a number is an unknown one."""
    return (as_text(value) or None) if as_number(value) is None else str(value)


def stop_reason_of(value: JSON) -> str | int | None:
    """Read a stop string or stop token id."""
    return as_text(value) if isinstance(value, str) else as_count(value)


def chat_logprobs_of(value: JSON) -> tuple[TokenLogprob, ...] | None:
    """Read `logprobs` of a chat choice; `None` unless every token has one, and for more than any answer has."""
    content = as_object(value).get("content")
    if not isinstance(content, list) or len(content) > MAX_LOGPROBS:
        return None
    read = [_logprob_of(as_object(item)) for item in content]
    complete = [item for item in read if item is not None]
    return _bounded(complete) if len(complete) == len(content) else None


def _bounded(tokens: list[TokenLogprob]) -> tuple[TokenLogprob, ...] | None:
    growing = GrowingLogprobs()
    growing.add(tokens)
    return growing.reported


def completion_logprobs_of(value: JSON) -> tuple[TokenLogprob, ...] | None:
    """Read `logprobs` of a raw completion's choice: parallel lists; `None` unless every token has one."""
    fields = as_object(value)
    tokens, logprobs, tops = fields.get("tokens"), fields.get("token_logprobs"), fields.get("top_logprobs")
    if not isinstance(tokens, list) or not isinstance(logprobs, list) or len(tokens) != len(logprobs):
        return None
    if len(tokens) > MAX_LOGPROBS:
        return None
    tops = tops if isinstance(tops, list) and len(tops) == len(tokens) else [None] * len(tokens)
    read: list[TokenLogprob] = []
    for token, logprob, top in zip(tokens, logprobs, tops, strict=True):
        alternatives: list[JSON] = [{"token": key, "logprob": item} for key, item in as_object(top).items()]
        entry = _logprob_of({"token": token, "logprob": logprob, "top_logprobs": alternatives})
        if entry is None:
            return None
        read.append(entry)
    return _bounded(read)


def prompt_logprobs_of(value: JSON) -> tuple[tuple[TokenLogprob, ...], ...] | None:
    """Read vLLM's `prompt_logprobs`: per prompt token an object by token id, `null` for the first."""
    if not isinstance(value, list) or not value or len(value) > MAX_LOGPROBS:
        return None
    return tuple(_candidates_of(as_object(item)) for item in value)


def _candidates_of(by_id: JSONObject) -> tuple[TokenLogprob, ...]:
    read: list[TokenLogprob] = []
    for key, item in by_id.items():
        fields = as_object(item)
        logprob = as_number(fields.get("logprob"))
        if _ID.fullmatch(key) and logprob is not None and not math.isnan(logprob):
            read.append(TokenLogprob(as_text(fields.get("decoded_token")) or "", int(key), logprob))
    return tuple(sorted(read, key=lambda one: -one.logprob))


def _first_choice(answer: JSONObject) -> tuple[JSONObject, str | None]:
    """Return the choice with index 0, or the first there is, and what is wrong with the choices."""
    choices = answer.get("choices")
    if "choices" not in answer:
        return {}, "the answer contains no `choices`"
    if not isinstance(choices, list):
        return {}, f"the answer contains no list of choices, only {'null' if choices is None else shorten(choices)}"
    objects = objects_in(choices)
    if not objects:
        return {}, "the answer contains no choice" if not choices else f"the first choice is {shorten(choices[0])}"
    return next((choice for choice in objects if as_count(choice.get("index")) == 0), objects[0]), None


def _logprob_of(entry: JSONObject) -> TokenLogprob | None:
    token, logprob = as_text(entry.get("token")), as_number(entry.get("logprob"))
    token_id = as_count(entry.get("id"))
    if (token is None and token_id is None) or logprob is None or math.isnan(logprob):
        return None
    token = token or ""  # mlx-lm lists ids alone where no alternatives are asked for
    top = [
        (as_text(item.get("token")), as_number(item.get("logprob"))) for item in objects_in(entry.get("top_logprobs"))
    ]
    known = [(text, value) for text, value in top if text is not None and value is not None and not math.isnan(value)]
    found = _TOKEN_ID.fullmatch(token)
    piece = _piece_of(entry.get("bytes"))
    if found is not None:  # an id in place of a text; its `bytes` may spell just that
        token_id, token, piece = int(found[1]), "", None if piece in (token.encode(), b"") else piece
    return TokenLogprob(token, token_id, logprob, tuple(sorted(known, key=lambda pair: -pair[1])), piece)


def _piece_of(value: JSON) -> bytes | None:
    numbers = ids_of(value)
    return bytes(numbers) if numbers is not None and all(number < 256 for number in numbers) else None
