"""Small questions about text that every stage asks. No I/O, no state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_QUOTE = re.compile("[\"']")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'")
_VISIBLE = {" ": "·", "\t": "→", "\n": "↵\n", "\r": "␍", "\u00a0": "⍽"}


def first_divergence(left: Sequence[object], right: Sequence[object]) -> int | None:
    """Return the first index at which two sequences differ; `None` if they are equal.

    The end of the shorter one counts as a difference.
    """
    if type(left) is type(right) and left == right:  # most often, and found out at once
        return None
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return None if len(left) == len(right) else min(len(left), len(right))


def has_any(text: str, words: Iterable[str]) -> bool:
    """Return whether a text contains one of some words: many times as fast as a pattern of them.

    >>> has_any("a printed Message(id=1)", ("Choice(", "Message("))
    True
    """
    return any(word in text for word in words)


def capitalized(text: str) -> str:
    """Return a text as it begins a sentence; unlike `str.capitalize`, its other letters stay as they are.

    >>> capitalized("the GPU is lost")
    'The GPU is lost'
    """
    return text[:1].upper() + text[1:]


def clipped(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, the last of them `…` where something was cut off.

    >>> clipped("abcdef", 6), clipped("abcdef", 4)
    ('abcdef', 'abc…')
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def visible_whitespace(text: str) -> str:
    """Return `text` with marks for whitespace: `·` space, `→` tab, `↵` newline."""
    return "".join(_VISIBLE.get(char, char) for char in text)


def remove_whitespace(text: str) -> str:
    """Return `text` without any whitespace, to compare texts regardless of how they are spaced."""
    return "".join(text.split())


def closed_strings(text: str) -> Iterator[re.Match[str]]:
    r"""Yield the strings in quotes of a text, each closed on its line.

    Where a quote is not closed, no other of its kind further on that line is: each character is read at most twice.

    >>> [found[0] for found in closed_strings("f('a', \"it's\") is 'open")]
    ["'a'", '"it\'s"']
    """
    at, open_until = 0, {'"': 0, "'": 0}
    while (quote := _QUOTE.search(text, at)) is not None:
        at = quote.end()
        if quote.start() < open_until[quote[0]]:
            continue
        found = _STRING.match(text, quote.start())
        if found is not None:
            at = found.end()
            yield found
        else:
            end = text.find("\n", at)
            open_until[quote[0]] = end if end >= 0 else len(text)


def blocks_between(text: str, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    """Yield where a text has blocks, each from an opener to the next of its closers; of two openers the first counts.

    Openers that nothing closes are passed over, and the text is read once, however many there are.

    >>> list(blocks_between("<a>1</a> <b> <a>2</a>", [("<a>", "</a>"), ("<b>", "</b>")]))
    [(0, 8), (13, 21)]
    """
    last = {closer: text.rfind(closer) for _, closer in pairs}
    opened = re.compile("|".join(re.escape(opener) for opener, closer in pairs if last[closer] >= 0) or r"(?!)")
    at = 0
    while (found := opened.search(text, at)) is not None:
        at = found.start() + 1
        for opener, closer in pairs:
            begin = found.start() + len(opener)
            if last[closer] >= begin and text.startswith(opener, found.start()):
                at = text.find(closer, begin) + len(closer)
                yield found.start(), at
                break


def remove_blocks(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Return a text without its blocks, as `blocks_between` finds them."""
    return _without(text, blocks_between(text, pairs))


def remove_strings(text: str) -> str:
    """Return a text without its strings in quotes."""
    return _without(text, (found.span() for found in closed_strings(text)))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without some spans of it, which come in order."""
    rest, at = [], 0
    for start, stop in spans:
        rest.append(text[at:start])
        at = stop
    return "".join((*rest, text[at:]))


def excerpt(text: str, start: int, stop: int, *, margin: int = 40) -> str:
    """Return `text[start:stop]` with up to `margin` characters either side, cut ends marked `…`."""
    low, high = max(0, start - margin), min(len(text), stop + margin)
    return ("…" if low else "") + text[low:high] + ("…" if high < len(text) else "")


def line_column(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, both from 1, of a character offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def line_end(text: str, at: int) -> int:
    """Return where the line that contains a character ends, before its newline."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def printable(text: str, *, on_one_line: bool = False) -> str:
    r"""Return `text` with everything that a terminal obeys, or that hides or reorders text, shown as an escape.

    Control sequences, titles and clipboards (`ESC ]52`), bidirectional controls, invisible marks. Newlines and tabs
    stay, except where a text must keep to its line.

    >>> printable("a\x1b[2J\u202eb")
    'a\\x1b[2J\\u202eb'
    """
    if text.isprintable():
        return text
    kept = "" if on_one_line else "\n\t"
    return "".join(char if char in kept or char.isprintable() else _escape(char) for char in text)


def xml_text(text: str) -> str:
    """Return `text` with a replacement character for each that no XML document may hold."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _escape(char: str) -> str:
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char) or ascii(char)[1:-1]


def first_of(names: Sequence[str], most: int) -> str:
    """Return a list for a sentence: the first names, and how many more there are.

    >>> first_of(["a", "b", "c"], 2), first_of(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
