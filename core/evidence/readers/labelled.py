"""Fields that someone's script printed with labels, or that a report lists: one part of an answer a line.

    finish_reason: stop                      # content:           "apple<eos>"
    streamed tool call name: predict_x       tool call arguments = {"a": 1}
    tool_calls: [{'function': {…}}]          raw_tool_call:::: {'function': {…}}

The last label of a kind counts, as scripts print pieces first and the whole at the end; but a raw call before others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject, Usage
from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from prompt_debugger.core.evidence.answers.shapes import call_of_langchain
from prompt_debugger.core.evidence.evidence import UNKNOWN_ID, Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.evidence.values.python_repr import plain, read_printed

_LINE = re.compile(
    r"(?m)^[ \t]*(?:(?:#|//|\*|-|>)[ \t]*)?+(?P<label>[A-Za-z][\w .\[\]`'\"()]{1,70}?)[ \t]*[:=]:{0,5}[ \t]*"
    r"(?P<value>[^\n]*)$"
)
_QUOTES = ('"', "'", "`")
_ARROW = re.compile(r"(?<![ \t])[ \t]{2,}+<[-=]+.*$")
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("finish_reason", re.compile(r"finish[_ ]reason[`'\"\]]*$")),
    ("completion_tokens", re.compile(r"completion[_ ]tokens[`'\"\]]*$")),
    ("prompt_tokens", re.compile(r"prompt[_ ]tokens[`'\"\]]*$")),
    ("id", re.compile(r"tool[_ ]calls?[_ ]id$")),
    ("name", re.compile(r"(?:tool[_ ]calls?|function|tool)[_ ]?name$|^tool[_ ]call$")),
    ("arguments", re.compile(r"(?:tool[_ ]calls?|function|tool|called)\b.{0,20}\barguments\b.{0,20}$|^arguments$")),
    ("reasoning_content", re.compile(r"\breasoning(?:[_ ]content)?[`'\"\]]*$")),
    ("content", re.compile(r"(?:^|[ .\[`'\"])content[`'\"\]]*$")),
)
_CALLS = re.compile(r"^(?!.*\b(?:expected|should|want))(?:.*[ ._\[`'\"])?(?:raw_)?(?:invalid_)?tool_calls?[`'\"\]]*$")
_ABSENT = ("None", "null", "undefined", "[]", "{}")
_LONE_CONTENT = re.compile(r"(?:[\w.\[\]]{0,60}\.)?content[ \t]{0,4}[:=][ \t]{0,4}(?=['\"])")
# An answer in YAML has the same labels, and its calls below them.
_CODE = re.compile(
    r"(?m)^[ \t]*(?:import |from [\w.]+ import |def |- name:|apiVersion)|\.create\("
    r"|^[ \t]*(?:choices|tool_calls):[ \t]*+\n[ \t]*- "
    # A declaration has types where an answer has values.
    r"|^[ \t]*(?:export |public |private )?(?:class|interface|struct|enum|record) \w{1,80}[ ({:<]"
    r"|^[ \t]*(?:reasoning_)?content\??: (?:Optional|Union|Literal|Annotated|list|List|str|string)"
    r"(?:\[|;|,?[ \t]*$| [|=] )"
)

_RUST = re.compile(r"(?m)^[ \t]{1,80}\w{1,60}: Some\(")  # a field as Rust prints it: of its value the rest is below
_OBJECT = re.compile(r"[A-Z]\w{1,60}\(\Z")  # whose fields a printed object has below
_ENUM = re.compile(r"\A\w{0,40}Reason\.(?=\w)")  # as Python prints a member of an enumeration


def _finds(paste: Paste) -> float:
    if paste.value is not None or _CODE.search(paste.text[:20_000]) or _RUST.search(paste.text[:20_000]):
        return 0.0
    fields = _fields(paste.text)
    if "(" in fields.get("name", ""):
        return 0.0  # an expression of a program, whose value is not known
    if "name" in fields and "arguments" in fields and not _is_react(paste.text):
        return 0.95  # surer than deltas without contents that a script also prints
    if _is_lone_content(paste.text.strip()):
        return 0.65
    if (calls := _calls(fields)) and all(_is_named(one) and not _is_first_piece(one) for one in calls):
        return 0.65
    beside = {"finish_reason", "completion_tokens", "reasoning_content", "tool_calls"} & {*fields}
    return 0.65 if "content" in fields and beside else 0.0


def _is_react(text: str) -> bool:
    """Return whether an agent's text has its own call: its labels are then made up by the model."""
    found = find_client_call(text)
    return found is not None and found.notation is Notation.REACT


def _is_lone_content(text: str) -> bool:
    """Return whether a text is one line, a label and a text in quotation marks."""
    label = _LONE_CONTENT.match(text)
    return label is not None and "\n" not in text and text[-1] == text[label.end()] and len(text) > label.end() + 1


