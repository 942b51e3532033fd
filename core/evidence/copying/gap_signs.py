"""Signs that someone left something out of a text: `...`, `<snip>`, `(truncated)`.

    "tool_calls": [...]            {"id": "call_1", ...}          data: {"choices": [{"delta": …
    // ...                         <snip>

In prose dots are dots, so each kind of text has the signs that it has nowhere by itself.
"""

from __future__ import annotations

import ast
import re
import warnings

from prompt_debugger.core.base.text import remove_strings
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.evidence.recognise import MARKER
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, lenient_json_of

_EXPLICIT = re.compile(
    r"<(?:snip|truncated|omitted|redacted|cut)>|\[(?:\.{3,}|…|snip|truncated|omitted)\]|\((?:truncated|omitted|snip)\)"
)
_NO_REASON = re.compile(rf"finish_reason[='\": ]{{1,5}}(?:{_EXPLICIT.pattern}|\.{{3}}|…)")
_TAG = re.compile(  # a marker that was shortened
    r"</?[|\uff5c]?\w{0,40}(?:\.{3,}|…)(?!>)|(?:(?<!\.)\.{3,}+|…)(?:[\w\u2581]{0,40}[|\uff5c]|\w{2,40})>"
    r"|<[|\uff5c][\w\u2581]{3,60}(?:\.{3,}|…)>"
)
_AS_OPERATORS = re.compile(r"\w<(?:snip|truncated|omitted|redacted|cut)>\w")  # which Python takes for comparisons
LINE_LEFT_OUT = re.compile(rf"(?m)^[ \t]{{0,40}}(?:(?://|#) ?)?(?:\.{{3,}}|…|{_EXPLICIT.pattern})[ \t]{{0,8}}$")
_OPEN_VALUE = re.compile(r">\s{0,8}\{[^<>]{0,8000}[\"\d\]}](?:\.{3,}|…)(?=<)")  # arguments without their end
_OPEN_FIELD = re.compile(r"(?<!\\)\"\s{0,4}:\s{0,4}(?:\.{3,}|…)")  # no value, and no text that quotes one
GLUED = re.compile(rf"(?:{_EXPLICIT.pattern})\w")  # a text whose beginning someone took off
_MEMBERS = re.compile(r"(?<=[,{\[])\s{0,4}(?:\.{3,}|…)\s{0,4}(?=[,}\]])")
_AFTER_COMMA = re.compile(r"[\"\d}\]]\s{0,4},\s{0,4}(?:\.{3,}|…)\s{0,4}(?=[^\s\w\"]|\Z)")  # where a member would begin
_NAME = re.compile(r'"name"\s{0,4}:\s{0,4}"[^"\n]{0,80}(?:\.{3,}|…)')
_HEADER = re.compile(
    rf"(?:begin[|\uff5c]>|functions\.)[\w.:-]{{0,80}}(?:<[|\uff5c]?\w{{0,40}}[|\uff5c]?)?(?:\.{{3,}}|…|{_EXPLICIT.pattern})"
)
_KEY = re.compile(
    r'"\w{0,40}(?:\.{3,}|…)\w{0,40}"\s{0,4}:|[{,]\s{0,4}"\w{0,40}(?:\.{3,}|…)[^"\n]{0,40}"?\s{0,4}[}\]]|[>\n]\s{0,4}\{(?:\.{3,}|…)\w|[{,]\s{0,4}"\w{0,40}(?:\.{3,}|…)\s{0,4}:'
    r'|(?:\A|[>\n{,])\s{0,4}(?:\.{3,}|…)\w{0,40}"\s{0,4}:|[{,]\s{0,4}"\w{0,40}(?:\.{3,}|…)[|\uff5c]?\w?>'
    r'|[{,]\s{0,4}"\w{1,40}(?:\.{3,}|…)\s{0,4}"[^"\n]{0,80}"\s{0,4}[}\],]'  # a key, up to its value
)
_JOINED = re.compile(r'\w"(?:\.{3,}|…)\w{1,40}"')  # a string's end, and what was left out up to within another one
_JOINED_ESCAPE = re.compile(r'[,{]\s{0,4}"\w{0,40}(?:\.{3,}|…)[^"\n\\]{0,40}\\"')  # a key, the rest of a quoted text
_PRINTED_NAME = re.compile(r"\bname=['\"][^'\"\n]{0,80}(?:\.{3,}|…)")
CUT_BY_SIGN = re.compile(rf"(?:{_EXPLICIT.pattern}|\.{{3,}}|…)\s{{0,4}}\Z")  # a text that ends with it
TURN = re.compile(r"(?:start[|\uff5c]>)\w{0,20}(?:\.{3,}|…)")
RAW_LINE = re.compile(r"(?m)^(?:\.{3,}|…)[ \t]{0,8}$")
VALUE_LEFT_OUT = re.compile(r">\n(?:\.{3,}|…)[ \t]{0,8}(?=\n</)")  # of a tag, when all of it was left out
_DOTS = re.compile(r"\.{3,}|…")
_WORD = re.compile(r"""["']\w{0,40}(?:\.{3,}|…)\w{0,40}["']\s{0,8}[,}]""")  # after which a name would have its value
_SET = re.compile(r"\{\s{0,4}['\"][^'\"\n]{0,80}(?:\.{3,}|…)[^'\"\n]{0,80}['\"]\s{0,4}\}")  # a dict that lost a key
_SHORT_KEY = re.compile(
    r"['\"](?:choices|message|content|tool_calls|function|arguments|name|index|finish_reason|usage)(?:\.{3,}|…)"
)
REMARK = re.compile(r"(?:#|//) (?:\.{3,}|…)")
# What only someone who shortened an output can have put into it, or into content with markup.
RAW_SIGNS = (
    _EXPLICIT, _TAG, _HEADER, _OPEN_FIELD, _OPEN_VALUE, _MEMBERS, _AFTER_COMMA, _NAME, _KEY, _JOINED, _SET,
)  # fmt: skip
PROMPT_SIGNS = (_EXPLICIT, _TAG, TURN, RAW_LINE, REMARK)  # of a shortened prompt
_WORDS = frozenset({"role", "finish_reason", "name", "type", "object", "stop_reason"})
_HEAD = re.compile(r'"message": ?\{(?:\.{3}|…)\}')  # of a Messages stream, which has nothing of the answer
# A long text that only its maker reads: whoever shortens it leaves out nothing else.
_SEALED = re.compile(
    r'"(thought_?[sS]ignature|signature|encrypted_content)"\s{0,8}:\s{0,8}'
    r'"[\w+/=-]{0,4000}(?:\.{3,}|…)[\w+/=-]{0,4000}"'
)
# Ids that someone shortened: each is unknown then, and nothing else is.
_SHORT_ID = re.compile(r'"(id|call_id|tool_call_id|tool_use_id)"\s{0,8}:\s{0,8}"[\w-]{1,60}(?:\.{3,}|…)[\w-]{0,60}"')
_MAX_OF_PYTHON = 100_000  # characters


