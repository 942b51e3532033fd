"""Which form a pasted text has. Looks, decides, and reads nothing that it does not need for that."""

from __future__ import annotations

import json
import re

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.json_of import json_lines, json_of
from prompt_debugger.core.formats import CONTROL_TOKEN, TABLES
from prompt_debugger.core.report import is_bundle

# What only a model writes: control tokens and the tags of tool calls and reasoning, of a family that is known or not.
_TAGS = {*TABLES.call_markers, *(tag.strip() for pair in TABLES.reasoning_pairs for tag in pair)}
_MARKERS = re.compile(
    "|".join(
        [
            CONTROL_TOKEN.pattern,
            r"</?(?:tool_calls?|think|function_calls?|invoke)\b",
            *(re.escape(tag) for tag in sorted(_TAGS) if tag.startswith("<")),
        ]
    )
)
_STREAM = re.compile(
    r"(?m)\A(?:[ \t]*(?::[^\n]*|event:[^\n]*|id:[^\n]*|retry:[^\n]*)?\r?\n)*[ \t]*(?:event:[^\n]*\r?\n)?data:"
)
_CURL = re.compile(r"(?:^|[\s;&|(`])curl(?:\.exe)?[ \t\\^]", re.IGNORECASE)
_CODE = re.compile(
    r"(?m)^[ \t]*(?:import |from [\w.]+ import |const |let |var )|\.create\(|\.parse\(|\.invoke\(|^\w+ *="
)
_ANSWER_START = re.compile(r"(?m)^[ \t]*(?=\{\s*+[\"}]|data:|HTTP/|< HTTP)")
_BLANK_LINE = re.compile(r"\r?\n\r?\n")
_DECODER = json.JSONDecoder()
_MOST_READ = 16  # times the text: objects that are never closed are each read to its end
_COUNTED = 16  # so many characters before an error cost what one costs that is read: their lines are counted


def recognise(text: str) -> Form:
    """Return what a text is most likely meant to be; what is nothing else counts as a request."""
    start = text.lstrip("\ufeff \t\r\n\u200b")
    if start.startswith(("{", "[")):
        value = json_of(text)
        if value is not None:
            return form_of_value(value)
        if len(json_lines(text)) > 1:
            return Form.LINES
        return Form.OUTPUT if _MARKERS.match(start) else Form.REQUEST
    if _STREAM.match(start):
        return Form.STREAM
    if _CURL.search(text[:20_000]):
        return Form.REQUEST if answer_after_command(text) is None else Form.EXCHANGE
    if _CODE.search(text[:20_000]) and not start.startswith("<"):
        return Form.REQUEST
    return Form.OUTPUT if _MARKERS.search(text) else Form.REQUEST


def form_of_value(value: JSON) -> Form:
    """Return what a JSON value is."""
    if isinstance(value, list):
        calls = [item for item in value if isinstance(item, dict) and _is_bare_call(item)]
        return Form.OUTPUT if value and len(calls) == len(value) else Form.REQUEST
    if not isinstance(value, dict):
        return Form.REQUEST
    log = value.get("log")
    if isinstance(log, dict) and isinstance(log.get("entries"), list):
        return Form.HAR
    if is_bundle(value):
        return Form.RUN
    return _form_of_object(value)


def _form_of_object(value: JSONObject) -> Form:
    has_request = isinstance(request_in(value), dict)
    if answer_in(value) is not None:
        return Form.EXCHANGE if has_request else Form.ANSWER
    if has_request or "messages" in value or "input" in value:
        return Form.REQUEST
    if isinstance(value.get("raw"), str) or _is_bare_call(value):
        return Form.OUTPUT
    return Form.ANSWER if is_answer(value) else Form.REQUEST


def is_answer(value: JSON) -> bool:
    """Say whether a JSON value is what a server answers: a completion of any of the APIs, or a message of it."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("choices"), list):
        return True
    is_message = value.get("role") == "assistant" and ("content" in value or "tool_calls" in value)
    return is_message or (value.get("object") == "response" and isinstance(value.get("output"), list))


def request_in(value: JSONObject) -> JSON:
    """Return the request in a line of a log: under one of the names that logs use."""
    for name in ("request", "body", "request_body"):
        found = value.get(name)
        if isinstance(found, dict) and ("messages" in found or "input" in found):
            return found
    return None


def answer_in(value: JSONObject) -> JSON:
    """Return the answer in a line of a log: an object that is one, or a text under the name of one."""
    for name in ("response", "response_body", "answer", "completion"):
        found = value.get(name)
        if isinstance(found, dict) and isinstance(found.get("body"), dict):
            found = found["body"]  # a batch's output
        if is_answer(found):
            return found
        if isinstance(found, str) and found.strip() and request_in(value) is not None:
            return found
    return None


def answer_after_command(text: str) -> int | None:
    """Return where the answer below a pasted command begins; `None` if none is there."""
    objects = _LastObject(text)
    head_may_follow = True
    for found in _ANSWER_START.finditer(text):
        at = found.end()
        if text.startswith("data:", at):
            return found.start()
        if text[at] == "{":
            if is_answer(objects.value(at)):
                return found.start()
        elif head_may_follow and found.start() > 0:
            blank = _BLANK_LINE.search(text, at)
            if blank is not None and blank.end() < objects.end:
                return blank.end()
            head_may_follow = False  # nothing stands behind a blank line: so it is for every later head, too
    return None


class _LastObject:
    """Reads the JSON objects that reach to the end of a text, and reads no stretch of it again and again.

    Where an object ends or breaks off before the end, all that began within it ends or breaks off there, too.

    Attributes:
        end: Where the text ends, but for white space.
    """

    def __init__(self, text: str) -> None:
        self.end = len(text.rstrip())
        self._text = text
        self._known = 0  # what begins before does not reach the end
        self._left = _MOST_READ * len(text)

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


def _is_bare_call(value: JSONObject) -> bool:
    """Say whether an object is a tool call as some models write it: a name and arguments, nothing around."""
    arguments = value.get("arguments", value.get("parameters"))
    return (
        isinstance(value.get("name"), str)
        and isinstance(arguments, dict | str)
        and len(value) <= 3
        and ("description" not in value and "input_schema" not in value)
    )
