r"""MiniMax M1: one section with a JSON object per line.

    <think>\nREASONING\n</think>\n\n
    CONTENT\n
    <tool_calls>\n
    {"name": "NAME", "arguments": {ARGUMENTS}}\n
    {"name": "NAME", "arguments": {ARGUMENTS}}\n
    </tool_calls>

Whitespace inside the section, and a line break before it, are framing.

Source: the function-calling guide of MiniMax-M1, 2025-06.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, FAIR, Mark, TextFormat
from prompt_debugger.core.formats.jamba import CLOSE, OPEN
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

FORMAT: ModelFormat = TextFormat(
    name="minimax_m1",
    marks=(Mark(OPEN, CERTAIN, r"<tool_calls>\s*\{"), Mark("<end_of_sentence>", FAIR)),
    conventions=Conventions(
        ends=frozenset({"<end_of_sentence>"}),
        turns=("<beginning_of_sentence>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({OPEN, CLOSE}),
        before_call=1,
    ),
    scan=JSONCalls(openers=(OPEN,), closers=(CLOSE,), guards_prose=True, one_per_tag=False).scan,
    facts=FamilyFacts(has_json_arguments=True),
)
