"""How a prompt ends: the assistant header that the template would write, and what follows it."""

from __future__ import annotations

import re
from typing import NamedTuple

from prompt_debugger.core.base.types import Prompt, Span, Trace
from prompt_debugger.core.diagnose.fields import body_of, last_role
from prompt_debugger.core.diagnose.trace_queries import prompt_of
from prompt_debugger.core.formats import TABLES

# Headers that open reasoning count, what closes such a message does not: it ends turns in other families.
_TEXTS = {text.strip() for pair in TABLES.reasoning_pairs for text in pair}
_TEXTS |= {pair.opener.strip() for pair in TABLES.prompt_pairs}
_THINK = "|".join(map(re.escape, sorted(_TEXTS, key=len, reverse=True)))
_THINK_TAIL = re.compile(rf"(?:\s|{_THINK})*\Z")
_ENDS = tuple(text for text in _TEXTS if text)
_TURN_END = re.compile(rf"(?:{'|'.join(map(re.escape, TABLES.turn_ends))})\s*\Z")
_LONGEST_END = max(map(len, TABLES.turn_ends))


class Tail(NamedTuple):
    """The end of a prompt whose last message is not the assistant's.

    Attributes:
        prompt: The prompt.
        header: The assistant header without reasoning markers and outer whitespace; "" if the template has none.
        repeats: How often that header occurs at the very end, one after the other.
        end: The stretch of the last thing in the prompt.
        turn_end: A marker that closes a turn, if the prompt ends with one.
    """

    prompt: Prompt
    header: str
    repeats: int
    end: Span
    turn_end: str | None


def read_tail(trace: Trace) -> Tail | None:
    """Return how the prompt ends; `None` if it is unknown or the answer continues an assistant message."""
    prompt = prompt_of(trace)
    if prompt is None or trace.generation_prompt is None:
        return None
    if body_of(trace).get("continue_final_message") is True or last_role(trace.request) in (None, "assistant"):
        return None
    header = _cut_think(trace.generation_prompt).strip()
    text = _cut_think(prompt.text).rstrip()
    repeats, stop = 0, len(text)
    while header and text[:stop].endswith(header):
        repeats += 1
        stop = len(_cut_think(text[: stop - len(header)]).rstrip())
    # It is at the very end: a long prompt need not be searched from its beginning.
    closing = _TURN_END.search(prompt.text, max(0, len(prompt.text.rstrip()) - _LONGEST_END))
    start = closing.start() if closing else max(0, len(prompt.text) - 40)
    end = Span(stop if repeats else start, len(prompt.text))
    return Tail(prompt, header, repeats, end, closing.group().strip() if closing else None)


def _cut_think(text: str) -> str:
    if not (text[-1:].isspace() or text.endswith(_ENDS)):
        return text  # as nearly always; the search looks at every place of the end
    found = _THINK_TAIL.search(text, max(0, len(text) - 400))
    return text if found is None else text[: found.start()]
