"""JSON that was copied out of something larger: begun in the middle, cut, or with `...` where things were left out.

    "tool_calls": [{"id": "0", "function": {"name": "f", "arguments": {}}}
    ...
    "finish_reason": "tool_calls"

What is complete is read, and what was repaired is said. The text is gone through once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from prompt_debugger.core.base.text import remove_strings
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.taking import CUT_NOTE
from prompt_debugger.core.evidence.values.json_of import json_of

MAX_CHARS = 400_000
_MAX_DEPTH = 100
_MAX_PARTS = 100_000
_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\n]|\\.)*+")|(?P<cut>"(?:[^"\\\n]|\\.)*+\\?\Z)|(?P<open>[{\[])|(?P<close>[}\]])|(?P<elided>\.{3,}|…)'
    r"|(?P<word>-?[\w.+$-]++)|(?P<blank>[\s\ufeff]++|,|//[^\n]*|#[^\n]*)|(?P<colon>:)|(?P<other>.)",
    re.DOTALL,
)
_WORDS: dict[str, JSON] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_END_OF_ANSWER = re.compile(r"[}\]]\s{0,8},\s{0,8}['\"](?:finish_reason|logprobs|stop_reason|usage)['\"]\s{0,8}:")
_BRACKET = re.compile(r"[{}\[\]]")
_NEXT_NAME = re.compile(r"[}\]\s]{0,40},\s{0,8}(?:['\"]|:)")  # where its quotation was taken out, the colon is left
_SIGN = re.compile(r"\.{3}|…|<snip>|\(truncated\)")
_EDGE = r"(?:\.{3,}|…)?"
_CHOICES_BETWEEN = re.compile(rf'\s*+{_EDGE}\s*+(?P<inner>"choices"\s*+:\s*+\[.*\]),?\s*+{_EDGE}\s*+\Z', re.DOTALL)
_BEGINS = re.compile(r'[\s,.…\ufeff]*+(?:"[^"\n]{1,80}"|[A-Za-z_]\w{0,40})[ \t]*:[ \t]*[\s\[{"\w-]')


class Recovered(NamedTuple):
    """What was read of a fragment.

    Attributes:
        value: The value, or the list of them.
        notes: What was supposed or left out, a sentence each.
        is_begun_inside: Whether it begins inside an object.
        has_elisions: Whether it contained `...`.
    """

    value: JSON
    notes: tuple[str, ...]
    is_begun_inside: bool
    has_elisions: bool


def begins_inside(text: str) -> bool:
    """Return whether a text begins like the inside of an object: with a key, maybe after `...`."""
    return _BEGINS.match(text) is not None


def has_all_choices(text: str) -> bool:
    r"""Return whether a fragment is the choices of an answer, complete: what was left out was above or below them.

    >>> has_all_choices('...\n"choices": [{"index": 0, "finish_reason": "stop"}],\n...')
    True
    >>> has_all_choices('"choices": [{"index": 0, ...}],\n...')
    False
    """
    found = _CHOICES_BETWEEN.match(text)
    return found is not None and json_of("{" + found["inner"] + "}") is not None


def ends_an_answer(text: str) -> bool:
    """Return whether a text has the fields that follow a message in an answer, but not the list that begins it.

    >>> ends_an_answer("{'name': 'f'}}]}, 'finish_reason': 'stop'}]}"), ends_an_answer('{"choices": [{"index": 0}]}')
    (True, False)
    >>> ends_an_answer("{'name': 'f'}}]}, 'fin"), ends_an_answer("{'name': 'f'}}")
    (True, False)
    """
    return "choices" not in text and (_END_OF_ANSWER.search(text) is not None or _goes_on_outside(text))


def _goes_on_outside(text: str) -> bool:
    """Return whether a text closes more than it opens, and then continues with a name or a text: as a part of more."""
    bare = remove_strings(text)
    depth = 0
    for bracket in _BRACKET.finditer(bare):
        depth += 1 if bracket[0] in "{[" else -1
        if depth < 0:
            return _NEXT_NAME.match(bare, bracket.end()) is not None
    return False


@dataclass(slots=True)
class _Node:
    """A container that has begun; at the top it is not known yet of what kind it is."""

    kind: str
    key: str | None = None
    pairs: JSONObject = field(default_factory=dict)
    items: list[JSON] = field(default_factory=list)
    earlier: list[JSON] = field(default_factory=list)
    waiting: str | None = None
    last: str | None = None

    def take(self, value: JSON) -> None:
        if self.waiting is not None:
            if self.kind == "" and self.waiting in self.pairs:  # the next of several objects whose braces are not there
                self.earlier.append(self.pairs)
                self.pairs = {}
            self.pairs[self.waiting] = value
            self.waiting = None
        elif self.kind != "{":
            self.items.append(value)

    def value(self) -> JSON:
        if self.kind == "{":
            return self.pairs
        if self.kind == "[":
            return self.items
        if self.earlier:
            return [*self.earlier, self.pairs]
        if self.pairs:
            return self.pairs
        return self.items[0] if len(self.items) == 1 else self.items


@dataclass(slots=True)
class _Reading:
    stack: list[_Node] = field(default_factory=lambda: [_Node("")])
    is_begun_inside: bool = False
    has_elisions: bool = False
    is_cut: bool = False
    skipped: int = 0
    parts: int = 0

    def close(self, kind: str) -> None:
        """End the container of a kind; where none is open, the text began inside of it."""
        if any(node.kind == kind for node in self.stack[1:]):
            while self.stack[-1].kind != kind:
                self.end_last()
            self.end_last()
            return
        while len(self.stack) > 1:
            self.end_last()
        self.is_begun_inside = True
        top = self.stack.pop()
        top.kind = kind if (kind == "{") == bool(top.pairs) and not top.earlier else top.kind
        self.stack.append(_Node("", items=[top.value()]))

    def end_last(self) -> None:
        node = self.stack.pop()
        self.stack[-1].take(node.value())


def recover(text: str) -> Recovered | None:
    """Return what can be read of a fragment of JSON; `None` if it contains nothing, or more than is read."""
    if len(text) > MAX_CHARS:
        return None
    text = text.rstrip("\r\n")  # a string may be open where it ends
    reading = _Reading()
    reading.is_begun_inside = begins_inside(text)
    position = 0
    for found in _TOKEN.finditer(text):
        position = found.end()
        reading.parts += 1
        if reading.parts > _MAX_PARTS or len(reading.stack) > _MAX_DEPTH:
            return None
        if not _take(reading, str(found.lastgroup), found[0], text, position):
            return None
    reading.is_cut = reading.is_cut or len(reading.stack) > 1
    while len(reading.stack) > 1:
        reading.end_last()
    value = reading.stack[0].value()
    if not value:
        return None
    return Recovered(value, _notes(reading), reading.is_begun_inside, reading.has_elisions)


def _take(reading: _Reading, kind: str, token: str, text: str, position: int) -> bool:
    """Take a token; false where the text is too far from JSON."""
    node = reading.stack[-1]
    match kind:
        case "cut":
            node.take(_text_of(token.rstrip("\\") + '"'))
            reading.is_cut = True
        case "string" | "word":
            if _is_key(text, position) and node.kind != "[":
                reading.has_elisions = reading.has_elisions or node.waiting is not None or _is_broken(token)
                node.waiting = _text_of(token)
            else:
                is_key_lost = node.kind == "{" and node.waiting is None  # a string where a key would begin
                reading.has_elisions = reading.has_elisions or (is_key_lost and _SIGN.search(token) is not None)
                _take_value(reading, node, token)
        case "open":
            reading.stack.append(_Node("{" if token == "{" else "["))
        case "close":
            reading.close("{" if token == "}" else "[")
        case "elided":
            reading.has_elisions = True
            node.waiting = None
        case "other":
            reading.skipped += 1
            if token == '"':  # a string that its line does not end: its value is lost
                node.waiting = None
        case _:
            pass
    return reading.skipped <= 5


def _take_value(reading: _Reading, node: _Node, token: str) -> None:
    if token.startswith('"'):
        node.take(_text_of(token))
    elif token in _WORDS:
        node.take(_WORDS[token])
    elif _NUMBER.fullmatch(token):
        node.take(json_of(token))
    else:
        reading.skipped += 1


def _is_key(text: str, position: int) -> bool:
    rest = text[position : position + 8].lstrip(" \t")
    return rest.startswith(":")


def _is_broken(token: str) -> bool:
    """Return whether a key has a sign of something left out: it begins as a value, and ends as another key."""
    return token.startswith('"') and ("..." in token or "…" in token or json_of(token) is None)


def _text_of(token: str) -> str:
    if not token.startswith('"'):
        return token
    value = json_of(token)
    return value if isinstance(value, str) else token[1:-1]


def _notes(reading: _Reading) -> tuple[str, ...]:
    sentences: list[str] = []
    if reading.is_begun_inside:
        sentences.append("The JSON begins in the middle; what came before is unknown.")
    if reading.has_elisions:
        sentences.append("Something was left out at `...`; what it was is unknown.")
    if reading.is_cut:
        sentences.append(CUT_NOTE)
    if reading.skipped:
        sentences.append(f"{reading.skipped} passages that are not JSON were left out.")
    return tuple(sentences)
