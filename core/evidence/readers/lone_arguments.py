r"""Arguments of a call without the call: what someone copied because it cannot be decoded.

    "{\"city\": \"Oslo\"}"                       a JSON text of a JSON text
    {"a": 1}{"a": 2}                             several objects end to end
    ', "arguments": {"a": 1}}'                   with what is around them in a call
    {"cmd": "ls\n</parameter": "x               with the markup of a call in them
    read_file("{\"path\": \"a.md\"}")            after the name, as agents print a call
    name='f', arguments='{"a": 1}'              with its name, as Python prints fields
    Arguments: {"name": "f_g", "arguments": {}}  a whole call below the word, where its arguments belong

What could be decoded as it is, is no such text: nothing would be wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from prompt_debugger.core.base.types import ChatResult, JSONObject
from prompt_debugger.core.diagnose.calls.broken_arguments import NAME_NOT_COPIED, Break, BrokenArguments, break_of
from prompt_debugger.core.evidence.answers.read import is_answer, is_error
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.recognise import MARKER, is_request
from prompt_debugger.core.evidence.values.json_of import json_of, json_values
from prompt_debugger.core.evidence.values.python_repr import plain, read_fields

LONE_ARGUMENTS = "the arguments of a tool call"
_MAX_CHARS = 40_000
_LEAD = re.compile(
    r"\A(?:(?:[A-Za-z_][\w\[\].]{0,60}\.)?[\"']?(?:[Aa]rguments|args|input)[\"']?[ \t]{0,8}[:=]\s{0,8})?"
)
_NAMED = re.compile(r"\A([A-Za-z_][\w.-]{0,80})\((?=[\"'{])")
_HOLDERS = re.compile(
    r"[\"']?\b(?:role|content|choices|messages?|model|tool_calls|output|type|name|function|done|delta|raw|prompt|error"
    r"|finish_reason|usage|temperature|top_p|max_tokens|chat_template_kwargs|extra_body|repetition_penalty)[\"']?\s*+:"
)
_INNER = re.compile(r'\A["\']?,? ?"(?:arguments|parameters)": ?\{(?!\s*"(?:type|properties|required)":)')  # or a schema
_PRINTED = re.compile(r"\A(?:Function\()?(?:name|arguments|id)=")
_BEGINS = re.compile(r"\{\s*[\"']")  # as an object does, and no template
_ARROW = re.compile(r"\{\s{0,20}(?:\"[^\"\n]{0,100}\"|:\w{1,100}) ?=>")  # of a value that Ruby printed
_ENDED = re.compile(
    r"\{[^<]*\}\s*\}(?:\s|\\n)*(?:</?)?"
)  # arguments with the end of their call, before its closing tag
_NEXT = re.compile(r"[\s}\]]{0,200},\s{0,200}\"[\w.-]{1,80}\"\s{0,20}:")
_TAGS = re.compile(r"(?:\s|\\n|<[^<>]{1,60}>)*+(?:<[^<>]{0,60})?")
_BEGUN_MARKER = re.compile(r"\s*+<[|\uff5c/]?[\w\u2581]{0,40}")
_KNOWN = (Break.JOINED, Break.MARKUP, Break.ESCAPED, Break.WRAPPED, Break.PYTHON)


def _finds(paste: Paste) -> float:
    return 0.4 if _arguments(paste.text) is not None else 0.0


def _read(paste: Paste) -> Evidence:
    found = _arguments(paste.text)
    name, text = found if found is not None else (NAME_NOT_COPIED, paste.text)
    call: JSONObject = {"id": UNKNOWN_ID, "type": "function", "function": {"name": name, "arguments": text}}
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    note = "The text was read as the arguments of a tool call; the answer around them was not copied."
    return Evidence(Form.FRAGMENT, LONE_ARGUMENTS, chat=ChatResult(message, None), notes=(note,))


def _arguments(text: str) -> tuple[str, str] | None:
    """Return the name of the call, where there is one, and its arguments; `None` of any other text."""
    text = text.strip()
    if (fields := _fields(text)) is not None:
        return fields
    if len(text) > _MAX_CHARS or "\n\n" in text or _ARROW.match(text) is not None:
        return None
    named = _NAMED.match(text)
    if named is not None:
        inside = _inside(text[named.end() :])
        return None if inside is None or not _is_broken(inside) else (named[1], inside)
    bare = _LEAD.sub("", text, count=1)
    is_labelled = len(bare) < len(text)
    if is_labelled and text[: len(text) - len(bare)].rstrip(" \t:=").endswith(('"', "'")) and "<" in bare:
        return None  # a key, and the end of the call that it was copied from
    if is_labelled and text[: len(text) - len(bare)].rstrip().endswith("input=") and bare.startswith("{'"):
        return None  # what Python printed, where an object is not a text
    is_key = is_labelled and text[: len(text) - len(bare)].rstrip(" \t:=").endswith(('"', "'"))
    if is_key and isinstance(decoded := json_of(bare.rstrip(" ,")), str):
        bare = decoded  # a member of JSON, whose text the arguments are
    if is_key and _is_member(bare):
        return None
    written = [one for one in _unquote(bare) if is_labelled or one != bare or not one.startswith(",")]
    return next(((NAME_NOT_COPIED, one) for one in written if _is_broken(one, is_labelled=is_labelled)), None)


def _is_member(text: str) -> bool:
    """Return whether an object is followed by the next member of the one around it: of any data, cut at both ends."""
    fault = break_of(text)
    return fault is not None and fault.kind is Break.WRAPPED and _NEXT.match(text, fault.span.stop) is not None


def _fields(text: str) -> tuple[str, str] | None:
    """Return name and arguments that are printed as `name='f', arguments='{…}'`, in any order; else `None`."""
    if _PRINTED.match(text) is None or "\n" in text:
        return None
    printed = read_fields(text.removeprefix("Function(").rstrip(")"))
    value = None if printed is None else plain(printed.value)
    if not isinstance(value, dict):
        return None
    name, arguments = value.get("name"), value.get("arguments")
    return (name, arguments) if isinstance(name, str) and isinstance(arguments, str) else None


def _inside(text: str) -> str | None:
    """Return what is between the brackets of a printed call, decoded if it is a text."""
    end = text.find("\n-> ")
    text = (text if end < 0 else text[:end]).rstrip()
    if not text.endswith(")"):
        return None
    written = text[:-1].rstrip()
    value = json_of(written)
    if isinstance(value, str):
        return value
    if written[:1] == '"' and written[-1:] == '"':
        return written[1:-1].replace('\\"', '"')
    return written


def _unquote(text: str) -> Iterator[str]:
    yield text
    if len(text) > 2 and text[0] == text[-1] and text[0] in "'\"`":
        if isinstance(printed := json_of(text), str):
            yield printed
        yield text[1:-1]


def _is_broken(text: str, *, is_labelled: bool = False) -> bool:
    """Return whether a text fails to be a JSON object in one of the ways in which arguments of a call break.

    If a label says that the text is arguments, it may be in a code fence.
    """
    value = json_of(text)
    if is_labelled and isinstance(value, dict) and value.keys() == {"name", "arguments"}:
        return isinstance(value["name"], str) and isinstance(value["arguments"], dict)
    if isinstance(value, str):
        return isinstance(json_of(value), dict) and _HOLDERS.search(value) is None
    if is_labelled and text.startswith("```"):
        return (fault := break_of(text)) is not None and fault.kind is Break.WRAPPED
    if value is not None or not text.startswith(("{", '"{', '"', ",")):
        return False
    if text.endswith(("<", "</")):
        return False  # within a tag
    if text.startswith(('"', ",")):
        return _is_end_of_call(text)
    if _HOLDERS.search(text.split("</", 1)[0]):
        return False
    fault = break_of(text)
    if fault is None or fault.kind not in _KNOWN:
        return False
    if not is_labelled and _is_of_other_data(text, fault):
        return False
    return fault.kind is not Break.JOINED or not any(
        is_request(one) or is_answer(one) or is_error(one) for one in json_values(text)
    )


def _is_end_of_call(text: str) -> bool:
    """Return whether a text is arguments with the name of their field and what closes the call around them."""
    if text.startswith(('"arguments"', '"parameters"')) and text.count("{") == text.count("}"):
        return False  # a member of an object, as a tool has it
    is_whole = text.rstrip().endswith(("}", "]", "'", '"')) and "}" in text
    return is_whole and _INNER.match(text) is not None and MARKER.search(text) is None  # which ends a raw output


def _is_of_other_data(text: str, fault: BrokenArguments) -> bool:
    """Return whether a text may just as well be part of a list, JSON lines or a template: nothing says what it is."""
    if _BEGINS.match(text) is None or fault.kind is Break.PYTHON:
        return True  # any dict is printed so
    if fault.kind is Break.MARKUP and json_of(text[: fault.span.start].rstrip().removesuffix("```")) is not None:
        return _TAGS.fullmatch(text, fault.span.start) is not None  # which end a call, as in a raw output
    if fault.kind is Break.MARKUP and _ENDED.fullmatch(text[: fault.span.start]):
        return json_of(text[: text.rindex("}", 0, fault.span.start)].rstrip().removesuffix("}") + "}") is not None
    if fault.kind is Break.JOINED:
        return any("\n" in text[one.stop : other.start] for one, other in pairwise(fault.parts))
    rest = text[fault.span.stop :]
    if _BEGUN_MARKER.fullmatch(rest) is not None:
        return True  # which ends a call, and was cut
    is_line = rest.lstrip(" \t")[:1] == "\n"  # of a log that is written as JSON
    return fault.kind is Break.WRAPPED and (is_line or rest.lstrip().startswith((",", "]", "}", "#", "//")))


READER = Reader(Form.FRAGMENT, _finds, _read)
