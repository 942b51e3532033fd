"""A request or an answer that a program in Ruby, Elixir or PHP printed, or that was dumped as YAML, as JSON.

Only a text that is one such value to its end, and that has a field which requests or answers have, becomes JSON.
"""

from __future__ import annotations

import json
import re

import yaml

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.values.arrow_literals import arrow_literal
from prompt_debugger.core.evidence.values.php_dumps import php_dump

_KNOWN = frozenset(
    {"choices", "messages", "message", "candidates", "contents", "content", "output", "tool_calls", "error", "response"}
)
_CAMEL = {
    "finishReason": "finish_reason",
    "toolCalls": "tool_calls",
    "functionCall": "function_call",
    "promptTokens": "prompt_tokens",
    "completionTokens": "completion_tokens",
    "totalTokens": "total_tokens",
}
_MAX_YAML_CHARS = 60_000
_YAML = re.compile(r"(?:---[ \t]*\n)?[\w\"']{1,60}:(?:[ \t]|\n)")
_YAML_LIST = re.compile(r"(?m)^(?:choices|messages|content):[ \t]*$")
_ALIAS = re.compile(r"[\[,:\-][ \t\n]{0,40}\*\w")  # which may stand for the same value many times
_DSML = re.compile(r"<(/?) ?[|\uff5c] {1,4}DSML {1,4}[|\uff5c] ?(\w{1,40}(?: [^<>\n]{0,200})?)(>?)")
_PIECES = re.compile(r"(?<!\\)' \+\n[ \t]{0,80}'")


def close_dsml(text: str) -> str | None:
    """Return a text with DeepSeek's tags as the model writes them, where a screen or page set blanks in their marks."""
    if "DSML " not in text:
        return None
    return _DSML.sub(lambda tag: f"<{tag[1]}\uff5cDSML\uff5c{tag[2].rstrip()}{tag[3]}", text)


def join_printed_pieces(text: str) -> str | None:
    r"""Return a text with the long strings in one piece that Node prints in several: `'a\\n' +` above `'b'`.

    >>> join_printed_pieces("{\\n  message: 'It failed:\\\\n' +\\n    '- a',\\n}").count("'")
    2
    """
    return _PIECES.sub("", text) if "' +\n" in text else None


def printed_as_json(text: str) -> str | None:
    """Return what Ruby, Elixir or PHP printed as JSON; `None` for any other text."""
    value = arrow_literal(text)
    if value is None:
        value = php_dump(text)
    held = as_object(value[0] if isinstance(value, list) and value else value)
    if "choices" in held:
        value = _renamed(value)
    return json.dumps(value, ensure_ascii=False) if _KNOWN & held.keys() else None


def _renamed(value: JSON) -> JSON:
    """Return an answer of chat completions with its own names, which classes of clients in PHP write in camel case."""
    if isinstance(value, list):
        return [_renamed(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {_CAMEL.get(name, name): _renamed(one) for name, one in value.items()}


def yaml_as_json(text: str) -> str | None:
    """Return a request or a whole answer in YAML as JSON; `None` for any other text."""
    if len(text) > _MAX_YAML_CHARS or _YAML.match(text) is None or _YAML_LIST.search(text) is None:
        return None
    if _ALIAS.search(text) is not None:
        return None
    try:
        held = as_object(yaml.safe_load(text))
        as_json = json.dumps(held, ensure_ascii=False, default=str)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):  # also of values and keys that JSON cannot hold
        return None
    if not _is_request(held) and not _is_whole_answer(held):
        return None
    if not text.endswith("\n"):  # its last word may be cut, and with it what the last field holds
        held = dict([*held.items()][:-1])
        as_json = json.dumps(held, ensure_ascii=False, default=str)
    return as_json if _KNOWN & held.keys() else None


def _is_request(value: JSONObject) -> bool:
    messages = value.get("messages")
    return isinstance(messages, list) and bool(messages) and all("role" in as_object(one) for one in messages)


def _is_whole_answer(value: JSONObject) -> bool:
    """Return whether a value is an answer to its end: a copy of YAML that is cut between two lines is YAML, too."""
    is_last = [*value][-1:] in (["choices"], ["content"])
    choices, content = value.get("choices"), value.get("content")
    if is_last or not isinstance(choices, list) or not choices:
        return not is_last and isinstance(content, list) and "stop_reason" in value
    first = as_object(choices[0])
    return isinstance(first.get("message"), dict) and "finish_reason" in first
