"""How a prompt ends: the assistant header that the template would write, and what follows it."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.diagnose.fields import body_of, last_role
from core.diagnose.sight import THINK_PAIRS, prompt_of
from core.types import Prompt, Span, Trace

_THINK = "|".join(re.escape(marker) for pair in THINK_PAIRS for marker in pair)
_THINK_TAIL = re.compile(rf"(?:\s|{_THINK})*\Z")
_TURN_END = re.compile(r"(?:<\|im_end\|>|<\|eot_id\|>|<end_of_turn>|<\|end\|>|<turn\|>)\s*\Z")


class Tail(NamedTuple):
    """The end of a prompt whose last message is not the assistant's.

    Attributes:
        prompt: The prompt.
        header: The assistant header without reasoning markers and outer white space; "" if the template has none.
        repeats: How often that header stands at the very end, one behind the other.
        end: The stretch that holds the last thing of the prompt.
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
    header = _without_think(trace.generation_prompt).strip()
    text = _without_think(prompt.text).rstrip()
    repeats, stop = 0, len(text)
    while header and text[:stop].endswith(header):
        repeats += 1
        stop = len(_without_think(text[: stop - len(header)]).rstrip())
    closing = _TURN_END.search(prompt.text)
    start = closing.start() if closing else max(0, len(prompt.text) - 40)
    end = Span(stop if repeats else start, len(prompt.text))
    return Tail(prompt, header, repeats, end, closing.group().strip() if closing else None)


def _without_think(text: str) -> str:
    found = _THINK_TAIL.search(text, max(0, len(text) - 400))
    return text if found is None else text[: found.start()]
