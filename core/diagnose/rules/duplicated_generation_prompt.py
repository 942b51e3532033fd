"""The prompt opens the assistant's turn twice.

What it finds:
    The assistant header of the template at the end of the prompt twice or more,
    with nothing but reasoning markers between. Assistant turns without text
    account for a header each.

Why it matters:
    A client that renders the prompt itself and a server that adds the header once more give
    the model an empty assistant turn to follow; it tends to answer with nothing or with a
    header.

Bad:
    `…<|im_end|><|im_assistant|>assistant<|im_middle|><|im_assistant|>assistant<|im_middle|>`

Good:
    `…<|im_end|><|im_assistant|>assistant<|im_middle|>`

Source:
    tracker: NovaSky-AI/SkyRL#676, open-webui/open-webui#4762.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import content_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.tail import read_tail
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt


def find(trace: Trace) -> Iterator[Report]:
    """Report a prompt that ends with the header more than once."""
    tail = read_tail(trace)
    if tail is None or tail.repeats < 2:
        return
    # A past assistant turn without text leaves a header, too.
    empty = [m for m in trace.request.messages if m.get("role") == "assistant" and not (content_of(m) or "").strip()]
    if tail.repeats - len(empty) < 2:
        return
    yield Report(
        title=f"The prompt opens the assistant's turn {tail.repeats} times.",
        detail=f"`{tail.header}` appears {tail.repeats} times at the end of the prompt.",
        evidence=(in_prompt(tail.prompt, tail.end),),
        fix="Add the generation prompt in one place: the server's template does it already, so the client must not.",
    )


RULE: Rule = TraceRule(
    code="PD204",
    name="duplicated-generation-prompt",
    severity=Severity.ERROR,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("NovaSky-AI/SkyRL#676", "open-webui/open-webui#4762"),
)
