"""Whether something in a request and an answer of one text shows that the one was the answer to the other.

    request: {"model": "a/b-8b", …}        answer: {"model": "b-8b", …}             the same model
    request: … the tool `get_weather`      answer: a call to `get_weather`          a tool in common
    request: … "Rain in Oslo tomorrow?"    answer: … {"city": "Oslo"}               words in common

A person may paste two things that have nothing to do with each other: what is wrong with the one beside the other, such
as a call to a tool that is not offered, then follows from an assumption, and is said to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice

from prompt_debugger.core.base.comparable import UNLINKED
from prompt_debugger.core.base.json_values import as_text, strings_in
from prompt_debugger.core.base.types import ChatResult, Request
from prompt_debugger.core.diagnose.fields import (
    calls_of_message,
    history_calls,
    message_texts,
    request_tools,
)
from prompt_debugger.core.diagnose.hosted import answering_model
from prompt_debugger.core.diagnose.near_names import MAX_ASKED, but_for_prefix, closest
from prompt_debugger.core.evidence.evidence import Evidence, add_notes, trace_of

_WORD = re.compile(r"[^\W_]{5,40}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}|\d{2,20}")
_CALLED = re.compile(r"\"name\"\s?: ?\"([\w.-]{1,64})\"|\bfunctions\.([\w.-]{1,64}):\d|<function=([\w.-]{1,64})>")
_MAX_CHARS = 200_000
_MAX_MODEL = 4_000  # characters at the beginning of an answer in which it names its model
_COMMON = 2  # words in common that are no accident
_FEW = 12  # words of a short text, of which one is enough
_MIN_MODEL = 4
_NEAR = 0.8
_NO_WORDS = frozenset({"role", "type", "id", "tool_call_id", "index", "name"})


def note_unlinked(evidence: Evidence, pieces: Sequence[Evidence] = ()) -> Evidence:
    """Return evidence of a request and what came back with a note where nothing shows that they belong together.

    Args:
        evidence: With both.
        pieces: Of which it was merged; what one of them holds together belongs together.
    """
    chat = evidence.chat if evidence.chat is not None else evidence.stream
    request = trace_of(evidence).request
    if not request.body or (chat is None and evidence.raw is None):
        return evidence
    if any(_holds_both(piece, evidence) for piece in pieces) or _are_linked(request, chat, evidence.raw):
        return evidence
    return evidence if UNLINKED in evidence.notes else add_notes(evidence, (UNLINKED,))


def _holds_both(piece: Evidence, merged: Evidence) -> bool:
    """Return whether one piece has the request, or the tools, and what came back."""
    is_asked = piece.request is merged.request and piece.tools == merged.tools
    if merged.chat is None and merged.stream is None:
        return is_asked and piece.raw is not None and piece.raw == merged.raw
    answered = merged.chat if merged.chat is not None else merged.stream
    return is_asked and any(answered is one for one in (piece.chat, piece.stream))


def are_of_one_answer(whole: ChatResult, streamed: ChatResult) -> bool:
    """Return whether an answer and a stream may be of one request: they call the same tool, or share words."""
    names = [{call.name for call in calls_of_message(one.message)} for one in (whole, streamed)]
    if all(names):
        return bool(names[0] & names[1])
    texts = [" ".join(strings_in(one.message, _NO_WORDS))[:_MAX_CHARS] for one in (whole, streamed)]
    return not all(map(_WORD.search, texts)) or _share_words(*texts)


def _are_linked(request: Request, chat: ChatResult | None, raw: str | None) -> bool:
    """Return whether a model, a tool, the id of a call or words are in both a request and what came back."""
    message = {} if chat is None else chat.message
    answer = f"{raw or ''}\n{' '.join(strings_in(message, _NO_WORDS))}"[:_MAX_CHARS]
    asked, named = as_text(request.body.get("model")), None if chat is None else answering_model(chat.body)
    if asked and named and _is_same_model(asked, named):
        return True
    if _share_words(" ".join(_texts(request))[:_MAX_CHARS], answer):
        return True
    is_other_model = bool(asked and named)  # two that were asked for the same tool
    called = [call.name or "" for call in calls_of_message(message)]
    called += [next(filter(None, found.groups())) for found in islice(_CALLED.finditer(raw or ""), MAX_ASKED)]
    return not is_other_model and _share_tool(request, called, answer)


def _texts(request: Request) -> Iterator[str]:
    for text in message_texts(request):
        if text.role != "system":  # a general one is in many requests
            yield text.text
    prompt = request.body.get("prompt")
    if isinstance(prompt, str):
        yield prompt


def _is_same_model(asked: str, named: str) -> bool:
    """Return whether two names are of one model: one may have a folder before it, or a date after it."""
    one, other = (re.sub(r"[^a-z0-9]", "", name.rpartition("/")[2].lower()) for name in (asked, named))
    shorter = min(one, other, key=len)
    return len(shorter) >= _MIN_MODEL and (one.startswith(shorter) and other.startswith(shorter))


def _share_tool(request: Request, called: list[str], answer: str) -> bool:
    known = {tool.name for tool in request_tools(request)} | {call.name or "" for call in history_calls(request)}
    known -= {""}
    if any(name in known for name in called) or any(_names(answer, name) for name in known):
        return True
    return any(_is_near(name, closest(name, known)) or but_for_prefix(name, known) for name in called[:MAX_ASKED])


def _is_near(name: str, other: str | None) -> bool:
    """Return whether a name is another one but for a slip, as *did you mean* is more generous than a proof may be."""
    return other is not None and SequenceMatcher(None, name, other).ratio() >= _NEAR


def _names(text: str, name: str) -> bool:
    """Return whether a text has a tool's name as markup has it, between quotation marks, tags or brackets."""
    return len(name) > 1 and re.search(rf"[\"'=:.>\[ `]{re.escape(name)}[\"'>(:<\]` ]", text) is not None


def _share_words(asked: str, answer: str) -> bool:
    words, others = ({word.lower() for word in _WORD.findall(text)} for text in (asked, answer))
    few = min(len(words), len(others)) < _FEW
    return len(words & others) >= (1 if few else _COMMON)
