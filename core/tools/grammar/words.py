"""Plain words for what a grammar would have done; never more than `would have been steered`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.structural_tag import GrammarPlan
from prompt_debugger.core.tools.grammar.explain import Explanation
from prompt_debugger.core.tools.grammar.matcher import Walk
from prompt_debugger.core.tools.grammar.verdict import Cause, GrammarStatus, Intervention, SecondOpinion

_SHOWN_RULE = 160


def describe_cause(plan: GrammarPlan, found: Explanation, walk: Walk, came: str) -> str:
    """Return why the grammar would have stepped in, one or two sentences.

    Args:
        plan: What was enforced.
        found: The cause.
        walk: What was allowed there.
        came: The token, or the text, that came.
    """
    name = found.call.name if found.call is not None else ""
    match found.cause:
        case Cause.TEXT_OUTSIDE_CALL:
            return f"Only a tool call is allowed here, because the request requires one; {shorten(came)} is text."
        case Cause.OTHER_TOOL:
            return f"The request forces `{plan.tools[0].name}`; the output calls `{name}`."
        case Cause.CALL_COUNT:
            return "The request allows only one call; this would have been the next one."
        case Cause.TOOL_NAME:
            return _tool_name(plan, name)
        case Cause.SPELLING:
            return f"The format's grammar spells this place differently; {_allowed(walk)}."
        case Cause.END_TOO_EARLY:
            return f"The output ends where the grammar does not allow it; {_allowed(walk)}."
        case Cause.ARGUMENT_SCHEMA:
            return f"The arguments of `{name}` violate the declared schema here; no single rule explains it."
        case _:
            return _schema_cause(found, walk)


def describe_verdict(
    status: GrammarStatus, first: Intervention | None, opinion: SecondOpinion | None, *, has_call: bool
) -> str:
    """Return the verdict in a sentence or two."""
    if status is GrammarStatus.LEGAL:
        what = "this output, with its tool call," if has_call else "this output, which has no tool call in it,"
        return f"Constrained decoding would have accepted {what} unchanged."
    if status is GrammarStatus.INCOMPLETE:
        return "So far, constrained decoding would have accepted everything; the output ends before it is complete."
    if first is None:
        return ""
    place = f"character {first.char_offset}"
    if first.token_index is not None:
        place = f"token {first.token_index} ({shorten(first.token_text, 40)}), {place}"
    agrees = opinion is not None and opinion.is_json and not opinion.schema_errors and first.rule is not None
    other = " JSON Schema itself has no objection to these arguments." if agrees else ""
    return f"Constrained decoding would have steered this output elsewhere at {place}. {first.sentence}{other}"


def _tool_name(plan: GrammarPlan, name: str) -> str:
    names = [tool.name for tool in plan.tools]
    near = get_close_matches(name, names, 1)
    hint = f"; the nearest is `{near[0]}`" if near else ""
    return f"`{name}` is not among the tools that may be called: {_list(names)}{hint}."


def _schema_cause(found: Explanation, walk: Walk) -> str:
    rule = found.rule
    assert rule is not None, found.cause
    whole = f"`{rule.argument}`" if rule.argument else f"the arguments of `{rule.tool}`"
    if found.cause is Cause.MISSING_PROPERTY:
        return f"`{found.missing}` is required in {whole} at this place, but it is missing ({rule.path})."
    if found.cause is Cause.PROPERTY_ORDER:
        return (
            f"The keys of {whole} are not in the declared order. JSON allows that; XGrammar enforces the "
            f"declared order ({rule.path})."
        )
    if found.cause is Cause.UNKNOWN_PROPERTY:
        keys = rule.rule if isinstance(rule.rule, list) else []
        declared_keys = _list([str(key) for key in keys])
        return f"This key is not declared for {whole} ({rule.path}: {declared_keys}); {_allowed(walk)}."
    declared = json.dumps(rule.rule, ensure_ascii=False)
    shown = declared if len(declared) <= _SHOWN_RULE else declared[:_SHOWN_RULE] + "…"
    return f"{whole[:1].upper()}{whole[1:]} does not fit what {rule.path} declares: {shown}."


def _allowed(walk: Walk) -> str:
    if walk.is_free:
        return "almost anything but this was allowed"
    ways = [shorten(sample, 60) for sample in walk.samples[:3]]
    if walk.is_completed:
        ways.append("the end")
    return f"allowed was {' or '.join(ways)}" if ways else "nothing was allowed"


def _list(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
