"""Plain words for what a grammar would have done; never more than `would have been steered`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.structural_tag import GrammarPlan
from prompt_debugger.core.base.text import capitalized, first_of
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.refusals.removed_fields import SUCCESSORS
from prompt_debugger.core.diagnose.thinking import thinking_switch
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.tools.grammar.explain import Explanation
from prompt_debugger.core.tools.grammar.matcher import Walk
from prompt_debugger.core.tools.grammar.verdict import (
    Cause,
    Forbidden,
    GrammarStatus,
    InForce,
    InForceReason,
    InForceStatus,
    Intervention,
    SecondOpinion,
)

_SHOWN_RULE = 160


def describe_cause(plan: GrammarPlan, found: Explanation, walk: Walk, came: str) -> str:
    """Return why the grammar would have stepped in, one or two sentences."""
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
        subject = "this output, with its tool call," if has_call else "this output, which has no tool call in it,"
        return f"Constrained decoding would have accepted {subject} unchanged."
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


_WHY = {
    InForceReason.NO_PLACE: "The requested API has no such field, so the server never saw it.",
    InForceReason.NOT_READ: "The server's own render of this request puts no grammar on the answer.",
    InForceReason.REASONING_NOT_ENDED: (
        "The server has a reasoning parser and lets a grammar begin where reasoning ends. In this output it never ends."
    ),
    InForceReason.NOT_APPLIED: "The output violates it, so the server did not constrain the model to it.",
    InForceReason.NO_OUTPUT: "There is no answer to judge.",
    InForceReason.OTHER_RUN: "The raw output of this answer is not known.",
    InForceReason.NOT_KNOWN: "How the server writes this grammar is not known.",
    InForceReason.REFUSED: "XGrammar does not accept it, so it cannot be compared with the output.",
    InForceReason.OBEYED_ANYWAY: (
        "The output follows it, but nothing shows whether the server enforced it or the model did so on its own."
    ),
}


def describe_in_force(found: InForce) -> str:
    """Return whether a grammar was in force, and why not, in plain words."""
    subject = f"The grammar of {_list(found.fields)}"
    if found.status is InForceStatus.IN_FORCE:
        place = "" if found.from_token is None else f" from token {found.from_token} on"
        held = (
            " It also applied while the model was reasoning."
            if found.reason is InForceReason.NO_REASONING_PARSER
            else ""
        )
        return f"{subject} was in force{place}, and the output follows it.{held}"
    why = _WHY[found.reason] if found.reason is not None else ""
    if found.status is InForceStatus.UNKNOWN:
        return f"It is unknown whether the grammar of {_list(found.fields)} was in force. {why}".strip()
    return " ".join(part for part in (f"{subject} was never in force.", why, _would_have(found.forbidden)) if part)


def _would_have(forbidden: Forbidden | None) -> str:
    if forbidden is None:
        return "The output follows it nonetheless."
    place = f"character {forbidden.char}" if forbidden.token is None else f"token {forbidden.token}"
    subject = f"{place} ({shorten(forbidden.text, 40)})" if forbidden.text else f"the end at {place}"
    ways = " or ".join(shorten(way, 60) for way in forbidden.allowed)
    return f"It would have forbidden {subject}" + (f"; allowed was {ways}." if ways else ".")


def fix_in_force(trace: Trace, found: InForce) -> str:
    """Return what to do where a grammar was not in force, or held up reasoning; "" if there is nothing."""
    removed = next((field for field in found.fields if field in SUCCESSORS), None)
    match found.reason:
        case InForceReason.NO_PLACE:
            return "Send the request with `--api chat`, which has the field."
        case InForceReason.NOT_READ if removed is not None:
            return f"Use {SUCCESSORS[removed]} instead: vLLM removed `{removed}` in 0.12."
        case InForceReason.NOT_READ if trace.api != "chat":
            return "Send the request with `--api chat`: this endpoint of the server does not read the field."
        case InForceReason.NOT_READ:
            return (
                "Check the server's tool parser, which may have no grammar for calls, and that "
                "`VLLM_ENFORCE_STRICT_TOOL_CALLING` is not 0."
            )
        case InForceReason.REASONING_NOT_ENDED:
            return _end_reasoning(trace)
        case InForceReason.NOT_APPLIED:
            return "Check that this server and its release support this constraint: some drop it silently."
        case InForceReason.NO_REASONING_PARSER:
            return "Start the server with a reasoning parser, so that the grammar waits for the end of reasoning."
        case _:
            return ""


def _end_reasoning(trace: Trace) -> str:
    """Return how to set a parser that waits for the end of reasoning where there is none."""
    switch = thinking_switch(trace)
    parser = trace.reasoning_parser
    if parser in TABLES.parsers_ignoring_switch:
        return f"Start the server without `--reasoning-parser {parser}`, which no request can switch off."
    return (
        f'Send `"chat_template_kwargs": {{{switch.written}}}` if the model should not reason, or start the server with '
        "the reasoning parser of this model."
    )


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
    return f"{capitalized(whole)} does not fit what {rule.path} declares: {shown}."


def _allowed(walk: Walk) -> str:
    if walk.is_free:
        return "almost anything but this was allowed"
    ways = [shorten(sample, 60) for sample in walk.samples[:3]]
    if walk.is_completed:
        ways.append("the end")
    return f"allowed was {' or '.join(ways)}" if ways else "nothing was allowed"


def _list(names: Sequence[str], most: int = 6) -> str:
    return first_of([f"`{name}`" for name in names], most)
