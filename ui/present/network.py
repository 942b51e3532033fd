"""The network view: every exchange of a run with its server, its bodies, its headers, and when each piece came."""

from __future__ import annotations

from urllib.parse import urlsplit

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.backends.exchanges import Exchange, ExchangeLog
from prompt_debugger.core.complete.backends.sse import SseParser
from prompt_debugger.core.pipeline.progress import ASKING_MODEL
from prompt_debugger.ui.present.payload import pack_payload

MAX_TEXT_CHARS = 100_000
MAX_EVENTS = 1_000

_PURPOSES = (
    ("/chat/completions/render", "the server's own prompt"),
    ("/chat/completions/derender", "the server's parsers, asked again"),
    ("/chat/completions", "chat"),
    ("/responses/render", "the server's own prompt"),
    ("/messages/render", "the server's own prompt"),
    ("/responses", "Responses"),
    ("/messages", "Messages"),
    ("/completions", "raw completion"),
    ("/models", "which models it serves"),
    ("/version", "which version it is"),
    ("/tokenize", "token ids of a text"),
    ("/detokenize", "text of token ids"),
    ("/tokenizer_info", "its tokenizer and template"),
    ("/apply-template", "the server's own prompt"),
    ("/props", "its settings and template"),
    ("/metrics", "its metrics, which show the engine"),
    ("/openapi.json", "what it offers"),
    ("/parse_function_call", "its tool parser, asked again"),
    ("/separate_reasoning", "its reasoning parser, asked again"),
)
# What a run asks for besides the model's answer.
_AFTER_MODEL = (
    (("/render", "/apply-template"), "Asking for the server's own prompt"),
    (("/derender", "/parse_function_call", "/separate_reasoning"), "Asking the server's parsers"),
    (("/tokenize", "/detokenize"), "Asking for token ids"),
)


def network_payload(log: ExchangeLog, run: int) -> str | None:
    """Return the payload of the view; `None` if nothing was sent."""
    if not log.exchanges:
        return None
    return pack_payload({"run": run, "exchanges": [_exchange(one) for one in log.exchanges]})


def waiting_sentence(sentence: str, log: ExchangeLog) -> str:
    """Return what a run is doing, with the exchange that is under way. The strip has the clock."""
    waiting = log.waiting()
    if waiting is None:
        return sentence
    path = _path(waiting)
    if sentence == ASKING_MODEL:
        sentence = next((words for ends, words in _AFTER_MODEL if path.endswith(ends)), sentence)
    return f"{sentence} · {waiting.method} {path}"


def _exchange(one: Exchange) -> JSONObject:
    streamed = bool(one.body) and '"stream": true' in one.body
    events, text = _answer(one)
    purpose = next((words for path, words in _PURPOSES if _path(one).endswith(path)), "")
    return {
        "purpose": f"{purpose}, streamed" if streamed and purpose else purpose,
        "method": one.method,
        "url": one.url,
        "path": _path(one),
        "status": one.status,
        "error": one.error,
        "started_s": round(one.started_s, 4),
        "first_s": None if one.first_s is None else round(one.first_s - one.started_s, 4),
        "total_s": None if one.ended_s is None else round(one.ended_s - one.started_s, 4),
        "size": one.size,
        "sent_headers": [[name, value] for name, value in one.sent_headers],
        "headers": [[name, value] for name, value in one.headers],
        "body": _cut(one.body),
        "events": events,
        "text": text,
    }


def _answer(one: Exchange) -> tuple[JSON, str]:
    """Return the events of a stream with their times since the request was sent, or the text of a whole answer."""
    content_type = next((value for name, value in one.headers if name.lower() == "content-type"), "")
    if not content_type.startswith("text/event-stream"):
        whole = b"".join(piece for _, piece in one.pieces)
        return None, _cut(one.scrub(whole.decode("utf-8", "replace")))
    parser = SseParser()
    events: list[JSON] = []
    for at_s, piece in one.pieces:
        events += [[round(at_s - one.started_s, 4), one.scrub(event.data)] for event in parser.feed(piece)]
        if len(events) >= MAX_EVENTS:
            return events[:MAX_EVENTS], ""
    events += [[None, one.scrub(event.data)] for event in parser.finish()]
    return events[:MAX_EVENTS], ""


def _path(one: Exchange) -> str:
    return urlsplit(one.url).path


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]}… ({len(text):,} characters in all)"
