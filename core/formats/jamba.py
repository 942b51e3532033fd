r"""Jamba: one section with a JSON list of calls.

    CONTENT<tool_calls>[\n    {"name": "NAME", "arguments": {ARGUMENTS}}\n]</tool_calls>

Whitespace inside the section is framing.

Source: the chat template of AI21-Jamba-1.5-Mini, 2024-08; vLLM 0.32 `tool_parsers/jamba_tool_parser.py`.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, FAIR, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

OPEN, CLOSE = "<tool_calls>", "</tool_calls>"

FORMAT: ModelFormat = TextFormat(
    name="jamba",
    marks=(Mark(OPEN, CERTAIN, r"<tool_calls>\s*\[\s*\{"), Mark(OPEN, FAIR), Mark(CLOSE, FAIR)),
    conventions=Conventions(
        ends=frozenset({"<|eom|>"}),
        turns=("<|bom|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({OPEN, CLOSE}),
        cut_structure=re.compile(r"<tool_calls>\s*\[\s*\Z"),
    ),
    scan=JSONCalls(openers=(OPEN,), closers=(CLOSE,), guards_prose=True, one_per_tag=False).scan,
    facts=FamilyFacts(tool_parsers=("jamba",), has_json_arguments=True, same_notation=("hunyuan", "apriel")),
)
