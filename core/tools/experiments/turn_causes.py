"""Why a past assistant turn is not printed again as it was, found by rendering it with one thing changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from prompt_debugger.core.base.json_values import decoded
from prompt_debugger.core.base.text import blocks_between
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.formats import TABLES, ReasoningPair
from prompt_debugger.core.tools.experiments.switches.calls import edit_arguments
from prompt_debugger.core.tools.experiments.switches.reasoning import drop_reasoning
from prompt_debugger.core.tools.experiments.switches.switch import Edit

Renders: TypeAlias = Callable[[list[JSON]], str | None]

# `<reasoning>` is not a family's: clients write it into content.
_PAIRS = (*TABLES.reasoning_pairs, ReasoningPair("<reasoning>", "</reasoning>"))
_WHOLE = "|".join(rf"{re.escape(opener)}.*?{re.escape(closer)}\s*" for opener, closer in _PAIRS)
_CLOSER = "|".join(re.escape(closer) for _, closer in _PAIRS)
_BLOCK = re.compile(rf"{_WHOLE}|^.*?(?:{_CLOSER})\s*", re.DOTALL)
_OPENED = re.compile("|".join(re.escape(opener) for opener, _ in _PAIRS))
_CLOSED = re.compile(_CLOSER)
_SPACE = re.compile(r"\s*")
_TAIL = 60  # characters at the end of a prompt where a generation prompt opens reasoning
_REASONING = ("reasoning_content", "reasoning")


class BreakCause(StrEnum):
    """What happened to the turn between its generation and the next prompt."""

    GENERATION_PROMPT = "generation-prompt"
    REASONING_STRIPPED = "reasoning-stripped"
    REASONING_EMPTIED = "reasoning-emptied"
    CONTENT_TRIMMED = "content-trimmed"
    CONTENT_EMPTIED = "content-emptied"
    CALLS_DROPPED = "calls-dropped"
    TURN_DROPPED = "turn-dropped"
    ARGUMENTS_REWRITTEN = "arguments-rewritten"
    ID_REWRITTEN = "id-rewritten"
    ENDING = "ending"
    TOKEN_SEAM = "token-seam"
    WHITESPACE = "whitespace"
    TOOLS_MOVED = "tools-moved"
    SYSTEM_MOVED = "system-moved"
    EARLIER_TEXT = "earlier-text"
    UNKNOWN = "unknown"


SENTENCES: Mapping[BreakCause, str] = {
    BreakCause.GENERATION_PROMPT: "The template prints a past turn without the opening from the generation prompt.",
    BreakCause.REASONING_STRIPPED: "The template strips the reasoning of this turn once it is past.",
    BreakCause.REASONING_EMPTIED: "The template prints the reasoning of this turn as an empty block once it is past.",
    BreakCause.CONTENT_TRIMMED: "The template trims whitespace from the content of this turn once it is past.",
    BreakCause.CONTENT_EMPTIED: "The template leaves out the content of this turn once it is past.",
    BreakCause.CALLS_DROPPED: "The template leaves out the tool calls of this turn once it is past.",
    BreakCause.TURN_DROPPED: "The template leaves out this turn once it is past.",
    BreakCause.ARGUMENTS_REWRITTEN: "The arguments of a tool call are written again in a different form.",
    BreakCause.ID_REWRITTEN: "A tool call has a different id in the history than the model gave it.",
    BreakCause.ENDING: "The template ends the turn differently once something follows it.",
    BreakCause.TOKEN_SEAM: "The text is the same; tokens merge where the turns meet.",
    BreakCause.WHITESPACE: "Only whitespace differs.",
    BreakCause.TOOLS_MOVED: "The template prints the tools beside the latest messages, so they move with every turn.",
    BreakCause.SYSTEM_MOVED: (
        "The template prints the system message beside the latest messages, so it moves with every turn."
    ),
    BreakCause.EARLIER_TEXT: "Text before this turn is printed differently in the next prompt.",
    BreakCause.UNKNOWN: "None of the tested causes explains it.",
}


def prove_cause(messages: Sequence[JSON], later: str, shared: int, render: Renders) -> BreakCause | None:
    """Return the cause under which past turns are printed as the next prompt has them.

    Args:
        messages: The conversation up to the turn, its assistant message included.
        later: The next prompt.
        shared: Characters up to the difference: a render that ends there proves nothing.
        render: Renders other messages in their place, without a generation prompt.
    """
    for is_last in (True, False):
        for cause, edit in _EDITS:
            made = _edited(messages, edit, is_last=is_last)
            if json.dumps(made) == json.dumps(messages) or _is_shown(cause, messages[-1], later[shared:]):
                continue
            text = render(made)
            if text is not None and len(text) > shared and later.startswith(text):
                return cause
    return None


def _is_shown(cause: BreakCause, message: JSON, text: str) -> bool:
    """Return whether what a cause claims to be left out is in a text."""
    assert isinstance(message, dict)
    if cause is BreakCause.CONTENT_EMPTIED:
        content = message.get("content")
        return isinstance(content, str) and content.strip() in text
    if cause is BreakCause.CALLS_DROPPED:
        calls = message.get("tool_calls")
        return isinstance(calls, list) and any(_name_of(call) in text for call in calls)
    return False


def _name_of(call: JSON) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    return str(function.get("name", "")) if isinstance(function, dict) else ""


def is_without_reasoning(messages: Sequence[JSON], text: str, render: Renders) -> bool:
    """Return whether the last message has reasoning, and `text` is what it renders to without."""
    made = _edited(messages, strip_reasoning, is_last=True)
    return json.dumps(made) != json.dumps(messages) and render(made) == text


def find_stripped_block(known: str, later: str) -> int | None:
    """Return where the last reasoning block ends without which `later` begins with `known`; `None` if none does."""
    made, position, end = 0, 0, None  # so much of `later` is what was read of `known`
    for start, closed in blocks_between(known, _PAIRS):
        if not later.startswith(known[position:start], made):
            return None
        made += start - position
        position = _end_of_space(known, closed)
        if later.startswith(known[start:position], made):
            made += position - start
        else:
            end = position
    return end if later.startswith(known[position:], made) else None


def _end_of_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def opens_reasoning(prompt: str) -> bool:
    """Return whether a prompt ends inside a reasoning block."""
    tail = prompt[-_TAIL:]
    opened = max((match.start() for match in _OPENED.finditer(tail)), default=-1)
    closed = max((match.start() for match in _CLOSED.finditer(tail)), default=-1)
    return opened > closed


def _edited(messages: Sequence[JSON], edit: Edit, *, is_last: bool) -> list[JSON]:
    """Return the messages with the last one edited, or every one of the assistant."""
    last = len(messages) - 1
    return [
        edit(message)
        if isinstance(message, dict) and (index == last or (not is_last and message.get("role") == "assistant"))
        else message
        for index, message in enumerate(messages)
    ]


def rewrite_arguments(messages: Sequence[JSON]) -> Iterator[list[JSON]]:
    """Yield the messages with the arguments of the last one's calls in every usual form of JSON."""
    for form in (decoded, _dumps, _compact, _ascii):
        yield _edited(messages, edit_arguments(form), is_last=True)


