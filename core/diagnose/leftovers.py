"""End tokens and leftovers of stripped markers in a text that had to be plain, with the families that write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats import FORMATS, TABLES

MIN_REPEATS = 5
_MAX_FAMILIES = 3
# `<eos>` ends turns of older Gemma models, whose calls are not a family of their own.
_ENDS = tuple(sorted({*TABLES.turn_ends, *TABLES.turn_openers, *TABLES.end_texts, "<eos>"} - {"\n", ""}, key=len))
_TOKEN = re.compile("|".join(re.escape(text) for text in reversed(_ENDS) if not text.startswith("\n")))
_SHARED = {"<eos>": ("Gemma",), "</s>": ("Mistral", "Llama 2")}
_BLANK = re.compile(r"\s*")
_TURN_ENDS = "|".join(re.escape(text) for text in TABLES.end_texts if text.strip())
_OPENS = "|".join(re.escape(text) for text in TABLES.turn_openers)
_NEXT = re.compile(rf"(?P<end>{_TURN_ENDS})(?:\s|{_TURN_ENDS}){{0,20}}(?P<opener>{_OPENS})")
_OPENER = re.compile(_OPENS)
_OWN_ROLE = re.compile(r"\s{0,4}(?:assistant|model)\b(?:<\|end_header_id\|>|<\|im_middle\|>)?\s{0,8}")


class Leftover(NamedTuple):
    """What is left of a model's structure in a text.

    Attributes:
        text: The leftover itself, or its beginning.
        span: Where it is.
        families: Formats that write it; empty if it is of none that is known.
        times: How often it occurs in a row.
    """

    text: str
    span: Span
    families: tuple[str, ...]
    times: int = 1


class Stripped(NamedTuple):
    """A text that reads like the output of a family whose control tokens were taken out.

    Attributes:
        family: For a sentence: `gpt-oss (harmony)`.
        shown: What shows it.
        span: Where that is.
        meaning: What the structure was.
        format: Its format; "" where it is of no one family.
        is_plain: Whether its markers are plain text, which no server removes: nothing was taken out.
    """

    family: str
    shown: str
    span: Span
    meaning: str
    format: str = ""
    is_plain: bool = False


class NextTurn(NamedTuple):
    """Another turn that follows the end token of a text.

    Attributes:
        end: The end token.
        opener: What opens the turn.
        span: From the one to the other.
        inside: What is in it up to the next end, where it is the assistant's; `None` for another's.
    """

    end: str
    opener: str
    span: Span
    inside: Span | None


def next_turn(text: str) -> NextTurn | None:
    r"""Return the turn that a text continues with after its end; `None` for a text that begins as a prompt does.

    >>> next_turn("Four.<|im_end|>\n<|im_start|>user\nAnd five?").opener
    '<|im_start|>'
    """
    found = _NEXT.search(text)
    if found is None or not text[: found.start()].strip() or _OPENER.search(text, 0, found.start()) is not None:
        return None
    role = _OWN_ROLE.match(text, found.end())
    inside = None
    if role is not None:
        ends = text.find(found["end"], role.end())
        inside = Span(role.end(), len(text) if ends == -1 else ends)
    return NextTurn(found["end"], found["opener"], Span(*found.span()), inside)


def ends_at_tail(text: str) -> tuple[Leftover, ...]:
    """Return the end tokens with which a text ends, in their order, each run of one token once.

    >>> [(one.text, one.times) for one in ends_at_tail("apple<eos>")]
    [('<eos>', 1)]
    >>> ends_at_tail("<s>old</s>"), ends_at_tail("plain")
    ((), ())
    """
    runs = list(_runs(text))
    tail: list[Leftover] = []
    stop = len(text.rstrip())
    for run in reversed(runs):
        if run.span.stop != stop:
            break
        tail.insert(0, run)
        stop = len(text[: run.span.start].rstrip())
    is_tag = len(tail) == 1 and tail[0].text == "</s>" and "<s>" in text
    return () if is_tag else tuple(tail)


def repeated_token(text: str) -> Leftover | None:
    """Return the first token of turns that a text repeats in a row."""
    return next((run for run in _runs(text) if run.times >= MIN_REPEATS), None)


def _runs(text: str) -> Iterator[Leftover]:
    """Yield the runs of one and the same token, with nothing but whitespace between."""
    current: Leftover | None = None
    for match in _TOKEN.finditer(text):
        found = match.group()
        if current is not None and current.text == found and _only_blank(text, current.span.stop, match.start()):
            current = current._replace(span=Span(current.span.start, match.end()), times=current.times + 1)
            continue
        if current is not None:
            yield current
        current = Leftover(found, Span(*match.span()), families_of(found))
    if current is not None:
        yield current


def _only_blank(text: str, start: int, stop: int) -> bool:
    found = _BLANK.match(text, start, stop)
    return found is not None and found.end() == stop


@lru_cache(maxsize=256)
def families_of(token: str) -> tuple[str, ...]:
    """Return the families that end or open turns with a token, the first few."""
    if token in _SHARED:
        return _SHARED[token]
    names = [name for name, one in FORMATS.items() if token in one.conventions.ends or token in one.conventions.turns]
    return tuple(name for name in names if name != "generic")[:_MAX_FAMILIES]


_HARMONY = re.compile(r"\A\s*(?:assistant)?(?:analysis|commentary)(?=\S)")
_HARMONY_NEXT = re.compile(r"assistant(?:final|commentary|analysis)")
_THOUGHT = re.compile(r"\A\s*thought\r?\n")
_THINKING = re.compile(r"\A ?thinking\r?\n")
_REQUEST = re.compile(r"(?<![`\"'])(?:\[TOOL_REQUEST\]|\[END_TOOL_REQUEST\])(?![`\"'])")


def stripped_structure(text: str) -> Stripped | None:
    """Return what a text shows of a structure that lost its control tokens.

    >>> found = stripped_structure("analysisTwo and two.assistantfinalfour")
    >>> (found.family, found.shown) if found else None
    ('gpt-oss (harmony)', 'assistantfinal')
    """
    first, then = _HARMONY.match(text), _HARMONY_NEXT.search(text)
    if first is not None and then is not None and then.start() >= first.end():
        meaning = "the names of the channels `analysis` and `final` remain from its headers"
        return Stripped("gpt-oss (harmony)", then.group(), Span(*then.span()), meaning, "harmony")
    found = _THOUGHT.match(text)
    if found is not None:
        meaning = "`thought` remains from the header `<|channel>thought` of its reasoning"
        return Stripped("Gemma 4", "thought", Span(*found.span()), meaning, "gemma4")
    found = _THINKING.match(text)
    if found is not None:
        meaning = "a line `thinking` remains from the tag that opens its reasoning"
        return Stripped("a reasoning model", "thinking", Span(*found.span()), meaning)
    found = _REQUEST.search(text)
    if found is not None:
        meaning = "LM Studio makes models without a tool format write calls between these markers"
        family = "LM Studio's default tool format"
        return Stripped(family, found.group(), Span(*found.span()), meaning, is_plain=True)
    return None
