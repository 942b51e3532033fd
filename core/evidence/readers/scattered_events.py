r"""Events of a stream inside other text: labelled, with sentences between them, or as Python or JavaScript.

    chunk 1: { index: 0, id: "call_a", function: { name: "search", arguments: '{"qu' } }
    chunk 2: { index: 0, function: { arguments: 'ery": 1}' } }
    DEBUG Sending chunk chunk="{\"object\":\"chat.completion.chunk\", …}"      a field of a log, as LocalAI writes it

All objects of the text must be events of one stream: deltas of calls, chunks, or events of a known API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.text import closed_strings
from prompt_debugger.core.base.types import JSON, JSONObject, Refusal, Span
from prompt_debugger.core.evidence.answers.read import is_event_list, lines_of_events, read_stream
from prompt_debugger.core.evidence.answers.shapes import chunk_of_call
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.taking import add_answer, as_part, head_deltas, of_deltas_alone
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, lenient_json_of
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed
from prompt_debugger.core.known_errors import Cause, classes_of

_MAX_CHARS = 400_000
_MAX_OBJECTS = 5_000
_WORD = re.compile(r"[A-Za-z]{2,}")
_MIN_WORDS = 4  # of a sentence
_GAP = re.compile(r"\s*(?:\.{3}|\u2026)")
_BRACKET = re.compile(r"[{}\[\]]")
_EVENTS_IN_FENCE = re.compile(r"(?m)^[ \t]{0,8}```\w{0,20}[ \t]*\n(?:event|data): ?\S")  # which is read alone
_STREAM_BELOW = re.compile(r"(?m)^data: ?\{")
_SIGNS = re.compile(r"\bdelta\b|\brole\b|\btool_calls\b|\bfunction\b|\bdone\b|\btype\b")
# An object as a text, in a field of a log.
_QUOTED = re.compile(r"(?<=\w=)\"\{\\\"(?:[^\"\\\n]|\\.)*+(?<=\})\"(?!\S)")
_CODE = re.compile(r"(?m)^[ \t]*(?:import |from [\w.]+ import |const |let |def )|\.create\(|(?:^|\s)curl\s")


def _last_stream(text: str) -> str:
    """Return a text from its last stream on: what `[DONE]` ended before it is another one."""
    text = _QUOTED.sub(_decoded, text) if '="{\\"' in text else text
    parts = [part for part in text.split("[DONE]") if "{" in part and _SIGNS.search(part)]
    return parts[-1] if len(parts) > 1 else text


def _finds(paste: Paste) -> float:
    text = paste.text
    if paste.value is not None or len(text) > _MAX_CHARS or text.lstrip().startswith(("data:", "event:")):
        return 0.0
    if text.lstrip().startswith("{") and _STREAM_BELOW.search(text) is not None:
        return 0.0  # an object, and then a stream, which are two things
    last = text.rstrip().removesuffix("```").rstrip().rpartition("\n")[2]
    if last.startswith(("data: {", "data:{")) and not last.endswith("}"):
        return 0.0  # a stream under words, whose end was cut: its own reader says so
    if _SIGNS.search(text) is None or _CODE.search(text[:20_000]) or json_lines(text):
        return 0.0
    return 0.64 if _events(_last_stream(text)) and _EVENTS_IN_FENCE.search(text) is None else 0.0


def _read(paste: Paste) -> Evidence:
    text = _last_stream(paste.text)
    events = _events(text)
    if not events:
        raise RequestError("The objects in the text are not events of one stream.", "Paste only the stream.")
    note = f"{len(events)} objects in the text were read as the events of a stream."
    if text != paste.text:
        note = f"{note} The text contains more than one stream; the last one was read."
    answer = as_part(read_stream(lines_of_events(events)))
    if _has_gaps(text) and answer.chat is not None:
        chat = replace(answer.chat, deltas=head_deltas(answer.chat))
        answer = answer._replace(chat=chat, stream=chat)
        note = f"{note} What was between them is unknown."
    evidence = of_deltas_alone(add_answer(Evidence(Form.STREAM, "a streamed response", notes=(note,)), answer))
    refused = _client_error(text)
    return evidence if evidence.error is not None or refused is None else replace(evidence, error=refused)


def _client_error(text: str) -> Refusal | None:
    """Return the error of a client that could not read the events which its log quotes; `None` without one."""
    spans = _spans(text)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    rest = "".join(text[start:stop] for start, stop in zip(edges[::2], edges[1::2], strict=True))
    found = error_of_text(rest)
    if found is None:
        return None
    about = next(classes_of(found.refusal.message), None)
    is_of_answer = about is not None and about.error.cause is Cause.OUTPUT and about.error.is_distinctive
    return found.refusal if is_of_answer else None


def _has_gaps(text: str) -> bool:
    """Return whether there is anything but labels between the objects, so that events may be missing there."""
    spans = _spans(text)
    between = "\x00".join(text[one.stop : next_one.start] for one, next_one in pairwise(spans))
    lines = [line for line in between.split("\n") if not line.startswith(("event:", "id:"))]
    return any(len(_WORD.findall(line)) >= _MIN_WORDS or _GAP.match(line) for line in lines)


def _decoded(quoted: re.Match[str]) -> str:
    """Return the object that a field of a log holds as a text."""
    inner = json_of(quoted[0])
    return inner if isinstance(inner, str) else quoted[0]


@lru_cache(maxsize=4)
def _events(text: str) -> tuple[JSONObject, ...]:
    """Return the objects of a text as events; none unless all of them are events of one stream."""
    values: list[JSON] = []
    for span in _spans(text):
        value = _value(text[slice(*span)])
        if not isinstance(value, dict) or len(values) >= _MAX_OBJECTS:
            return ()
        values.append(chunk_of_call(value) or value)
    if len(values) < 2 or not is_event_list(values):
        return ()
    return tuple(value for value in values if isinstance(value, dict))


def _spans(text: str) -> list[Span]:
    """Return the stretches of a text from a brace to the one that closes it; none if the text begins inside of one."""
    spans: list[Span] = []
    depth, start = 0, 0
    for found in _brackets(text):
        if found[0] in ("{", "["):
            start = found.start() if depth == 0 else start
            depth += 1
        elif found[0] in ("}", "]"):
            if depth == 0:
                return []
            depth -= 1
            if depth == 0 and text[start] == "{":
                spans.append(Span(start, found.end()))
    return spans


def _brackets(text: str) -> Iterator[re.Match[str]]:
    at = 0
    for string in closed_strings(text):
        yield from _BRACKET.finditer(text, at, string.start())
        at = string.end()
    yield from _BRACKET.finditer(text, at)


def _value(written: str) -> JSON:
    value = json_of(written)
    if value is not None:
        return value
    printed = read_printed(written)
    if printed is not None and not printed.is_cut and printed.stop == len(written):
        return plain(printed.value)
    lenient = lenient_json_of(written)
    return None if lenient is None else lenient[0]


READER = Reader(Form.STREAM, _finds, _read)
