"""Structural tags as JSON, and the changes made to any of them.

XGrammar's own tags are built in the helper process, those that vLLM 0.32 does not take
from there in the files of their families.
"""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.base.structural_tag import GrammarPlan
from prompt_debugger.core.base.types import JSON, JSONObject

_LISTS_OF_CALLS = ("triggered_tags", "token_triggered_tags", "tags_with_separator")


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
