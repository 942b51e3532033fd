"""What the findings on a refusal are made of: the server's words, who says them, and places of the request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.types import JSON, FindingEvidence, JSONObject, Refusal, Trace
from prompt_debugger.core.diagnose.near_names import but_for_prefix, listed_tools, repeated_name
from prompt_debugger.core.diagnose.refusals.fields import Spot, broken_calls_in, spots_of
from prompt_debugger.core.diagnose.refusals.understand import Understood
from prompt_debugger.core.diagnose.trace_queries import in_request, quote
from prompt_debugger.core.known_errors import Cause, words_as_one_line

TITLE_CHARS = 300
MAX_SUBJECT = 125  # characters of what a sentence means, so that a title has room for its words
# vLLM repeats field and value after its sentence.
_PARAMETER = re.compile(r"\s*\(parameter=[^)]*\)$")
# What a validator writes after its sentence, as Python prints it.
# llama.cpp's engine for templates quotes the lines of each place, the innermost one first.
_TEMPLATE_LINES = re.compile(r"(?P<place> at row \d{1,9}, column \d{1,9}):.*", re.DOTALL)
_PYTHON_REST = re.compile(r"['\"], '(?:input|ctx|url)': .*| \[type=\w{1,60}, input_value=.*")
# `litellm.BadRequestError` names a class, not the file that raised it.
_CLASS_ALONE = re.compile(r"\w{1,60}/[A-Z]\w{1,80}")
_UNREAD = frozenset({"not-json", "reply-not-json", "stream-line-not-json"})  # classes of bodies that a client got
_ADDRESS = re.compile(r"\burl='?http|://")
_STEP = re.compile(r"\[(\d{1,6})\]|([^.\[\]]+)")
_NAME_ONCE = (
    "Ask without streaming, or run a release of the server that sends the name once. A client can take the name from "
    "the first piece with an index, and ignore the others."
)


def words_of(refusal: Refusal) -> str:
    """Return the server's words in one line, without a stop."""
    words = _PARAMETER.sub("", " ".join(refusal.message.split()))
    return words if words.endswith("...") else words.rstrip(".。")


def heading(refusal: Refusal, field: str | None) -> str:
    """Return status, field and words, whole."""
    parts = ["Its words" if refusal.status is None else refusal.label]
    if field:
        parts.append(f"field `{field}`")
    return f"{', '.join(parts)}: {words_of(refusal).removesuffix('...').rstrip(':')}."


def title_words(understood: Understood) -> str:
    """Return the words that a title has room for: of a known sentence only what it says, without what precedes it."""
    known, message = understood.known, words_as_one_line(understood.refusal.message)
    words = known.sentence if known is not None and known.sentence in message else ""
    placed = f"`{understood.refusal.field}`: {words}"  # as a validator says it; the place is half of what happened
    words = placed if words and placed in message else words
    words = _PYTHON_REST.sub("", words or understood.words or words_of(understood.refusal))
    words = _TEMPLATE_LINES.sub(r"\g<place>", words, count=1)
    return quote(_PARAMETER.sub("", words).rstrip("."), TITLE_CHARS).removesuffix("...").rstrip("!")


def named_field(understood: Understood) -> str | None:
    """Return the request field that the server named, or that its sentence is known to be about."""
    if understood.refusal.field is not None:
        return understood.refusal.field
    field = None if understood.known is None else understood.known.field
    return understood.field if field in (None, "messages", "input") else field


def field_in_words(words: str, body: JSONObject) -> str | None:
    """Return the field of a request that words name though no form of theirs says so; `None` for none or several.

    >>> field_in_words("Unrecognized request argument supplied: tools", {"tools": [], "model": "m"})
    'tools'
    >>> field_in_words("The model wrote no tools", {"tools": [], "model": "m"}) is None
    True
    """
    named = [key for key in body if key in words and re.search(_naming(key), words)]
    return named[0] if len(named) == 1 else None


def _naming(key: str) -> str:
    """Return the pattern of words that mean a field: a name that no prose has, quoted, or after what it is."""
    name = re.escape(key)
    if "_" in key:
        return rf"\b{name}\b"
    kind = r"(?:argument|parameter|param|field|propert(?:y|ies))s?\b"
    return rf"[`'\"]{name}[`'\"]|{kind}[^\w]{{0,4}}(?:\w{{1,40}}[^\w]{{1,3}}){{0,2}}{name}\b"


def spots(trace: Trace, understood: Understood) -> tuple[Spot, ...]:
    """Return the places of the request that explain the refusal, where it is available."""
    if understood.known is not None:
        return spots_of(trace.request, understood.known.error.look, understood.known.parts)
    found = understood.classified
    return () if found is None else spots_of(trace.request, found.error.look, found.parts)


