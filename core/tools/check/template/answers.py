"""What a template does to the answers of the history: printed, lost, refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.text import capitalized, first_of
from prompt_debugger.core.base.types import Finding, Severity
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.tools.check.ideal import PROMPT_TAIL_CHARS, Ideal
from prompt_debugger.core.tools.check.template.finding import found, shown
from prompt_debugger.core.tools.check.template.places import first_mention, line_mark

_WORDS = {"calls": "tool calls", "content": "the text", "reasoning": "the reasoning"}
_FIELDS = {
    "calls": ("tool_calls", "function_call"),
    "content": ("content",),
    "reasoning": ("reasoning_content", "reasoning", "thinking"),
}


def answer_findings(ideals: Sequence[Ideal], template: str) -> Iterator[Finding]:
    """Report what is lost or refused, each loss once, with the simplest answer that shows it."""
    yield from _refused(ideals)
    yield from _lost(ideals, template)
    yield from _not_closed(ideals, template)


def _refused(ideals: Sequence[Ideal]) -> Iterator[Finding]:
    by_reason: dict[str, list[Ideal]] = {}
    for ideal in ideals:
        if ideal.refusal is not None:
            by_reason.setdefault(ideal.refusal.message, []).append(ideal)
    for reason, refused in by_reason.items():
        line = refused[0].refusal.template_line if refused[0].refusal is not None else None
        yield found(
            "answer-refused",
            Severity.ERROR,
            f"The template fails for {_named(refused)} in the history.",
            f"{capitalized(reason)}{line_mark(line)}.",
            fix="Requests with this turn in their history are answered with an error: correct the template there.",
        )


def _lost(ideals: Sequence[Ideal], template: str) -> Iterator[Finding]:
    by_loss: dict[str, list[Ideal]] = {}
    for ideal in ideals:
        for part in ideal.lost:
            by_loss.setdefault(part, []).append(ideal)
    for part, losing in by_loss.items():
        if part == "reasoning" and not _knows_reasoning(ideals):
            continue  # a model that does not reason has no place for it
        kept = [one for one in ideals if _has(one, part) and part not in one.lost and one.refusal is None]
        severity = Severity.ERROR if part == "calls" else Severity.NOTE if part == "reasoning" else Severity.WARNING
        yield found(
            "answer-not-printed",
            severity,
            f"Of an answer in the history, {_WORDS[part]} {'are' if part == 'calls' else 'is'} not printed: "
            f"{_named(losing)}.",
            "The model never sees that it said this."
            + (f" Printed: {_named(kept)}." if kept else "")
            + f" {first_mention(template, *_FIELDS[part])}",
            quote=losing[0].raw,
            fix="Let the template print it, or expect the model to repeat itself.",
        )


def _knows_reasoning(ideals: Sequence[Ideal]) -> bool:
    """Return whether a template prints reasoning somewhere, or opens it in the generation prompt."""
    return any(
        (one.answer.reasoning is not None and one.refusal is None and "reasoning" not in one.lost)
        or any(tag in one.prompt[-PROMPT_TAIL_CHARS:] for pair in TABLES.prompt_pairs for tag in pair)
        for one in ideals
    )


def _has(ideal: Ideal, part: str) -> bool:
    answer = ideal.answer
    return {"calls": bool(answer.calls), "content": answer.content is not None}.get(part, answer.reasoning is not None)


def _not_closed(ideals: Sequence[Ideal], template: str) -> Iterator[Finding]:
    printed = [one for one in ideals if one.refusal is None]
    own = [one for one in printed if one.has_own_closer]
    if own:
        yield found(
            "reasoning-not-closed",
            Severity.NOTE,
            f"The generation prompt opens reasoning, but the history omits the opening: {_named(own)}.",
            f"The prompt ends with {shown(own[0].prompt[-40:])}; what the model writes to end its reasoning "
            "is not in the history, so this check added the closing tag to the ideal output. "
            f"{first_mention(template, 'add_generation_prompt')}",
        )


def _named(ideals: Sequence[Ideal]) -> str:
    return first_of([f"`{one.answer.name}`" for one in ideals], 3)
