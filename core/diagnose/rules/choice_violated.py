"""The answer is not one of the choices that the request gives.

What it finds:
    With `structured_outputs.choice`, an answer whose content differs from every choice. End
    tokens that a server left at its end do not count; they have a separate rule. Silent for
    an answer that was cut, or that calls a tool.

Why it matters:
    The caller compares the text with the choices and finds none. A constrained output
    cannot be different text: the constraint was not applied.

Bad:
    `"choice": ["yes", "no"]`, content `Yes, of course.`

Good:
    content `yes`

Source:
    tracker: jundot/omlx#1087; publisher: vLLM 0.32, `StructuredOutputsParams.choice`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import content_of, returned_calls
from prompt_debugger.core.diagnose.promised import promised_choices, promised_text
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_request, why_cut


def find(trace: Trace) -> Iterator[Report]:
    """Compare the content with the choices."""
    field, choices = promised_choices(trace)
    chat = trace.chat
    if not choices or chat is None or chat.error or returned_calls(trace) or why_cut(trace) is not None:
        return
    text = promised_text(trace)
    if text in choices:
        return
    content = content_of(chat.message) or ""
    near = next((choice for choice in choices if choice.casefold() == text.strip().casefold()), None)
    shown = ", ".join(repr(choice) for choice in choices[:8]) + (", …" if len(choices) > 8 else "")
    yield Report(
        title=f"The answer is not one of the choices that `{field.removesuffix('.choice')}` gives.",
        detail=f"Content is {content[:80]!r}; the choices are {shown}."
        + (f" It differs from {near!r} only in case or whitespace." if near is not None else ""),
        evidence=(in_message("content", content), in_request(field, shown)),
        fix=_fix(field),
    )


def _fix(field: str) -> str:
    if field.startswith("extra_body."):
        inner = field.removeprefix("extra_body.")
        return (
            f"Write `{inner}` at the top level of a JSON body: `extra_body` is an argument of the openai client, which "
            "merges it into the body, and servers ignore a field of that name. vLLM from 0.12 on reads "
            "`structured_outputs.choice` only."
        )
    read = (
        "`structured_outputs.choice`; vLLM dropped `guided_choice` in 0.12"
        if field == "guided_choice"
        else f"`{field}`"
    )
    return (
        f"Check that this server and its release read {read}: a server that does not know the field ignores it. With a "
        "reasoning model, start the server with its reasoning parser, so that the constraint waits for the answer."
    )


RULE: Rule = TraceRule(
    code="PD511",
    name="choice-violated",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    threads=("jundot/omlx#1087",),
)
