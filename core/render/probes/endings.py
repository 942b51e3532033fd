"""Probes about the end of the prompt: the generation prompt, and a last message left open."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render.probes.messages import PLAIN
from prompt_debugger.core.render.probes.probe import Probe, ProbeResult, Probing, Support, refused, seen

_OPEN = "zqRoses are red,"


def _ask_generation_prompt(probing: Probing) -> ProbeResult:
    opened = probing.render(PLAIN, add_generation_prompt=True)
    closed = probing.render(PLAIN, add_generation_prompt=False)
    if opened.error is not None:
        return refused(opened, closed)
    if closed.error is not None:
        return refused(closed, opened)
    if opened.text == closed.text:
        return seen(Support.IGNORED, "The prompt is the same with and without it.", opened, len(opened.text))
    if opened.text.startswith(closed.text):
        added = opened.text[len(closed.text) :]
        start = len(closed.text)
        return seen(Support.SUPPORTED, f"It adds {added!r} at the end.", opened, start, len(opened.text))
    return seen(Support.CHANGED, "It changes more than the end of the prompt.", opened, len(opened.text))


def _ask_continue(probing: Probing) -> ProbeResult:
    last: list[JSON] = [*PLAIN, {"role": "assistant", "content": _OPEN}]
    attempt = probing.render(last, continue_final_message=True, add_generation_prompt=False)
    if attempt.error is not None:
        return refused(attempt, probing.render(last, add_generation_prompt=False))
    if attempt.text.endswith(_OPEN):
        return seen(
            Support.SUPPORTED, "The prompt ends with the open message.", attempt, len(attempt.text) - len(_OPEN)
        )
    start = max(0, attempt.text.rfind(_OPEN))
    return seen(Support.CHANGED, "The prompt does not end where the message does.", attempt, start, len(attempt.text))


ENDING_PROBES = (
    Probe("generation-prompt", "Generation prompt", _ask_generation_prompt),
    Probe("continue-final-message", "Last message continued", _ask_continue),
)
