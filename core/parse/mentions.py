"""Tell a marker that a sentence mentions from a call that was begun.

    Wrap the call in <tool_call> tags.
    A call begins with <|tool_call_begin|>

What looks like a call without arguments is not one if its marker is in the
middle of a sentence, or if prose and not a name follows it.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.parse.tools import tool_names

_LOOK_CHARS = 160  # how far back the sentence is looked at
_MARKERS = re.compile(r"(?:(?:<[^<>\s]{1,60}>|\[[A-Z_]{2,30}\])[ \t]*)+\Z")
_IN_SENTENCE = re.compile(r"[\w,;'’)][ \t]+\Z|[(\"'“‘]\Z")
_ABOUT_NOTATION = re.compile(
    r"\b(?:writ(?:e|es|ing|ten)|wrote|us(?:e|es|ing)|send|sends|emit|emits|output|outputs|print|say|says|would|could|"
    r"should|might|means?|forms?|formats?|formatted|notations?|syntax|examples?|e\.g|such as|looks? like|like this|"
    r"instead|tags?|markup|markers?|tokens?|patterns?|templates?|json|xml|wrap|wraps|put|puts|to call|"
    r"how to|never|not|don't)\b",
    re.IGNORECASE,
)
_NO_NAME = re.compile(r"\W*|.*[.,;:!?]", re.DOTALL)


def drop_mentions(
    raw: str, calls: tuple[ToolCallAttempt, ...], region: Span, context: ReadContext
) -> tuple[ToolCallAttempt, ...]:
    """Return the calls that a scanner found in a region, less those that are only talked about."""
    if context.finish_reason == "length" or all(call.status is CallStatus.COMPLETE for call in calls):
        return calls
    names = tool_names(context.tools)
    return tuple(call for call in calls if not _is_mention(raw, call, region, names))


def is_in_sentence(before: str) -> bool:
    """Return whether a text ends in the middle of a sentence, so that what follows is part of it."""
    return _IN_SENTENCE.search(before[-_LOOK_CHARS:]) is not None


def is_about_notation(text: str, span: Span) -> bool:
    """Return whether the sentence around a stretch talks about how calls are written, rather than making one."""
    before = text[max(0, span.start - _LOOK_CHARS) : span.start].rpartition("\n")[2]
    after = text[span.stop : span.stop + _LOOK_CHARS].partition("\n")[0]
    return any(_ABOUT_NOTATION.search(part) is not None for part in (before, after))


def is_sure(text: str, call: ToolCallAttempt, span: Span, names: frozenset[str]) -> bool:
    """Return whether a call is really one, despite the prose around it on its line.

    It must be complete and give arguments to a tool of the request, and the sentence does not talk about notation.
    """
    is_whole = call.status is CallStatus.COMPLETE and bool(call.arguments_json)
    return is_whole and call.name in names and not is_about_notation(text, span)


def _is_mention(raw: str, call: ToolCallAttempt, region: Span, names: frozenset[str]) -> bool:
    if call.status is CallStatus.COMPLETE or call.arguments.strip() or call.name in names:
        return False
    if call.name is not None and call.name_span is not None and _is_prose(raw, call, call.name, call.name_span):
        return True
    before = raw[max(region.start, call.char_span.start - _LOOK_CHARS) : call.char_span.start].rpartition("\n")[2]
    return _IN_SENTENCE.search(_MARKERS.sub("", before)) is not None


def _is_prose(raw: str, call: ToolCallAttempt, name: str, span: Span) -> bool:
    """Return whether what takes a name's place is not a name: punctuation, or a word after the marker and a space."""
    before = raw[min(call.char_span.start, span.start) : span.start]
    marker = before.rstrip(" \t")
    is_parted = marker != before and not marker[-1:].isalnum()  # `⟦call NAME`: that space is the marker's own
    return is_parted or _NO_NAME.fullmatch(name) is not None
