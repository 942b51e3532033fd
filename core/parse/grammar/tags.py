"""Structural tags as JSON: those that vLLM builds itself, and changes made to any of them.

XGrammar's own tags are built in the helper process; here are the few that vLLM 0.32
does not take from there. A tag says, in XGrammar's JSON form, which strings an output
may consist of. Source: vLLM 0.32.0, `structural_tag_registry.py`, `parser/harmony.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from core.parse.grammar.enforcement import GrammarPlan
from core.parse.grammar.section_tags import hy_v4_tag, kimi_k3_tag, minimax_tag, plamo3_tag
from core.parse.grammar.tag_words import (
    between,
    exactly,
    following,
    free_text,
    list_of_calls,
    one_of,
    schema_of,
    triggered,
)
from core.types import JSON, JSONObject

TagBuilder: TypeAlias = Callable[[GrammarPlan], JSONObject]

_GLM_MARKERS = (
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>",
)  # fmt: skip
_LISTS_OF_CALLS = ("triggered_tags", "token_triggered_tags", "tags_with_separator")


def build_own_tag(name: str, plan: GrammarPlan, suffix: str = "") -> JSONObject | None:
    """Return the tag that vLLM builds itself, `None` if it takes XGrammar's.

    Args:
        name: Name of the structural tag.
        plan: What it is built from.
        suffix: What the markers of this checkpoint end in, with its colon.
    """
    if name == "hy_v4":
        return {"type": "structural_tag", "format": hy_v4_tag(plan, suffix)}
    if name == "glm_4_7" and all(tool.is_strict for tool in plan.tools):
        return None
    builder = _BUILDERS.get(name)
    return None if builder is None else {"type": "structural_tag", "format": builder(plan)}


def finish_tag(tag: JSONObject, plan: GrammarPlan) -> JSONObject:
    """Return a tag with what holds for all of them: order of keys, number of calls."""
    return {"type": "structural_tag", "format": _finish(tag.get("format"), plan)}


def strings_of(tag: JSON) -> tuple[str, ...]:
    """Return every literal string of a tag, schemas left out."""
    if isinstance(tag, str):
        return (tag,)
    if isinstance(tag, list):
        return tuple(text for item in tag for text in strings_of(item))
    if isinstance(tag, dict):
        kept = (value for key, value in tag.items() if key not in ("json_schema", "type", "style", "pattern"))
        return tuple(text for value in kept for text in strings_of(value))
    return ()


def replace_strings(tag: JSON, replacements: Mapping[str, str]) -> JSON:
    """Return a tag with texts replaced in its literal strings, schemas left alone."""
    if isinstance(tag, dict) and tag.get("type") == "regex":
        pattern = str(tag.get("pattern"))
        for old, new in replacements.items():
            pattern = pattern.replace(old.replace("|", r"\|"), new)
        return {**tag, "pattern": pattern}
    if isinstance(tag, str):
        for old, new in replacements.items():
            tag = tag.replace(old, new)
        return tag
    if isinstance(tag, list):
        return [replace_strings(item, replacements) for item in tag]
    if isinstance(tag, dict):
        kept = ("json_schema", "type", "style", "pattern")
        return {key: value if key in kept else replace_strings(value, replacements) for key, value in tag.items()}
    return tag


def _finish(node: JSON, plan: GrammarPlan) -> JSON:
    if isinstance(node, list):
        return [_finish(item, plan) for item in node]
    if not isinstance(node, dict):
        return node
    done: JSONObject = {key: value if key == "json_schema" else _finish(value, plan) for key, value in node.items()}
    if node.get("type") == "json_schema" and plan.any_order:
        done["any_order"] = True
    if node.get("type") in _LISTS_OF_CALLS and not plan.parallel:
        done["stop_after_first"] = True
    return done


def _calls(plan: GrammarPlan, trigger: str, tags: list[JSON], excludes: Sequence[str] = ()) -> JSONObject:
    if plan.choice == "auto":
        return triggered(trigger, tags, excludes)
    return list_of_calls(tags, only_first=plan.choice == "forced")


def _hermes_like(start: str, end: str) -> TagBuilder:
    def build(plan: GrammarPlan) -> JSONObject:
        tags: list[JSON] = [
            between(
                f'{start}{line}{{"name": "{tool.name}", "arguments": ', following(schema_of(tool)), f"}}{line}{end}"
            )
            for tool in plan.tools
            for line in ("\n", "")
        ]
        return _calls(plan, start, tags)

    return build


def _glm(plan: GrammarPlan) -> JSONObject:
    tags: list[JSON] = [
        between(
            f"<tool_call>{tool.name}",
            following(schema_of(tool), "glm_xml") if tool.is_strict else _glm_pairs(tool.parameters),
            "</tool_call>",
        )
        for tool in plan.tools
    ]
    return _calls(plan, "<tool_call>", tags, [marker for marker in _GLM_MARKERS if marker != "<tool_call>"])


def _glm_pairs(parameters: JSON) -> JSON:
    """Keys and simple types of a tool that is not strict, in any order and number."""
    schema = parameters if isinstance(parameters, dict) else {}
    properties = schema.get("properties")
    is_mixed = any(key in schema for key in ("$ref", "allOf", "anyOf", "oneOf", "patternProperties"))
    if not isinstance(properties, dict) or not properties or is_mixed or schema.get("additionalProperties") is True:
        return following(schema=True, style="glm_xml")
    pairs: list[JSON] = [
        {
            "type": "sequence",
            "elements": [
                exactly(f"<arg_key>{key}</arg_key><arg_value>"),
                _glm_value(value if isinstance(value, dict) else {}),
                exactly("</arg_value>"),
            ],
        }
        for key, value in properties.items()
    ]
    return {"type": "star", "content": one_of(pairs)}


def _glm_value(schema: JSONObject) -> JSON:
    options = schema.get("enum")
    if isinstance(options, list):
        return one_of([exactly(item if isinstance(item, str) else json.dumps(item)) for item in options])
    declared = schema.get("type")
    if isinstance(declared, list):
        kinds: list[JSON] = [_glm_value({"type": kind}) for kind in declared if kind != "string"]
        return one_of([*kinds, *([free_text(_GLM_MARKERS)] if "string" in declared else [])])
    if declared in (None, "string"):
        return free_text(_GLM_MARKERS)
    return following({"type": declared})


def _harmony(plan: GrammarPlan) -> JSONObject:
    ends: JSON = ["<|end|>", ""]
    forms = (" to=functions.{name}{channel}{mark}<|message|>", "{channel} to=functions.{name}{mark}<|message|>")
    channels = ("<|channel|>commentary", "<|channel|>analysis", "<|channel|>final")
    marks = (" json", " <|constrain|>json")
    tags: list[JSON] = [
        between(form.format(name=tool.name, channel=channel, mark=mark), following(schema_of(tool)), ends)
        for tool in plan.tools
        for form in forms
        for mark in marks
        for channel in channels
    ]
    if plan.choice == "auto":
        tags += [between(f"<|channel|>final{mark}<|message|>", free_text(), ends) for mark in (*marks, "")]
    before: list[JSON] = [
        {
            "type": "optional",
            "content": {
                "type": "sequence",
                "elements": [
                    between(f"<|channel|>{channel}<|message|>", free_text(), "<|end|>"),
                    exactly("<|start|>assistant"),
                ],
            },
        }
        for channel in ("analysis", "commentary")
    ]
    return {"type": "sequence", "elements": [*before, {"type": "or", "elements": tags}]}


_BUILDERS: Mapping[str, TagBuilder] = {
    "hermes": _hermes_like("<tool_call>", "</tool_call>"),
    "longcat": _hermes_like("<longcat_tool_call>", "</longcat_tool_call>"),
    "glm_4_7": _glm,
    "harmony": _harmony,
    "kimi_k3": kimi_k3_tag,
    "minimax": minimax_tag,
    "plamo3": plamo3_tag,
}
