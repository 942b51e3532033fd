"""Where the answer begins that was pasted below the command, or the code, that asked for it."""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.answers.read import is_answer, is_event_list
from prompt_debugger.core.evidence.values.json_of import json_of

_ANSWER_START = re.compile(r"(?m)^[ \t]*(?=\{\s*+[\"}]|data:|HTTP/|< HTTP)")
_CUT_START = re.compile(r'(?m)^\{\s{0,9}"(?:id|object|created|model|choices|candidates)"\s{0,3}:')
_BLANK_LINE = re.compile(r"\r?\n\r?\n")
# As `curl -v` marks it, and its remarks.
_END_OF_SHOWN_HEAD = re.compile(r"(?m)^[ \t]*+<[ \t]*+\r?\n(?:[ \t]*+\*[^\n]*+\n)*+")
_DECODER = json.JSONDecoder()
_EVENTS_CHARS = 20_000  # in which the second event of a stream must be
_MAX_READ = 16  # times the text: objects that are never closed are each read to its end
_COUNTED = 16  # counting the lines of so many characters before an error costs as much as reading one


def answer_after_command(text: str) -> int | None:
    """Return where the answer below a pasted command begins; `None` if none is there."""
    objects = _LastObject(text)
    head_may_follow = True
    for found in _ANSWER_START.finditer(text):
        at = found.end()
        if text.startswith("data:", at):
            return found.start()
        if text[at] == "{":
            if _begins_events(text, at) or is_answer(objects.value(at)):
                return found.start()
        elif head_may_follow and found.start() > 0:
            is_shown = text.startswith("<", at)
            blank = (_END_OF_SHOWN_HEAD if is_shown else _BLANK_LINE).search(text, at)
            if is_shown and blank is not None and not _is_body(text, blank.end(), objects):
                blank = None
            if blank is not None and blank.end() < objects.end:
                return blank.end()
            head_may_follow = False  # no blank line follows, and so none follows a later head
    return None


def _is_body(text: str, at: int, objects: _LastObject) -> bool:
    """Return whether a body that ends a text begins at a place below the head that `curl -v` shows."""
    start = text[at:].lstrip()[:6]
    return start.startswith(("data:", "event:")) or (
        start[:1] == "{" and objects.value(text.index("{", at)) is not None
    )


def cut_answer_in(text: str) -> str | None:
    """Return the answer with which a text ends and that is not complete JSON; `None` if it ends with none."""
    found = _CUT_START.search(text)
    rest = "" if found is None else text[found.start() :].strip()
    is_answer_begun = any(name in rest for name in ('"choices"', '"candidates"'))
    is_answer_begun = is_answer_begun or ('"created_at"' in rest and '"message"' in rest)  # of Ollama's own API
    return rest if is_answer_begun and json_of(rest) is None else None


def cut_answer_after_command(text: str) -> int | None:
    r"""Return where an answer begins below a pasted command that was not copied to its end; `None` if none does.

    >>> cut_answer_after_command('curl a -d "{}"\n{"id": "x", "choices": [{"message": {"content": "Hel')
    15
    """
    found = _CUT_START.search(text)
    if found is None or "curl" not in text[: found.start()] or '"choices"' not in text[found.start() :]:
        return None
    return found.start()


def _begins_events(text: str, at: int) -> bool:
    """Return whether the events of a stream begin at a place, one JSON object a line."""
    end = text.find("\n", at)
    if end == -1 or not is_event_list([json_of(text[at:end])]):
        return False
    lines = [line for line in text[end : end + _EVENTS_CHARS].split("\n")[:4] if line.strip()]
    return bool(lines) and is_event_list([json_of(text[at:end]), json_of(lines[0])])


class _LastObject:
    """Reads the JSON objects that reach to the end of a text, and reads no stretch of it again and again.

    Where an object ends or breaks off before the end, all that began within it ends or breaks off there, too.

    Attributes:
        end: Where the text ends, but for whitespace.
    """

    def __init__(self, text: str) -> None:
        self.end = len(text.rstrip())
        self._text = text
        self._known = 0  # what begins before does not reach the end
        self._left = _MAX_READ * len(text)

    def value(self, at: int) -> JSON:
        """Return the value that begins at a place, if it is the last thing of the text; else `None`."""
        if at < self._known or self._left <= 0:
            return None
        try:
            value, stop = self._read(at)
        except json.JSONDecodeError as error:
            value, stop = None, error.pos
            self._left -= stop // _COUNTED
        except (ValueError, RecursionError):
            value, stop = None, self.end
        self._left -= stop - at
        if stop < self.end:
            self._known = stop
            return None
        return value

    def _read(self, at: int) -> tuple[JSON, int]:
        value, stop = _DECODER.raw_decode(self._text, at)
        return value, stop
