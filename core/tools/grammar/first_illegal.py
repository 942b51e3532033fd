"""Would constrained decoding have let an output through, and if not, where would it have stepped in?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.structural_tag import GrammarPlan
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.parse.tools import tool_names
from prompt_debugger.core.tools.grammar.enforcement import Enforcement, describe_plan, enforcement_named, plan_grammar
from prompt_debugger.core.tools.grammar.engine import GrammarEngine
from prompt_debugger.core.tools.grammar.explain import Explanation, Stop, explain_stop
from prompt_debugger.core.tools.grammar.families import GrammarFamily, find_family
from prompt_debugger.core.tools.grammar.locate import WrittenCall, has_call
from prompt_debugger.core.tools.grammar.marker_ids import read_by_tokens
from prompt_debugger.core.tools.grammar.matcher import GrammarMatcher, GrammarRefusedError, Walk
from prompt_debugger.core.tools.grammar.output import JudgedOutput, Output, prepare_output
from prompt_debugger.core.tools.grammar.verdict import GrammarStatus, GrammarVerdict, Intervention, SecondOpinion
from prompt_debugger.core.tools.grammar.words import describe_cause, describe_verdict

_THEN = {
    GrammarStatus.LEGAL: "Everything that follows would have been accepted.",
    GrammarStatus.INCOMPLETE: "Everything that follows would have been accepted, up to where the output is cut.",
}


def first_illegal_token(
    judged: JudgedOutput,
    tools: Sequence[JSONObject],
    family: str,
    level: str | Enforcement = "auto",
    *,
    engine: GrammarEngine,
) -> GrammarVerdict:
    """Check an output against the grammar that vLLM would enforce.

    Args:
        judged: The output, and how it came about.
        tools: Tool specs of the request.
        family: Name of the format, as in `FAMILIES`.
        level: A level of enforcement or its name, as in `LEVELS`, or `forced:TOOL`.
        engine: XGrammar.

    Returns:
        The verdict; a malformed output is judged, too, not refused.

    Raises:
        EngineError: XGrammar is not installed, the level is unknown, or compiling a grammar hit a limit.
    """
    enforcement = enforcement_named(level) if isinstance(level, str) else level
    known = find_family(family, judged.raw)
    blank = GrammarVerdict(
        GrammarStatus.OFF,
        "",
        known.name if known else family,
        known.grammar.structural_tag if known else None,
        enforcement.name,
        "tokens" if judged.has_ids else "text",
    )
    if known is None:
        return replace(blank, sentence=f"vLLM 0.32 has no known structural tag for `{family}`.")
    plan = plan_grammar(known, tools, enforcement)
    if plan is None:
        return replace(blank, sentence=_why_off(known, enforcement, tools))
    output = prepare_output(judged, known)
    blank = replace(blank, constrains=describe_plan(plan))
    if output is None:
        return replace(blank, sentence="The reasoning never ends; a grammar applies only after it.")
    if judged.has_ids and output.text != judged.raw:
        blank = replace(blank, notes=("The text of the ids differs from the raw text; the ids are used.",))
    case = _Case(GrammarMatcher(engine, known), known, plan, output, tuple(sorted(tool_names(tools))), engine)
    try:
        verdict = _judge(case, replace(blank, starts_at=output.start_char))
    except GrammarRefusedError as refusal:
        return replace(blank, status=GrammarStatus.REFUSED, sentence=_refusal(case, str(refusal)))
    if judged.tokenizer is None or not output.tokens:
        return verdict
    return replace(verdict, token_reading=read_by_tokens(case.matcher, plan, output, judged.tokenizer, verdict))


@dataclass(frozen=True, slots=True)
class _Case:
    """What stays the same while one output is judged."""

    matcher: GrammarMatcher
    family: GrammarFamily
    plan: GrammarPlan
    output: Output
    declared: tuple[str, ...]
    engine: GrammarEngine


def _judge(case: _Case, blank: GrammarVerdict) -> GrammarVerdict:
    """Walk, explain the stop, relax or repair, and walk on, until the output passes or neither is possible."""
    forms = case.matcher.call_forms(case.plan)
    interventions: list[Intervention] = []
    repairs: list[Repair] = []
    plan, data, opinion, then = case.plan, case.output.data, None, ""
    while True:
        walk = case.matcher.walk(plan, data, explore=True)
        status = _status(case.output, data, walk)
        if status is not GrammarStatus.STEERED:
            then = _THEN[status]
            break
        if len(interventions) >= case.engine.limits.interventions or case.matcher.limits_reached:
            then = "There is more, which was not checked."
            break
        stop = Stop(data, walk.accepted, case.declared, forms)
        found = explain_stop(case.matcher, plan, stop)
        if not interventions:
            opinion = second_opinion(case.matcher, case.plan, case.output, found.call)
        repair = None
        if found.relaxed is None and not stop.is_at_end:
            repair = find_repair(case.matcher, plan, data, walk.accepted, walk)
        place = original_place(walk.accepted, repairs)
        interventions.append(_intervention(case, plan, found, walk, place, repair))
        if found.relaxed is None and repair is None:
            then = "The output ends there." if stop.is_at_end else "No relaxation of the grammar accepts what follows."
            break
        if repair is not None:
            data = repair.apply(data)
            repairs.append(repair)
        plan = found.relaxed or plan
    first = interventions[0] if interventions else None
    status = GrammarStatus.STEERED if first else status
    seen = has_call(case.output.data.decode("utf-8", "replace"), forms)
    return replace(
        blank,
        status=status,
        sentence=describe_verdict(status, first, opinion, has_call=seen),
        has_call=seen,
        interventions=tuple(interventions),
        then=then if first else "",
        second_opinion=opinion,
    )


def _status(output: Output, data: bytes, walk: Walk) -> GrammarStatus:
    if walk.accepted < len(data):
        return GrammarStatus.STEERED
    if walk.is_completed:
        return GrammarStatus.LEGAL
    return GrammarStatus.STEERED if output.is_ended else GrammarStatus.INCOMPLETE


def _intervention(
    case: _Case, plan: GrammarPlan, found: Explanation, walk: Walk, place: int, repair: Repair | None
) -> Intervention:
    output = case.output
    at = output.token_of(place) if place < len(output.data) else output.end_token
    start, shown = at.start_byte, at.text
    accepted = output.data[max(start, 0) : place].decode("utf-8", "ignore")
    return Intervention(
        char_offset=output.char_of(place) if place < len(output.data) else output.end_char,
        token_index=at.number,
        token_id=at.id,
        token_text=shown,
        accepted=accepted,
        allowed=tuple(accepted + sample for sample in walk.samples),
        anything_but=walk.is_free,
        may_end=walk.is_completed,
        cause=found.cause,
        sentence=describe_cause(plan, found, walk, shown),
        rule=found.rule,
        forgiven_by=repair.describe() if repair else found.relaxation,
    )


def _why_off(family: GrammarFamily, enforcement: Enforcement, tools: Sequence[JSONObject]) -> str:
    if not tools:
        return "Nothing is enforced: the request has no tools."
    if not enforcement.enabled:
        return "Nothing is enforced: strict tool calling is switched off."
    if enforcement.choice == "none":
        return "Nothing is enforced: the request allows no calls."
    if enforcement.choice == "auto" and not family.grammar.constrains_auto:
        return f"Nothing is enforced: vLLM's `{family.grammar.parser}` applies a grammar only if a call is required."
    if enforcement.choice == "forced":
        return f"Nothing can be enforced: the request forces `{enforcement.forced_tool}`, which it does not declare."
    return (
        "Nothing is enforced: with `tool_choice: auto` vLLM applies a grammar only if a tool has `strict: "
        "true`, the server runs with `--tool-strict-level`, or `parallel_tool_calls` is false."
    )


def _refusal(case: _Case, message: str) -> str:
    """Name the tools whose schema the compiler refuses, by trying each alone."""
    bad = []
    for tool in case.plan.tools:
        alone = replace(case.plan, tools=(tool,))
        try:
            case.matcher.walk(alone, b"")
        except GrammarRefusedError as refusal:
            bad.append(f"`tools[{tool.index}]` ({tool.name}): {refusal}")
    problem = "; ".join(bad) or message
    return f"XGrammar refuses the grammar, so a server would answer 400 instead of generating. {problem}."


def second_opinion(
    matcher: GrammarMatcher, plan: GrammarPlan, output: Output, call: WrittenCall | None
) -> SecondOpinion | None:
    """Return what other validators say about a declared tool's arguments; `None` without arguments or opinions."""
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


_SKIPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_LOOK_AHEAD = 3


class Repair(NamedTuple):
    """A change at one place: bytes left out, bytes put in."""

    at: int
    removed: bytes
    inserted: bytes

    def apply(self, data: bytes) -> bytes:
        """Return `data` with the change made."""
        return data[: self.at] + self.inserted + data[self.at + len(self.removed) :]

    def describe(self) -> str:
        """Return the change in words."""
        parts = [("leaving out", self.removed), ("putting in", self.inserted)]
        return " and ".join(f"{verb} {data.decode('utf-8', 'replace')!r}" for verb, data in parts if data)


def find_repair(matcher: GrammarMatcher, plan: GrammarPlan, data: bytes, at: int, walk: Walk) -> Repair | None:
    """Return the change after which most of `data` passes, `None` if none gets beyond the next few bytes."""
    best: tuple[int, Repair] | None = None
    for repair in _candidates(data, at, walk):
        if matcher.limits_reached:
            break
        changed = repair.apply(data)
        gained = matcher.walk(plan, changed).accepted - at - len(repair.inserted)
        left = len(data) - at - len(repair.removed)
        worth = gained - 2 * len(repair.removed) - len(repair.inserted)
        if gained > min(_LOOK_AHEAD, left - 1) and (best is None or worth > best[0]):
            best = worth, repair
    return None if best is None else best[1]


def original_place(place: int, repairs: list[Repair]) -> int:
    """Return where a byte of repaired data was before the repairs, all of which come before it."""
    for repair in reversed(repairs):
        after = repair.at + len(repair.inserted)
        place = place - len(repair.inserted) + len(repair.removed) if place >= after else repair.at
    return place


def _candidates(data: bytes, at: int, walk: Walk) -> Iterator[Repair]:
    for size in _SKIPS:
        if at + size < len(data) and _is_edge(data, at + size):
            yield Repair(at, data[at : at + size], b"")
    ahead = data[at : at + _LOOK_AHEAD]
    seen = set()
    for sample in walk.samples:
        wanted = sample.encode()
        found = wanted.find(ahead) if ahead else -1
        for inserted in (wanted[: max(found, 0)], wanted):
            if inserted and inserted not in seen:
                seen.add(inserted)
                yield Repair(at, b"", inserted)


def _is_edge(data: bytes, at: int) -> bool:
    """Return whether a character begins at a byte."""
    return data[at] & 0xC0 != 0x80