def _dumps(arguments: JSON) -> JSON:
    return json.dumps(decoded(arguments), ensure_ascii=False)


def _compact(arguments: JSON) -> JSON:
    return json.dumps(decoded(arguments), ensure_ascii=False, separators=(",", ":"))


def _ascii(arguments: JSON) -> JSON:
    return json.dumps(decoded(arguments))


def strip_reasoning(message: JSONObject) -> JSONObject:
    """Return a message without reasoning, neither in its own fields nor at the front of its content."""
    made = drop_reasoning(message)
    content = made.get("content")
    if not isinstance(content, str) or _CLOSED.search(content) is None:
        return made
    found = _BLOCK.match(content)
    return made if found is None else {**made, "content": content[found.end() :]}


def _empty_reasoning(message: JSONObject) -> JSONObject:
    return {key: ("" if key in _REASONING and value is not None else value) for key, value in message.items()}


def _edit_content(edit: Callable[[str], str]) -> Edit:
    def edited(message: JSONObject) -> JSONObject:
        content = message.get("content")
        return {**message, "content": edit(content)} if isinstance(content, str) else message

    return edited


def _trimmed_without_reasoning(message: JSONObject) -> JSONObject:
    made = strip_reasoning(message)
    return message if made == message else _edit_content(str.strip)(made)


_EDITS: tuple[tuple[BreakCause, Edit], ...] = (
    (BreakCause.REASONING_STRIPPED, strip_reasoning),
    (BreakCause.REASONING_STRIPPED, _trimmed_without_reasoning),
    (BreakCause.REASONING_EMPTIED, _empty_reasoning),
    (BreakCause.CONTENT_TRIMMED, _edit_content(str.strip)),
    (BreakCause.CONTENT_TRIMMED, _edit_content(str.lstrip)),
    (BreakCause.CONTENT_TRIMMED, _edit_content(str.rstrip)),
    (BreakCause.CONTENT_EMPTIED, _edit_content(lambda _: "")),
    (BreakCause.CALLS_DROPPED, lambda message: {key: value for key, value in message.items() if key != "tool_calls"}),
)
