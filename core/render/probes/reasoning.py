"""Probes about reasoning: kept in the history or not, and the switches that turn it on."""

from __future__ import annotations

import json
from collections.abc import Iterable

from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.render.probes.messages import ANSWER, NEXT, PLAIN, plain
from prompt_debugger.core.render.probes.probe import (
    Attempt,
    Probe,
    ProbeResult,
    Probing,
    Support,
    ignored,
    refused,
    seen,
)
from prompt_debugger.core.render.probes.tools import TOOLS, calling, usable_arguments

_THOUGHT = "zqThought of it"
# `reasoning_effort` has its own probe.
_SWITCHES = tuple(switch for switch in TABLES.switches if switch.name != "reasoning_effort")
_KEEPERS: tuple[tuple[str, JSON], ...] = (
    ("preserve_thinking", True),
    ("preserved_thinking", True),
    ("clear_thinking", False),
    ("keep_reasoning", True),
    ("drop_thinking", False),
    ("strip_thinking", False),
)
_EFFORTS = ("low", "medium", "high")
_EFFORT_KWARGS = ("thinking_effort", "reasoning_strength")


def _running(field: str, probing: Probing) -> ProbeResult:
    """Ask about reasoning in the message of a call whose result has just come: the model still needs it."""
    messages = calling(usable_arguments(probing), **{field: _THOUGHT})
    attempt = probing.render(messages, tools=TOOLS)
    if attempt.error is not None:
        return refused(attempt, probing.render(calling(usable_arguments(probing)), tools=TOOLS))
    start = attempt.text.find(_THOUGHT)
    if start < 0:
        return ignored(attempt, f"messages[1].{field}", f"`{field}` next to a call that was just answered")
    return seen(Support.SUPPORTED, "Reasoning next to a call that was just answered is printed.", attempt, start)


def _ask_reasoning_content(probing: Probing) -> ProbeResult:
    return _running("reasoning_content", probing)


def _ask_reasoning(probing: Probing) -> ProbeResult:
    return _running("reasoning", probing)


def _past(answer: JSONObject) -> list[JSON]:
    return [*PLAIN, {"role": "assistant", "content": ANSWER, **answer}, {"role": "user", "content": NEXT}]


def _ask_past(probing: Probing) -> ProbeResult:
    attempt = probing.render(_past({"reasoning_content": _THOUGHT, "reasoning": _THOUGHT}))
    if attempt.error is not None:
        return refused(attempt, probing.render(_past({})))
    start = attempt.text.find(_THOUGHT)
    if start < 0:
        return ignored(attempt, "messages[1].reasoning_content", "Reasoning of an earlier turn")
    detail = "Reasoning of an earlier turn is printed again."
    return seen(Support.SUPPORTED, detail, attempt, start)


def _ask_in_content(probing: Probing) -> ProbeResult:
    content = f"<think>\n{_THOUGHT}\n</think>\n\n{ANSWER}"
    attempt = probing.render(_past({"content": content}))
    if attempt.error is not None:
        return refused(attempt, probing.render(_past({})))
    start, answer = attempt.text.find(_THOUGHT), attempt.text.find(ANSWER)
    if start < 0 and answer < 0:
        return ProbeResult(Support.CHANGED, "Both the reasoning and the answer after it are lost.")
    if start < 0:
        return seen(Support.CHANGED, "The `<think>` block of an earlier answer is removed.", attempt, answer)
    if content in attempt.text:
        return seen(Support.SUPPORTED, "Printed as sent.", attempt, start)
    return seen(Support.CHANGED, "Printed, but not as sent.", attempt, start)


