"""What a structural tag is built from, and its words in XGrammar's JSON form.

A structural tag says which strings an output may consist of. Each family's file
builds its own from these words where vLLM does not take XGrammar's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from prompt_debugger.core.base.types import JSON, JSONObject

# How much of a call vLLM enforces, by its `--tool-strict-level`.
StrictLevel = Literal["auto", "function", "parameter"]


@dataclass(frozen=True, slots=True)
class ToolGrammar:
    """One tool as the grammar sees it.

    Attributes:
        index: Its place among the request's tools; −1 for a tool that was made up to see what follows.
        parameters: Its parameter schema; `None` if it has none.
        is_strict: Whether its arguments must follow the schema.
    """

    index: int
    name: str
    parameters: JSON
    is_strict: bool


@dataclass(frozen=True, slots=True)
class GrammarPlan:
    """Everything that a structural tag is built from.

    Attributes:
        tools: The tools that may be called, in order.
        choice: Whether a call may, must, or must be this one.
        parallel: Whether more than one call is allowed.
        any_order: True if keys may come in any order, and required ones may be absent.
        open_keys: True if keys may come that are not declared; only for formats whose tag lists the keys itself.
    """

    tools: tuple[ToolGrammar, ...]
    choice: Literal["auto", "required", "forced"]
    parallel: bool = True
    any_order: bool = False
    open_keys: bool = False


# Builds the format of a plan's tag, `None` to take XGrammar's; the text is what the checkpoint's markers end in.
TagBuilder: TypeAlias = "Callable[[GrammarPlan, str], JSONObject | None]"


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


def calls_of(plan: GrammarPlan, trigger: str, tags: list[JSON], excludes: Sequence[str] = ()) -> JSONObject:
    """Return calls as the tool choice has them: free text in which they may come, or calls alone."""
    if plan.choice == "auto":
        return triggered(trigger, tags, excludes)
    return list_of_calls(tags, only_first=plan.choice == "forced")


def json_calls_between(start: str, end: str) -> TagBuilder:
    """Return the builder for `{"name": …, "arguments": …}` between two markers, line breaks around it or none."""

    def build(plan: GrammarPlan, suffix: str = "") -> JSONObject:
        tags: list[JSON] = [
            between(
                f'{start}{line}{{"name": "{tool.name}", "arguments": ', following(schema_of(tool)), f"}}{line}{end}"
            )
            for tool in plan.tools
            for line in ("\n", "")
        ]
        return calls_of(plan, start, tags)

    return build