def has_gap(text: str) -> bool:
    """Return whether something was left out of a text that had to be JSON, a stream, or what Python prints."""
    if "..." not in text and "…" not in text and _EXPLICIT.search(text) is None:
        return False
    text = _SHORT_ID.sub(r'"\1": ""', _SEALED.sub(r'"\1": ""', _HEAD.sub('"message": {}', text)))
    value = json_of(text)
    if value is not None:
        return has_elided_member(value)
    if (mended := lenient_json_of(text)) is not None and has_elided_member(mended[0]):
        return True
    if LINE_LEFT_OUT.search(text) is not None or _TAG.search(text) is not None or _has_elided_event(text):
        return True
    if (has_sign_inside := _has_elided_node(text)) is not None:
        return has_sign_inside or _SET.search(text) is not None or _JOINED_ESCAPE.search(text) is not None
    if _SET.search(text) is None and _JOINED_ESCAPE.search(text) is None and _is_sound(text):
        return False
    signs = (_EXPLICIT, REMARK, _WORD, _SHORT_KEY, _SET, _JOINED_ESCAPE, _PRINTED_NAME)
    return any(sign.search(text) for sign in signs) or _DOTS.search(remove_strings(text)) is not None


def has_no_reason(text: str) -> bool:
    """Return whether someone wrote a sign in place of a finish reason: it had one, and nobody knows which."""
    return _NO_REASON.search(text) is not None