def explanation(understood: Understood, found: Sequence[Spot]) -> str:
    """Return what the words mean, what is in the request, and who says them."""
    known, classified = understood.known, understood.classified
    spots_say = [spot.says for spot in found]
    if known is not None:
        parts = [known.error.means, *_meant(understood, known.parts.get("name")), *spots_say]
        if not found and (calls := known.parts.get("calls")):
            parts += broken_calls_in(calls)
        return f"{' '.join(parts)} This error message is known from {known.maker}."
    source = _speaker(understood)
    if classified is None:
        return f"This error message is not in the tables of known errors, so no explanation is available.{source}"
    return f"{' '.join([classified.means, *spots_say])} This is inferred from its words.{source}"


def _meant(understood: Understood, name: str | None) -> tuple[str, ...]:
    """Return the tool that a call to an unknown one means, where the error lists the tools."""
    refusal = understood.refusal
    beside = refusal.around or ""  # where the error is repeated whole, if its first line alone was taken for it
    listed = listed_tools(refusal.message) or (listed_tools(beside) if name and f"'{name}'" in beside else ())
    if name and (unit := repeated_name(name)):
        count = len(name) // len(unit)
        return (f"`{name}` is `{unit}` {count} times: several pieces of a stream had the whole name.",)
    if not name or (tool := but_for_prefix(name, listed)) is None:
        return ()
    return (f"But for prefix, case or separators `{name}` is the available tool `{tool}`.",)


def remedy_of(understood: Understood) -> str:
    """Return what helps by the sentence, or by its class; "" where nothing is known to."""
    known, classified = understood.known, understood.classified
    if known is not None and repeated_name(known.parts.get("name", "")):
        return _NAME_ONCE
    if known is not None and known.error.remedy:
        return known.error.remedy
    return "" if classified is None else classified.remedy


def is_raised_inside(understood: Understood) -> bool:
    """Return whether an error of no known sentence and no class was raised in a program that its traceback shows.

    One with a status is an answer, which the client whose traceback it is only passed on.
    """
    is_unknown = understood.known is None and understood.classified is None and understood.quoted is None
    return (
        is_unknown
        and understood.refusal.status is None
        and understood.speaker is not None
        and bool(understood.speaker.where)
    )


def _is_of_client(understood: Understood) -> bool:
    """Return whether a client says that it could not read an answer, and only its address shows whose that was."""
    classified, speaker = understood.classified, understood.speaker
    is_unread = classified is not None and classified.error.name in _UNREAD
    return is_unread and speaker is not None and not speaker.where and _ADDRESS.search(understood.words) is not None


def _speaker(understood: Understood) -> str:
    speaker = understood.speaker
    if speaker is None:
        return ""
    if understood.cause is Cause.CONNECTION and not speaker.where:
        return f" It was meant for {speaker.title}."  # whose address the words name: a client reported it
    if _is_of_client(understood):
        return f" The request was meant for {speaker.title}."
    where = f" (`{speaker.where}`)" if speaker.where and not _CLASS_ALONE.fullmatch(speaker.where) else ""
    return f" It was reported by {speaker.title}{where}."


def evidence_of(
    trace: Trace, understood: Understood, found: Sequence[Spot], field: str | None
) -> tuple[FindingEvidence, ...]:
    """Return the places of the request, then the server's words."""
    refusal = understood.refusal
    status = "" if refusal.status is None else f"{refusal.status} "
    server = FindingEvidence("server", quote=quote(f"{status}{words_of(refusal)}"))
    if found:
        return (*(in_request(spot.field, spot.quote) for spot in found), server)
    held = held_path(trace.request.body, field) if field else ""
    return (in_request(held, _shown(trace.request.body, held)), server) if held else (server,)


def links_of(understood: Understood) -> tuple[str, ...]:
    """Return where the sentence is discussed."""
    link = None if understood.known is None else understood.known.error.link
    return () if link is None else (link,)


def held_path(body: JSON, field: str) -> str:
    """Return as much of a path as the request has; "" if it has none of it."""
    return _held(body, field)[0]


def _held(body: JSON, field: str) -> tuple[str, JSON]:
    value, path = body, ""
    for step in _STEP.finditer(field):
        index, name = step[1], step[2]
        if index is not None and isinstance(value, list) and int(index) < len(value):
            value, path = value[int(index)], f"{path}[{index}]"
        elif name is not None and isinstance(value, dict) and name in value:
            value, path = value[name], f"{path}.{name}" if path else name
        else:
            break
    return path, value


def _shown(body: JSON, path: str) -> str | None:
    """Return a value that one line shows."""
    value = _held(body, path)[1]
    return None if isinstance(value, dict | list) else str(value) if not isinstance(value, str) else value
