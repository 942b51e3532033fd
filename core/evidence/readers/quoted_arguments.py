r"""Lines of a client's log, or of a script, that quote the arguments of a call because they are no JSON.

    Unrepairable: {"action": list_windows"}  <- retry
    Failed to parse tool arguments: {'city': 'Oslo'}
    TOOL_CALL_0 id="call_1" arguments="{\"path\":\"a\"}{\"path\":\"b\"}"
    "arguments": "{\"a\": 1}{\"a\": 1}"             a member of the answer, alone in a line of prose
    name=f, arguments={"a": 1}{"a": 2}             whole objects end to end, in a sentence
    the arguments are concatenated: `{"a": 1}{"a": 2}`

What the line says of them is left to the arguments. One that only ends early is not read: a log may have cut it.
"""

from __future__ import annotations

import json
import re
from itertools import islice

from prompt_debugger.core.base.text import has_any, line_end
from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.diagnose.calls.broken_arguments import NAME_NOT_COPIED, Break, break_of
from prompt_debugger.core.diagnose.calls.shortened_arguments import is_shortened
from prompt_debugger.core.evidence.answers.read import is_answer
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.values.json_of import json_of, json_values

_MAX_CHARS = 40_000
_MAX_PLACES = 20  # at which arguments begin
_MAX_OBJECTS = 100
_MAX_LINE = 200  # characters before them
_DECODER = json.JSONDecoder()
_SIGNS = ("nrepairable", "alformed", "nvalid", "nparseable", "nparsable", "o parse", "o decode", "ot parse", "rguments")
_FIELD = re.compile(
    r'(?m)^(?P<before>[^\n"{]{0,80}(?:"[^"\n{]{0,100}"[^\n"{]{0,40}){0,4}?)\barguments="(?P<text>\{\\"(?:[^"\\\n]|\\.)*)"'
)
_MEMBER = re.compile(
    r'(?m)^[ \t]{0,24}"arguments"[ \t]{0,4}:[ \t]{0,4}'
    r'"(?P<text>(?:[^"\\\n]|\\.|\n(?!\s)|\n[ \t]{1,24}(?=\S)){2,4000})",?[ \t]*$'
)
_END_TO_END = re.compile(r"\barguments?[ \t]{0,4}[=:][ \t]{0,4}[`'\"]?(?=\{)")
_IN_SENTENCE = re.compile(r"(?<=[`\s])(?=\{[^\n]{2,400}?\}\{)")
_SAID_OF_JOINED = re.compile(r"(?i)\b(?:duplicat|concatenat|invalid|malformed|twice|repeat|merg|joined|broken|corrupt)")
_WRAP = re.compile(r"\n[ \t]*")  # where a terminal broke the line
_NAMED = re.compile(r'\b(?:name|function|tool)="?([\w.:/-]{1,100})"?')
_SAID = re.compile(
    r"(?m)^[^\n{}]{0,120}\b(?i:unrepairable|malformed|invalid|unpars[e]?able|(?:failed|unable) to (?:parse|decode)|"
    r"(?:can|could) ?not (?:parse|decode))\b(?P<what>[^\n{}:]{0,80}):[ \t]{0,4}(?P<text>\{[^\n]{1,4000})$"
)
_OF_CALLS = re.compile(r"(?i)\b(?:tool_?calls?|tool calls?|arguments|args|function calls?)\b")
_QUOTE = re.compile(r"[\"'{\[]")
# What Python's decoder says of a text of JSON.
_OF_DECODER = re.compile(
    r"\A(?:Extra data|Expecting|Unterminated string|Invalid (?:control character|\\escape)): ?.*\(char \d"
)
_KNOWN = frozenset(
    {Break.JOINED, Break.MARKUP, Break.ESCAPED, Break.PYTHON, Break.TRAILING, Break.CONTROL, Break.OTHER, Break.WRAPPED}
)
_NOTE = "The arguments were read from a line that quotes them; the answer around them was not copied."


def _finds(paste: Paste) -> float:
    if paste.value is not None:
        return 0.0
    return 0.85 if _call(paste.text) is not None else 0.65 if _member(paste.text) is not None else 0.0


