"""What a `tokenizer.json` from anywhere can do to a process that uses it, and what is allowed of that.

too long           its size is looked at before it is read
fails in use       the library panics or raises bare exceptions; here both are one `RenderError`
takes for ever     a pattern that repeats repetitions, or replacements that multiply a text: then each text is
                   encoded in the sandbox, which ends it, and a decoder of that kind is refused
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from pathlib import Path

from prompt_debugger.core.base.errors import DebuggerError, RenderError, shorten
from prompt_debugger.core.base.types import JSON, JSONObject

MAX_BYTES = 256 << 20  # the largest that is known has 40 MB
_MAX_ADDED = 100_000  # tokens outside the vocabulary's own; the most that is known is seven thousand
_MAX_GROWTH = 64  # times as long as a text may become
_CHECK = "Check that it is a file of the model, and complete."


def read_text_of(path: Path, most_bytes: int = MAX_BYTES) -> str:
    """Return the text of a file of a tokenizer.

    Raises:
        RenderError: It is longer than such a file is.
    """
    if path.stat().st_size > most_bytes:
        raise RenderError(f"`{path.name}` is longer than {most_bytes >> 20} MB.", _CHECK)
    return path.read_text(encoding="utf-8")


def refuse_many(added: Sized, path: Path) -> None:
    """Refuse a file that adds more tokens than any model has: the library takes minutes for a million.

    Raises:
        RenderError: It does.
    """
    if len(added) > _MAX_ADDED:
        raise RenderError(f"`{path.name}` adds {len(added):,} tokens; at most {_MAX_ADDED:,} are read.", _CHECK)


def failure_of(error: BaseException) -> BaseException:
    """Return what to raise for a failure inside the library, whose panics are no `Exception`."""
    if isinstance(error, (DebuggerError, MemoryError)):
        return error
    if isinstance(error, Exception) or type(error).__name__ == "PanicException":
        return RenderError(f"The tokenizer fails at this text: {shorten(str(error), 200)}", _CHECK)
    return error


def is_costly(tokenizer_json: JSONObject, *parts: str) -> bool:
    """Return whether these parts may take time or memory out of all proportion to a text.

    >>> is_costly({"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "_"}}, "normalizer")
    False
    >>> is_costly({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a+)+b"}}}, "pre_tokenizer")
    True
    """
    growth = 1.0
    for node in _nodes([tokenizer_json.get(part) for part in parts]):
        pattern = node.get("pattern")
        regex, plain = (pattern.get("Regex"), pattern.get("String")) if isinstance(pattern, dict) else (None, None)
        if isinstance(regex, str) and repeats_repetitions(regex):
            return True
        for text in (node.get("content"), node.get("prepend")):
            if isinstance(text, str):
                growth *= max(1.0, len(text) / max(1, len(plain) if isinstance(plain, str) else 1))
    return growth > _MAX_GROWTH


def repeats_repetitions(pattern: str) -> bool:
    r"""Return whether a part of a pattern is repeated that can match one text in several ways, as far as it shows.

    >>> repeats_repetitions(r"(?:'s|'t)?| ?[^\s(]+|\s+(?!\S)")
    False
    >>> repeats_repetitions("(?:a?){20}b"), repeats_repetitions("(a|aa)+b")
    (True, True)
    """
    is_loose = [False]  # of each group that is open: whether it repeats or chooses
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            if pattern[at + 1 : at + 2] in {*"gk123456789"}:  # what a group matched, or the group once more
                return True
            at += 1
        elif char == "[":
            at = _end_of_class(pattern, at)
        elif char == "(":
            is_loose.append(False)
            at += pattern[at + 1 : at + 2] == "?"
        elif char == ")" and len(is_loose) > 1:
            inner = is_loose.pop()
            if inner and pattern[at + 1 : at + 2] in {*"*+{"}:
                return True
            is_loose[-1] |= inner
        elif char in "*+?{|":
            is_loose[-1] = True
        at += 1
    return False


def _end_of_class(pattern: str, start: int) -> int:
    """Return where a class of characters ends; classes may contain classes."""
    depth, at = 0, start
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[":
            depth += 1
        elif pattern[at] == "]" and at > start + 1:
            depth -= 1
            if not depth:
                return at
        at += 1
    return at


def _nodes(value: JSON) -> Iterator[JSONObject]:
    """Yield every object in a value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
