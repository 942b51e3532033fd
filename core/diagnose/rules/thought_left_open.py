r"""An earlier turn of the prompt opens reasoning, or a block of calls, and does not close it.

What it finds:
    In an assistant's turn before the last one, a tag that opens reasoning with
    which its text begins, and no closing tag before that turn ends; or a marker at the
    beginning of a line that opens calls, more often than the one that closes them.

Why it matters:
    The model sees its own past as unfinished reasoning: it continues thinking, or
    leaves its reasoning open as well, and the answer ends up in reasoning. Of calls it
    learns to leave the end out, which parsers wait for.

Bad:
    `<|im_start|>assistant\n<think>\nThey ask.<|im_end|>\n<|im_start|>user…`

Good:
    `<|im_start|>assistant\n<think>\nThey ask.\n</think>\n\n15 °C.<|im_end|>…`

Source:
    tracker: QwenLM/Qwen3.8#131, vllm-project/vllm#38488.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt, prompt_of
from prompt_debugger.core.formats import TABLES

_TURN_END = re.compile("|".join(map(re.escape, TABLES.turn_ends)))
_SPEAKER = re.compile(r"assistant|Assistant|model|ASSISTANT")
_TAGS = tuple(pair for pair in TABLES.reasoning_pairs if pair.opener.startswith(("<", "[", "◁")))
_HEADER_CHARS = 80
_CALLS = (
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<minimax:tool_call>", "</minimax:tool_call>"),
    ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
)
_MODEL = re.compile(
    r"<\|im_start\|>assistant\b|<[|｜]Assistant[|｜]>|<\|im_assistant\|>assistant<\|im_middle\|>|\]~b\]ai\b|<\|assistant\|>"
)
_OTHERS = re.compile(r"<\|im_start\|>|<[|｜]User[|｜]>|<\|(?:im_)?(?:user|system)\|>|<\|observation\|>|\]~b\]")


def find(trace: Trace) -> Iterator[Report]:
    """Walk the turns that are closed and report the first with an open thought."""
    prompt = prompt_of(trace)
    if prompt is None:
        return
    start = 0
    for end in _TURN_END.finditer(prompt.text):
        turn = prompt.text[start : end.start()]
        opened = _opened(turn) or _opened_calls(turn)
        if opened is not None:
            at = start + opened[0]
            yield Report(
                title=f"An earlier turn of the prompt opens `{opened[1]}` and ends without closing it.",
                detail=f"At character {at} of {len(prompt.text)}: {prompt.text[at : at + 60]!r}; the turn ends at "
                f"character {end.start()} with `{end.group()}`.",
                evidence=(in_prompt(prompt, Span(at, at + len(opened[1]))),),
                fix=(
                    "Close the block in the history before it is sent: an answer that was cut within it should not be "
                    "sent back unchanged. If the history is complete, the template leaves the closing marker out: take "
                    "the template from the model's own repository."
                ),
            )
            return
        start = end.end()


def _opened(turn: str) -> tuple[int, str] | None:
    """Return where an assistant's turn opens reasoning that it does not close."""
    for opener, closer in _TAGS:
        at = turn.find(opener)
        if at < 0 or closer in turn:
            continue
        header = turn[max(0, at - _HEADER_CHARS) : at]
        if _SPEAKER.search(header) and "\n\n" not in header.strip():
            return at, opener.strip()
    return None


def _opened_calls(turn: str) -> tuple[int, str] | None:
    """Return where an assistant's turn opens calls, as the last of those markers, that it does not close."""
    last = deque(_MODEL.finditer(turn), maxlen=1)
    if not last or _OTHERS.search(turn, last[0].end()) is not None:
        return None
    start = last[0].end()
    text = turn[start:]
    for opener, closer in _CALLS:
        if text.count(closer) < text.count(opener):
            at = text.rfind(opener)
            before = text[:at].rstrip(" \t")
            if not before or before.endswith(("\n", ">")):
                return start + at, opener
    return None


RULE: Rule = TraceRule(
    code="PD228",
    name="thought-left-open",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("QwenLM/Qwen3.8#131", "vllm-project/vllm#38488"),
)
