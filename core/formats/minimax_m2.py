r"""MiniMax M2: invocations with named parameters.

    <think>\nREASONING\n</think>\n\n
    CONTENT\n
    <minimax:tool_call>\n
    <invoke name="NAME">\n
    <parameter name="KEY">VALUE</parameter>\n
    </invoke>\n
    <invoke name="NAME">…</invoke>\n
    </minimax:tool_call>[e~[

Text is written plainly, anything else as JSON; the tool's schema decides. The
line break before the section is framing; values are exact.

Source: the chat template of MiniMax-M2, 2025-10.
"""

from __future__ import annotations

import re

from core.formats._family import FAIR, STRONG, Mark, TextFormat
from core.parse.reading import Conventions
from core.parse.reasoning import ReasoningTags
from core.parse.tag_calls import TagCalls
from core.protocols import ModelFormat

INVOCATIONS = TagCalls(
    opener=re.compile(r"<invoke\s+name\s*=\s*[\"']?(?P<name>[^\"'>\n]*)(?:[\"']?\s*>|\Z)"),
    closer=re.compile(r"</invoke>"),
    parameter=re.compile(r"<parameter\s+name\s*=\s*[\"']?(?P<key>[^\"'>\n]+)[\"']?[^>\n]*>"),
    parameter_closer=re.compile(r"</parameter>"),
    wrapper=re.compile(r"</?minimax:tool_call>"),
    cut_wrapper=re.compile(r"<minimax:tool_call>"),
    guards_prose=True,
)

FORMAT: ModelFormat = TextFormat(
    name="minimax_m2",
    marks=(
        Mark("<minimax:tool_call>"),
        Mark("</minimax:tool_call>", STRONG),
        Mark("<invoke", FAIR, r"(?m)^\s*<invoke\s+name\s*=[^>\n]*>\s*(?:<parameter\s+name|</invoke>)"),
    ),
    tails=("]~b]ai",),
    conventions=Conventions(
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"[e~["}),
        markers=frozenset({"<minimax:tool_call>", "</minimax:tool_call>"}),
        before_call=1,
    ),
    scan=INVOCATIONS.scan,
)