def _ask_keeper(probing: Probing) -> ProbeResult:
    past = _past({"reasoning_content": _THOUGHT, "reasoning": _THOUGHT})
    plainly = probing.render(past)
    for name, value in _KEEPERS:
        attempt = probing.render(past, chat_template_kwargs={name: value})
        if attempt.error is None and _THOUGHT in attempt.text and _THOUGHT not in plainly.text:
            detail = f"`{name}` set to {json.dumps(value)} keeps the reasoning of earlier turns."
            return seen(Support.SUPPORTED, detail, attempt, attempt.text.find(_THOUGHT))
    if plainly.error is not None:
        return refused(plainly, probing.render(_past({})))
    if _THOUGHT in plainly.text:
        return ProbeResult(Support.IGNORED, "Not needed: the reasoning of earlier turns is printed anyway.")
    return ProbeResult(Support.IGNORED, f"None of {_listed(name for name, _ in _KEEPERS)} keeps it.")


def _ask_switch(probing: Probing) -> ProbeResult:
    for switch in _SWITCHES:
        name, on_value, off_value = switch.name, switch.on, switch.off
        on, off = (render_plain_with(probing, {name: value}) for value in (on_value, off_value))
        if on.error is None and off.error is None and on.text != off.text:
            at = first_divergence(on.text, off.text) or 0
            shown = on if len(on.text) >= len(off.text) else off
            value = json.dumps(on_value if shown is on else off_value)
            detail = (
                f"`{name}` controls it; the quoted prompt has {value}. The default is {_default(probing, on, off)}."
            )
            return seen(Support.SUPPORTED, detail, shown, at, len(shown.text))
    if plain(probing).error is not None:
        return ProbeResult(Support.UNKNOWN, "The plain request gives no prompt.")
    return ProbeResult(
        Support.IGNORED, f"None of {_listed(dict.fromkeys(switch.name for switch in _SWITCHES))} changes the prompt."
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _default(probing: Probing, on: Attempt, off: Attempt) -> str:
    text = plain(probing).text
    return "on" if text == on.text else "off" if text == off.text else "neither of the two"


def _ask_effort(probing: Probing) -> ProbeResult:
    first = [probing.render(PLAIN, reasoning_effort=effort) for effort in _EFFORTS]
    answer = _effort_answer("reasoning_effort", first)
    for name in _EFFORT_KWARGS:
        answer = answer or _effort_answer(name, [render_plain_with(probing, {name: effort}) for effort in _EFFORTS])
    if answer is not None:
        return answer
    if all(attempt.error is not None for attempt in first):
        return refused(first[0], plain(probing))
    return ProbeResult(Support.IGNORED, "`reasoning_effort` low, medium and high all give the same prompt.")


def _effort_answer(name: str, attempts: list[Attempt]) -> ProbeResult | None:
    """Return the answer if efforts give different prompts."""
    made = [(effort, attempt) for effort, attempt in zip(_EFFORTS, attempts, strict=True) if attempt.error is None]
    texts = {attempt.text for _, attempt in made}
    if len(texts) < 2:
        return None
    last = made[-1][1]
    other = next(attempt.text for _, attempt in made if attempt.text != last.text)
    reported = ", ".join(effort for effort, _ in made)
    detail = f"`{name}` gives {len(texts)} different prompts for {reported}; the last one is quoted."
    return seen(Support.SUPPORTED, detail, last, first_divergence(other, last.text) or 0)


def render_plain_with(probing: Probing, kwargs: JSONObject) -> Attempt:
    """Return the plain request with template kwargs."""
    return probing.render(PLAIN, chat_template_kwargs=kwargs)


REASONING_PROBES = (
    Probe("reasoning_content", "Reasoning as `reasoning_content`", _ask_reasoning_content),
    Probe("reasoning", "Reasoning as `reasoning`", _ask_reasoning),
    Probe("past-reasoning", "Reasoning of earlier turns", _ask_past),
    Probe("reasoning-in-content", "`<think>` in an earlier answer", _ask_in_content),
    Probe("keep-reasoning", "Switch that keeps it in earlier turns", _ask_keeper),
    Probe("thinking-switch", "Thinking switch", _ask_switch),
    Probe("reasoning-effort", "Reasoning effort", _ask_effort),
)
