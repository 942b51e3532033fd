"""A second opinion on the arguments in which the grammar stepped in: JSON Schema's and LLGuidance's."""

from __future__ import annotations

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.structural_tag import GrammarPlan
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.tools.grammar.locate import WrittenCall
from prompt_debugger.core.tools.grammar.matcher import GrammarMatcher, GrammarRefusedError
from prompt_debugger.core.tools.grammar.output import Output
from prompt_debugger.core.tools.grammar.verdict import SecondOpinion


def second_opinion(
    matcher: GrammarMatcher, plan: GrammarPlan, output: Output, call: WrittenCall | None
) -> SecondOpinion | None:
    """Return what others say, `None` where there are no JSON arguments of a declared tool, or they say nothing."""
    tool = next((tool for tool in plan.tools if call is not None and tool.name == call.name), None)
    if call is None or tool is None or call.arguments_start is None or not isinstance(tool.parameters, dict):
        return None
    try:
        answer = matcher.opinions(tool.parameters, call.arguments)
    except (GrammarRefusedError, EngineError):
        return None
    errors, other = answer.get("schema_errors"), answer.get("llguidance")
    word = other if isinstance(other, dict) else {}
    accepted = word.get("accepted")
    offset = output.start_char + call.arguments_start + accepted if isinstance(accepted, int) else None
    return SecondOpinion(
        tool.name,
        tuple(str(error) for error in errors) if isinstance(errors, list) else (),
        answer.get("is_json") is True,
        str(word.get("word", "not asked")),
        offset,
        _note(word.get("note"), call.arguments),
    )


def _note(note: JSON, arguments: str) -> str:
    if isinstance(note, str):
        return note
    if "\\u" in arguments or "\\/" in arguments:
        return "LLGuidance accepts only the shortest escapes, so it may object to these."
    return ""
