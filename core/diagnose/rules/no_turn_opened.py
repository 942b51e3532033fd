r"""A pasted prompt ends with a closed turn: it never opens the assistant's.

What it finds:
    A prompt whose template is not known and that ends with a token that closes a turn, no
    matter whose turn it was; or, in a notation that closes no turn (`<|user|>`, `<｜User｜>`),
    within the user's. If the template is known, the header that it would write is searched
    for (PD203). Beside a request only where that says `add_generation_prompt: false` and does
    not end with the assistant's message. An error if the output continues with a marker that
    opens turns in the prompt, otherwise a warning.

Why it matters:
    The model continues as the next speaker: it writes a header, speaks as the
    user, or ends at once; calls become rare.

Bad:
    `…<|im_start|>user\nWeather?<|im_end|>\n`

Good:
    `…Weather?<|im_end|>\n<|im_start|>assistant\n`

Source:
    publisher: Kimi K2 report on the vLLM blog, 2025-10-28.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt
from prompt_debugger.core.formats import TABLES

_TURN_END = re.compile(rf"(?:{'|'.join(map(re.escape, TABLES.turn_ends))})\s*\Z")
_OPENERS = tuple(marker for marker in TABLES.turn_markers if marker not in TABLES.turn_ends)
_SYSTEM = re.compile(rf"\s{{0,8}}(?:<s>|<bos>)?(?:{'|'.join(map(re.escape, _OPENERS))})\s{{0,2}}system\b")
_LONGEST_TAIL = 200
# Openers of notations in which nothing closes a turn, and what would close one in a notation that shares them.
_USER = re.compile(r"(?:<\|user\|>|<｜User｜>)(?=[^<]{0,80}\w)")
_OF_MODEL = "<｜end▁of▁sentence｜>"  # which closes the model's turns alone
_CLOSES = re.compile("|".join(re.escape(end) for end in TABLES.turn_ends if end != _OF_MODEL))
_OF_TURN = re.compile(r"<\|\w{1,30}\|>|<｜[\w▁]{1,40}｜>|</?think>|\[/?INST\]")
_CUT = ("...", "…")
_NO_END = ("<|tool_response>",)  # after it, the model continues in the same turn
_FIX = (
    Step(
        "Render with `add_generation_prompt: true`, or use a template that opens the assistant's turn.",
        {"add_generation_prompt": True},
    ),
)


def find(trace: Trace) -> Iterator[Report]:
    """Look at the end of a prompt without a template."""
    prompt = trace.prompt
    if prompt is None or trace.generation_prompt is not None or not _may_lack_turn(trace):
        return
    found = _TURN_END.search(prompt.text, max(0, len(prompt.text) - _LONGEST_TAIL))
    if found is None and (inside := _open_user_turn(prompt.text)) is not None:
        yield Report(
            title=f"The prompt ends in the turn that `{inside.group()}` opens: it does not open the assistant's.",
            detail=f"It ends with {prompt.text[-60:]!r}. The model will continue the user's message, or end at once.",
            evidence=(in_prompt(prompt, Span(*inside.span())),),
            fix=_FIX,
            certainty=Certainty.INFERRED,
        )
    if found is None or found.group().strip() in _NO_END or _is_system_alone(prompt.text, found):
        return
    opener = _opened_by_model(trace, prompt.text)
    yield Report(
        title=f"The prompt ends with `{found.group().strip()}`: it does not open the assistant's turn.",
        detail=(
            f"It ends with {prompt.text[-60:]!r}. "
            + (
                f"The output contains `{opener}`, which opens a turn in the prompt: the model wrote the header itself."
                if opener
                else "The model will continue with the header of the next turn. For a finished conversation, such as "
                "training data, this is correct."
            )
        ),
        evidence=(in_prompt(prompt, Span(*found.span())),),
        fix=_FIX,
        severity=Severity.ERROR if opener else None,
        certainty=Certainty.INFERRED,
    )


def _may_lack_turn(trace: Trace) -> bool:
    """Return whether no request is there, or one with `add_generation_prompt: false` that awaits an answer."""
    messages = trace.request.messages
    return not messages or (
        trace.request.body.get("add_generation_prompt") is False and messages[-1].get("role") != "assistant"
    )


def _open_user_turn(prompt: str) -> re.Match[str] | None:
    """Return the marker of a user's turn in which a prompt ends, where nothing in it ever closes a turn."""
    last = deque(_OF_TURN.finditer(prompt), maxlen=1)
    opener = _USER.match(prompt, last[0].start()) if last else None
    if opener is None or _CLOSES.search(prompt) is not None or prompt.rstrip().endswith(_CUT):
        return None
    return opener


def _is_system_alone(prompt: str, end: re.Match[str]) -> bool:
    """Return whether a prompt is its system turn alone, as people copy it to show how tools are printed."""
    return prompt.count(end.group().strip()) == 1 and _SYSTEM.match(prompt) is not None


def _opened_by_model(trace: Trace, prompt: str) -> str | None:
    """Return the marker with which the prompt opens its turns, if the raw output contains it, too."""
    raw = "" if trace.raw is None else trace.raw.text
    return next((marker for marker in _OPENERS if marker in prompt and marker in raw), None)


RULE: Rule = TraceRule(
    code="PD227",
    name="no-turn-opened",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    stands_in_part=True,
    needs=TracePart.PROMPT,
    explains=("PD304", "PD406"),
)
