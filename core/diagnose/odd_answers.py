"""Answers that came and are odd: whole ones beside which an error or something unreadable came, and other forms."""

from __future__ import annotations

import re
from typing import NamedTuple

from prompt_debugger.core.base.comparable import EVENTS_NOT_ASKED, MESSAGE_IN_EVENTS, REPORTED
from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.types import Api, ChatResult
from prompt_debugger.core.diagnose.endings import is_normal_end

_UNREADABLE = re.compile(r"event \d+ of the stream is not (?:JSON|an object)\b")
_NOT_UTF8 = re.compile(r"(?:the answer|event \d+ of the stream) is not UTF-8\b")
_MAX_LINES = 20  # that are looked at
_MAX_CHARS = 100_000  # likewise
_CLIENTS_FAIL = (
    "Check what writes it, the server or a proxy that keeps the connection open (comments, `: …`, are made for that): "
    "clients that read each event as JSON fail at it."
)
_SEND_UTF8 = (
    "Have the server, or the proxy that converts its answers, send UTF-8: JSON has no other encoding on the way, and "
    "clients read it as UTF-8 whatever the header names."
)


class OddAnswer(NamedTuple):
    """What is said of an odd answer.

    Attributes:
        title: A sentence.
        fix: What to do.
    """

    title: str
    fix: str


ONE_DOCUMENT = OddAnswer(
    "The server answered a streaming request with one JSON document.",
    "Leave `stream` out, or check for a proxy that collects the stream before passing it on.",
)
_OWN_FORMS = {
    Api.RESPONSES: "an answer of OpenAI's Responses API",
    Api.MESSAGES: "an answer of Anthropic's Messages API",
    Api.GEMINI: "an answer of Gemini's generateContent",
}


def odd_of_api(body: str, form: str | None, name: str, api: Api, *, is_stream: bool) -> OddAnswer | None:
    """Return what is said of an answer to a request of another API than chat completions; `None` for any other form.

    Args:
        body: The answer as it came.
        form: What it is in words, if it is known.
        name: What it is called.
        api: Which API was asked.
        is_stream: Whether a stream was asked for.
    """
    if is_stream and form == _OWN_FORMS.get(api):
        return _of_lines(name) if _is_of_lines(body) else ONE_DOCUMENT
    if isinstance(as_object(decode_json(body)).get("choices"), list):
        return OddAnswer(
            f"The {name} arrived in another form: a chat completion.",
            "Ask `/v1/chat/completions`, or have the gateway answer by the API that it was asked by: a client of this "
            "API finds nothing in it.",
        )
    return None


def odd_whole(result: ChatResult, name: str, words: str) -> OddAnswer | None:
    """Return what is said of an answer that has come, and its end as well; `None` if it may have broken off.

    Args:
        result: The answer.
        name: What it is called.
        words: The server's words, where it reports an error; else "".
    """
    error = result.error or ""
    has_end = result.finish_reason is not None
    if has_end and _NOT_UTF8.match(error):
        return OddAnswer(f"The {name} is not UTF-8.", _SEND_UTF8)
    if has_end and _UNREADABLE.match(error):
        return OddAnswer(f"An event of the {name} could not be read.", _CLIENTS_FAIL)
    if error.startswith(REPORTED) and (is_normal_end(result.finish_reason) or result.finish_reason == "tool_calls"):
        return OddAnswer(
            f"The server reports an error beside the {name}{words and f': {words}'}.",
            "The answer has its end; clients that look for an error first do not read it. Follow the server's message, "
            "and check its log.",
        )
    return None


def odd_form(result: ChatResult, name: str, *, is_stream: bool) -> OddAnswer | None:
    """Return what is said of an answer of which nothing is read; `None` if neither its form nor its way explains it."""
    if result.error == MESSAGE_IN_EVENTS:
        return OddAnswer(
            f"The events of the {name} contain `message` in place of `delta`.",
            "Clients that read a stream look for `delta` and find nothing. Ask without `stream`, and report it to the "
            "authors of the server or gateway.",
        )
    if EVENTS_NOT_ASKED in (result.error or ""):
        return OddAnswer(
            f"The {name} came as a stream of events, for which the request did not ask.",
            "Ask for a stream, or check for a gateway that streams every answer: a client that asked for one "
            "JSON document does not read events.",
        )
    if is_stream and _is_of_lines(result.body):
        return _of_lines(name)
    return OddAnswer(f"The {name} did not arrive.", result.error_hint) if result.error_hint else None


def _of_lines(name: str) -> OddAnswer:
    return OddAnswer(
        f"The {name} came as lines of JSON, not as server-sent events.",
        "Check the server address (up to and including `/v1`): clients look for lines that begin with `data:`, and "
        "find none.",
    )


def _is_of_lines(body: str) -> bool:
    """Return whether a text is at least two lines of which each is an object, as far as they are looked at."""
    lines = [line for line in body[:_MAX_CHARS].splitlines()[: _MAX_LINES + 1] if line.strip()]
    whole = lines[:-1] if len(lines) > _MAX_LINES or len(body) > _MAX_CHARS else lines
    return len(lines) > 1 and bool(whole) and all(as_object(decode_json(line)) for line in whole)