def _fields(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    lines = list(_LINE.finditer(text))
    is_raw = False
    for number, line in enumerate(lines):
        kind = _kind_of(line)
        if kind == "tool_calls":
            read = read_printed(text, line.start("value")) if line["value"][:1] in "[{" else None
            is_whole = line["value"].strip() in _ABSENT or (read is not None and not read.is_cut)
            if is_whole and not is_raw:
                found[kind] = text[line.start("value") : line.end() if read is None else read.stop].strip()
            is_raw = is_raw or (is_whole and "raw" in line["label"].lower())
            continue
        value = _ARROW.sub("", line["value"]).strip()
        is_open = value[:1] in _QUOTES and (len(value) == 1 or value[-1] != value[0])
        if value.strip("'\"`;,").lower() == line["label"].strip().lower():
            continue  # a constant for the name of a field
        if kind is not None and not is_open and _OBJECT.match(value) is None:
            is_long = kind in ("content", "reasoning_content") and value[:1] not in _QUOTES
            is_long = is_long or (kind == "arguments" and value.startswith("{") and not value.endswith("}"))
            found[kind] = f"{value}{_goes_on(text, lines, number)}" if is_long else value
    return found


def _goes_on(text: str, lines: list[re.Match[str]], number: int) -> str:
    """Return the lines below a text's label that have no known label, as scripts print a text of several lines."""
    after = (one for one in lines[number + 1 :] if _kind_of(one) is not None)
    stop = next((one.start() for one in after), len(text))
    return text[lines[number].end() : stop].rstrip()


def _kind_of(line: re.Match[str]) -> str | None:
    label = line["label"].strip().lower()
    value = line["value"].strip()
    if (value[:1] in ("[", "{") or value in _ABSENT) and _CALLS.match(label) is not None:
        return "tool_calls"
    return next((kind for kind, pattern in _KINDS if pattern.search(label)), None)


def _read(paste: Paste) -> Evidence:
    fields = _fields(paste.text)
    calls = _calls(fields)
    if not calls and not {"content", "arguments"} & {*fields}:
        raise RequestError("No label marks a part of an answer.", "Paste the answer as JSON.")
    message: JSONObject = {"role": "assistant", "content": _text(fields["content"]) if "content" in fields else None}
    if fields.get("reasoning_content") not in (None, "None", "null"):
        message["reasoning_content"] = _text(fields["reasoning_content"])
    if "name" in fields and "arguments" in fields:
        function: JSONObject = {"name": _text(fields["name"]), "arguments": _arguments(fields["arguments"])}
        message["tool_calls"] = [{"id": fields.get("id", UNKNOWN_ID), "type": "function", "function": function}]
    elif calls:
        message["tool_calls"] = list(calls)
    reason = _ENUM.sub("", _text(fields["finish_reason"])) if "finish_reason" in fields else None
    chat = ChatResult(message, reason, usage=_usage(fields))
    named = ", ".join(f"`{name}`" for name in fields)
    note = f"The answer was assembled from labels in the text: {named}."
    return Evidence(Form.ANSWER, "fields of a chat response", chat=chat, finish_reason=reason, notes=(note,))


def _is_first_piece(call: JSONObject) -> bool:
    """Return whether a call is the piece of a stream that names it, whose arguments come later; those have no name."""
    return "index" in call and as_object(call.get("function")).get("arguments") == ""


def _is_named(call: JSONObject) -> bool:
    return bool(call.get("name") or as_object(call.get("function")).get("name"))


def _calls(fields: Mapping[str, str]) -> tuple[JSONObject, ...]:
    """Return the calls that a label shows, those of LangChain as a server sends them."""
    read = read_printed(fields.get("tool_calls", ""))
    value = None if read is None else read.value
    items = value if isinstance(value, list) else [value]
    calls = [as_object(plain(item)) for item in items if isinstance(item, dict) and item]
    return tuple(call_of_langchain(call) or call for call in calls)


def _arguments(value: str) -> str:
    """Return arguments as JSON where a script printed a dict: whether it was a text before cannot be seen."""
    read = read_printed(value) if value.startswith("{'") else None
    is_dict = read is not None and not read.is_cut and isinstance(read.value, dict) and not value[read.stop :].strip()
    return json.dumps(plain(read.value), ensure_ascii=False) if read is not None and is_dict else value


def _text(value: str) -> str:
    """Return what a line shows as the value: without the quotes of JSON or Python around it."""
    read: JSON = json_of(value) if value.startswith('"') else None
    if isinstance(read, str):
        return read
    printed = read_printed(value) if value.startswith("'") else None
    if printed is not None and not printed.is_cut and isinstance(printed.value, str) and printed.stop == len(value):
        return printed.value
    return value[1:-1] if len(value) > 1 and value[0] in "'\"`" and value[-1] == value[0] else value


def _usage(fields: Mapping[str, str]) -> Usage | None:
    counts = [
        int(found[0]) if (found := re.match(r"\d{1,9}", fields.get(name, ""))) else None
        for name in ("prompt_tokens", "completion_tokens")
    ]
    return Usage(counts[0], counts[1], None) if any(count is not None for count in counts) else None


READER = Reader(Form.ANSWER, _finds, _read)