def has_sign(text: str) -> bool:
    """Return whether a text has dots or a word of omission, wherever."""
    return _DOTS.search(text) is not None or _EXPLICIT.search(text) is not None


def has_elided_member(value: JSON) -> bool:
    """Return whether a name, or a text that is one word, of a JSON value has a sign of something left out."""
    if isinstance(value, list):
        return any(has_elided_member(item) for item in value)
    if not isinstance(value, dict):
        return False
    for name, item in value.items():
        if has_sign(name) or (isinstance(item, str) and is_elided_text(name, item)):
            return True
        if isinstance(item, dict | list) and has_elided_member(item):
            return True
    return False


def is_elided_text(name: str, text: str) -> bool:
    """Return whether the text of a field was shortened: a word by any sign, arguments and markup by those that fit."""
    if name in _WORDS:
        return has_sign(text)
    if name == "arguments" and (value := json_of(text)) is not None:
        return isinstance(value, dict) and any(map(has_sign, value))
    if name == "arguments":
        return any(sign.search(text) for sign in (CUT_BY_SIGN, _EXPLICIT))
    signs = (*RAW_SIGNS, CUT_BY_SIGN)  # which ends a text that was shortened, and no text with markup
    return MARKER.search(text) is not None and any(sign.search(text) for sign in signs)


def _is_sound(text: str) -> bool:
    """Return whether a text is of lines that are JSON each, or a stream of such."""
    lines = [line for line in text.split("\n") if line.strip()]
    data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    if data:
        return all(one == "[DONE]" or json_of(one) is not None for one in data)
    return len(json_lines(text)) == len(lines) and all(json_of(line) is not None for line in lines)


def _has_elided_node(text: str) -> bool | None:
    """Return whether an expression of Python has a sign of something left out; `None` if a text is not Python."""
    if len(text) > _MAX_OF_PYTHON or json_lines(text):
        return None
    if "<" in text and _AS_OPERATORS.search(remove_strings(text)) is not None:
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return any(map(_is_elided_node, ast.walk(ast.parse(text.strip()))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_elided_node(node: ast.AST) -> bool:
    """Return whether Python's `...`, or a name in a dict, or arguments, that have a sign of something left out."""
    if isinstance(node, ast.Constant):
        return node.value is ...
    if isinstance(node, ast.keyword) and node.arg == "name":
        return isinstance(node.value, ast.Constant) and has_sign(str(node.value.value))
    if isinstance(node, ast.keyword):
        text = node.value.value if node.arg == "arguments" and isinstance(node.value, ast.Constant) else None
        return isinstance(text, str) and _EXPLICIT.search(text) is not None and json_of(text) is None
    names = [key.value for key in node.keys if isinstance(key, ast.Constant)] if isinstance(node, ast.Dict) else []
    return any(isinstance(name, str) and has_sign(name) for name in names)


def _has_elided_event(text: str) -> bool:
    """Return whether a line that is JSON, or an event of a stream, has a sign where none can be."""
    is_stream = text.lstrip().startswith("data:")
    for line in text.split("\n"):
        if has_sign(line):
            if is_stream and not line.lstrip().startswith(("data:", "event:", "id:", "retry:", ":")):
                return True
            value = json_of(line.strip().removeprefix("data:"))
            if has_elided_member(value) or (value is None and line.lstrip().startswith("data:")):
                return True
    return False
