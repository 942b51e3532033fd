"""The words of a structural tag in XGrammar's JSON form: what an output may consist of, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence

from core.parse.grammar.enforcement import ToolGrammar
from core.types import JSON, JSONObject


def schema_of(tool: ToolGrammar) -> JSON:
    """Return the schema that a tool's arguments are held to; `True` for any JSON."""
    return tool.parameters if tool.is_strict and tool.parameters is not None else True


def following(schema: JSON, style: str = "json") -> JSONObject:
    """Return a value that follows a schema."""
    return {"type": "json_schema", "json_schema": schema, "style": style}


def exactly(value: str) -> JSONObject:
    """Return exactly this text."""
    return {"type": "const_string", "value": value}


def free_text(excludes: Sequence[str] = ()) -> JSONObject:
    """Return any text without these."""
    return {"type": "any_text", "excludes": list(excludes)}


def matching(pattern: str) -> JSONObject:
    """Return what a pattern matches."""
    return {"type": "regex", "pattern": pattern}


def between(begin: str, content: JSON, end: JSON) -> JSONObject:
    """Return content between two texts."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def in_order(*elements: JSON) -> JSONObject:
    """Return one after the other."""
    return {"type": "sequence", "elements": list(elements)}


def maybe(content: JSON) -> JSONObject:
    """Return the content or nothing."""
    return {"type": "optional", "content": content}


def repeated(content: JSON) -> JSONObject:
    """Return the content any number of times."""
    return {"type": "star", "content": content}


def one_of(options: list[JSON]) -> JSON:
    """Return one of the options."""
    return options[0] if len(options) == 1 else {"type": "or", "elements": options}


def triggered(trigger: str, tags: list[JSON], excludes: Sequence[str] = ()) -> JSONObject:
    """Return free text in which a trigger opens one of the tags."""
    return {"type": "triggered_tags", "triggers": [trigger], "tags": tags, "excludes": list(excludes)}


def list_of_calls(tags: list[JSON], *, only_first: bool = False) -> JSONObject:
    """Return calls, one at least."""
    return {
        "type": "tags_with_separator",
        "tags": tags,
        "separator": "",
        "at_least_one": True,
        "stop_after_first": only_first,
    }
