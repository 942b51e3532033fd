r"""A turn of the prompt has no end, although others have one.

What it finds:
    A prompt alone, without the messages that it was made of, in which a turn begins
    before the one above it has ended with the token that ends the others. A note where
    all turns of a prompt in ChatML have a line break before that token.

Why it matters:
    The model reads two turns as one. Templates written by hand, and examples that were
    joined as strings, lose an end token easily, and nothing says so.

Bad:
    `<|im_start|>user\nWhat now?<|im_start|>assistant\n`

Good:
    `<|im_start|>user\nWhat now?<|im_end|>\n<|im_start|>assistant\n`

Source:
    tracker: huggingface/course#840, oobabooga/textgen#5411.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Prompt, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt
from prompt_debugger.core.diagnose.words import counted
from prompt_debugger.core.formats import FORMATS

_ROLE = r"(?=\s?(?:system|developer|user|assistant|model|tool|ipython|environment)\b)"


def _ends_by_opener() -> Mapping[str, tuple[str, ...]]:
    """Return the tokens that end turns by the one that opens them, of families whose turns have both."""
    found: dict[str, set[str]] = {}
    for name, one in FORMATS.items():
        ends = {*one.conventions.ends} - {*one.conventions.turns}
        for opener in one.conventions.turns if name != "generic" and ends else ():
            found.setdefault(opener, set()).update(ends)
    return {opener: tuple(sorted(ends)) for opener, ends in found.items()}


_ENDS_BY_OPENER = _ends_by_opener()
_END = "<|im_end|>"  # of ChatML, whose templates write it right after a message
_HEADER = re.compile(r"<\|im_start\|>(\w{1,20})\n")
_MIN_ENDS = 2  # turns, and roles


def find(trace: Trace) -> Iterator[Report]:
    """Look at each turn but the last."""
    prompt = trace.prompt
    if prompt is None or trace.request.body.get("messages"):
        return
    text = prompt.text
    for opener, ends in _ENDS_BY_OPENER.items():
        places = [found.start() for found in re.finditer(re.escape(opener) + _ROLE, text)]
        open_at = [place for place in places[1:] if not text[:place].rstrip().endswith(ends)]
        if not open_at or len(open_at) >= len(places) - 1:
            continue
        at = open_at[0]
        end = next(end for place in places[1:] for end in ends if text[:place].rstrip().endswith(end))
        above = max(place for place in places if place < at)
        head = text[above + len(opener) : above + len(opener) + 40].split("\n")[0].split("<")[0].strip()
        of = f" of `{head}`" if head else ""
        yield Report(
            title=f"A turn{of} does not end: `{end}` is missing before the next `{opener}`.",
            detail=f"At character {at} of the prompt: {text[max(0, at - 40) : at]!r}. "
            f"{counted(len(places) - 1 - len(open_at), 'other turn')} ended with `{end}`.",
            evidence=(in_prompt(prompt, Span(above, at)),),
            fix=f"End that turn with `{end}` in the template, or in the text that the prompt is joined from.",
            certainty=Certainty.INFERRED,
        )
        return
    yield from _report_loose_ends(prompt)


def _report_loose_ends(prompt: Prompt) -> Iterator[Report]:
    """Report that turns of several roles all have a line break before the token that ends them, as ChatML has not."""
    text = prompt.text
    headers = [*_HEADER.finditer(text)]
    roles = {found[1] for found in headers}
    empty = {found.end() for found in headers}  # where an empty message ends
    ends = [at for found in re.finditer(re.escape(_END), text) if (at := found.start()) not in empty]
    if len(ends) < _MIN_ENDS or len(roles) < _MIN_ENDS or not all(text[at - 1 : at] == "\n" for at in ends):
        return
    yield Report(
        title=f"Every turn of the prompt has a line break before `{_END}`.",
        detail=f"All {len(ends)} messages have one, whatever the role: it comes from the template, or from the text "
        "that the prompt is joined from. ChatML writes this token directly after the text of a message, and models are "
        "trained without a line break there: answers may get worse, or end with one.",
        evidence=(in_prompt(prompt, Span(ends[0] - 1, ends[0] + len(_END))),),
        fix=f"Write `{_END}` directly after the text of each message. If the messages themselves end with a line "
        "break, trim them.",
        severity=Severity.NOTE,
        certainty=Certainty.INFERRED,
    )


RULE: Rule = TraceRule(
    code="PD234",
    name="turn-not-closed",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("huggingface/course#840", "oobabooga/textgen#5411"),
)
