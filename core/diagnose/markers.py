"""Texts that carry structure in some model family, and where prose only quotes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.types import Span

KIMI_MARKERS = (
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_section_begin|>",
    "<|tool_call_section_end|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_begin|>",
    "<|tool_call_end|>",
)
TOOL_MARKERS = (
    *KIMI_MARKERS,
    "<tool_call>",
    "</tool_call>",
    "<function=",
    "</function>",
    "<parameter=",
    "</parameter>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
    "｜DSML｜",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<|tool_call_start|>",
    "<steptml:",
)
TURN_MARKERS = (
    "<|im_end|>",
    "<|im_start|>",
    "<|im_user|>",
    "<|im_assistant|>",
    "<|im_system|>",
    "<|im_middle|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<|channel|>",
    "<|message|>",
    "<|constrain|>",
)

# `(?:…)` alternatives in order of length, so that the longest one wins.
_MARKER = re.compile("|".join(re.escape(m) for m in sorted((*TOOL_MARKERS, *TURN_MARKERS), key=len, reverse=True)))
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“"}


def find_markers(text: str) -> Iterator[Span]:
    """Yield where structural markers of any family stand in `text`, quoted or not."""
    for match in _MARKER.finditer(text):
        yield Span(*match.span())


def find_unquoted_markers(text: str) -> Iterator[Span]:
    """Yield markers that no code fence, code span or pair of quotation marks encloses.

    >>> [text[a:b] for text in ("Write `<tool_call>` first.", "<tool_call>{}") for a, b in find_unquoted_markers(text)]
    ['<tool_call>']
    """
    code = [Span(*match.span()) for match in _CODE.finditer(text)]
    for span in find_markers(text):
        if any(block.start <= span.start and span.stop <= block.stop for block in code):
            continue
        before, after = text[span.start - 1 : span.start], text[span.stop : span.stop + 1]
        if before and _QUOTES.get(before) == after:
            continue
        yield span