def _member(text: str) -> tuple[str, str] | None:
    """Return the arguments that a line gives as a member of an answer whose other members were not copied."""
    if len(text) > _MAX_CHARS or text.count('"arguments"') != 1 or '"name"' in text:
        return None
    found = _MEMBER.search(text)
    arguments = None if found is None else json_of(f'"{_WRAP.sub("", found["text"])}"')
    return (NAME_NOT_COPIED, arguments) if isinstance(arguments, str) and _is_broken(arguments) else None


def _call(text: str) -> tuple[str, str] | None:
    """Return name and arguments of the first call that a line quotes; `None` where none is broken in a known way."""
    if len(text) > _MAX_CHARS or not has_any(text, _SIGNS):
        return None
    for field in _FIELD.finditer(text):
        arguments = json_of(f'"{field["text"]}"')
        if isinstance(arguments, str) and _is_broken(arguments):
            named = _NAMED.search(field["before"])
            return (named[1] if named is not None else NAME_NOT_COPIED), arguments
    for begun in islice(_END_TO_END.finditer(text), _MAX_PLACES):
        if (joined := _joined_at(text, begun.end())) is not None:
            line = text[text.rfind("\n", 0, begun.start()) + 1 : begun.start()]
            named = _NAMED.search(line[-_MAX_LINE:])
            return (named[1] if named is not None else NAME_NOT_COPIED), joined
    if _OF_CALLS.search(text) is None:
        return None
    if (joined := _joined_in_sentence(text)) is not None:
        return NAME_NOT_COPIED, joined
    for said in _SAID.finditer(text):
        quoted, closed, rest = said["text"].rpartition("}")  # what follows is a remark on it
        quoted += closed
        if quoted and not _QUOTE.search(rest) and _is_broken(quoted):
            return NAME_NOT_COPIED, quoted
    return None


def _joined_in_sentence(text: str) -> str | None:
    """Return the objects that a sentence quotes where it says that arguments were joined or repeated."""
    for begun in islice(_IN_SENTENCE.finditer(text), _MAX_PLACES):
        line = text[text.rfind("\n", 0, begun.start()) + 1 : line_end(text, begun.start())]
        is_said = "rgument" in line and _SAID_OF_JOINED.search(line) is not None
        if is_said and (joined := _joined_at(text, begun.start())) is not None:
            return joined
    return None


def _joined_at(text: str, start: int) -> str | None:
    """Return the JSON objects that follow one another at a place, nothing between; `None` of fewer than two."""
    stop, count = start, 0
    while text.startswith("{", stop) and count < _MAX_OBJECTS:
        try:
            _, stop = _DECODER.raw_decode(text, stop)
        except (ValueError, RecursionError):
            return None
        count += 1
    return text[start:stop] if count > 1 and not text.startswith("{", stop) else None


def _is_broken(arguments: str) -> bool:
    fault = break_of(arguments)
    is_known = fault is not None and fault.kind in _KNOWN and not is_shortened(arguments)
    return is_known and not any(is_answer(one) for one in json_values(arguments))


def _read(paste: Paste) -> Evidence:
    name, arguments = _call(paste.text) or _member(paste.text) or (NAME_NOT_COPIED, "")
    call: JSONObject = {"id": UNKNOWN_ID, "type": "function", "function": {"name": name, "arguments": arguments}}
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    return Evidence(Form.FRAGMENT, "arguments that a line quotes", chat=ChatResult(message, None), notes=(_NOTE,))


def arguments_beside(error: str, text: str) -> Evidence | None:
    """Return the arguments that a line quotes beside the error of the JSON decoder that read them.

    Args:
        error: The decoder's words.
        text: The whole text.
    """
    if _OF_DECODER.search(error) is None:
        return None
    lines = [line for line in text[:_MAX_CHARS].split("\n") if "rgument" in line and "{" in line and error not in line]
    found = next((line for line in lines[:_MAX_PLACES] if _call(line) is not None), None)
    return None if found is None else _read(Paste(found))


READER = Reader(Form.FRAGMENT, _finds, _read)
