"""A token that ends turns is repeated many times.

What it finds:
    Five or more of the same end or header token in a row, or two at the end of an answer
    that a limit cut, in content, in reasoning or in the raw output, with the families that
    write it. A warning if nothing else in the answer shows that it ran into a limit.

Why it matters:
    The token ends the turn for the model but not for the server: its id is not
    among the stop tokens, so the model writes it until the limit, and the text
    leaks into the answer.

Bad:
    content `<|tool_response><|tool_response>…`, finish_reason `length`

Good:
    The token's id in `eos_token_id` of `generation_config.json`.

Source:
    tracker: FlashML-org/FreeToken#201, vllm-project/vllm#4180.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of
from prompt_debugger.core.diagnose.leftovers import Leftover, ends_at_tail, repeated_token
from prompt_debugger.core.diagnose.own_settings import stop_at
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_message, in_raw, why_cut
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Look into the fields of the answer, else into the raw output."""
    if trace.chat is not None:
        content, reasoning = content_of(trace.chat.message) or "", reasoning_of(trace.chat.message)
        for field, text in (("content", content), *([reasoning] if reasoning is not None else [])):
            found = repeated_token(text) or (_written_to_the_limit(text) if why_cut(trace) is not None else None)
            if found is not None:
                yield _report(trace, found, in_message(field, text[slice(*found.span)], found.span), field)
                return
    if trace.raw is not None:
        found = repeated_token(trace.raw.text)
        if found is not None:
            yield _report(trace, found, in_raw(trace, found.span), "the raw output")


def _written_to_the_limit(text: str) -> Leftover | None:
    """Return the end token that occurs twice or more where a limit cut a text."""
    return next((run for run in ends_at_tail(text) if run.times > 1), None)


def _report(trace: Trace, found: Leftover, evidence: FindingEvidence, where: str) -> Report:
    of = f" of {listed(found.families)}" if found.families else ""
    reason = why_cut(trace)
    return Report(
        title=f"`{found.text}` appears {found.times} times in a row: the server does not stop at it.",
        detail=(
            f"It appears in {where} from character {found.span.start} on. It is a token{of} that ends or opens "
            "turns, so a server that knows it as a stop token shows it once at most."
        )
        + (f" Cut: {reason}." if reason else ""),
        evidence=(evidence,),
        fix=f"Add the id of `{found.text}` to `eos_token_id` in the model's `generation_config.json` (of a GGUF, to "
        f"its end-of-generation tokens), or {stop_at(trace, found.text)}. A higher limit only makes the run longer.",
        severity=None if reason is not None else Severity.WARNING,
    )


RULE: Rule = TraceRule(
    code="PD321",
    name="stop-token-repeated",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    reads_stripped=True,  # what is there was written, whatever else is missing
    threads=("FlashML-org/FreeToken#201", "vllm-project/vllm#4180"),
    explains=("PD301", "PD302", "PD307", "PD322", "PD406", "PD456"),
)
