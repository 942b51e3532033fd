r"""Apriel 1.5 and 1.6: reasoning up to a sentence in brackets, then content and calls.

    Here are my reasoning steps:\n
    REASONING\n
    [BEGIN FINAL RESPONSE]\n
    CONTENT\n[END FINAL RESPONSE]
    <tool_calls>[{"name": "NAME", "arguments": {ARGUMENTS}, "id": "ID"}]</tool_calls><|end|>

The first line is in the prompt. The line breaks drawn belong to the marks.

Source: the chat templates of Apriel-1.5-15b-Thinker and Apriel-1.6-15b-Thinker, as of 2026.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, Mark, TextFormat
from prompt_debugger.core.formats.jamba import CLOSE, OPEN
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_STEPS, _BEGIN, _END = "Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"

FORMAT: ModelFormat = TextFormat(
    name="apriel",
    marks=(Mark(_BEGIN, 0.97), Mark(_END, 0.97), Mark(_STEPS, CERTAIN, r"\A\s*Here are my reasoning steps:")),
    tails=(_STEPS,),
    conventions=Conventions(
        turns=(
            "<|system|>",
            "<|user|>",
            "<|assistant|>",
        ),
        reasoning=ReasoningTags((_STEPS, "<thinking>"), (_BEGIN, "</thinking>"), 1, 1, 1),
        ends=frozenset({"<|end|>", f"\n{_END}", _END}),
        markers=frozenset({OPEN, CLOSE}),
        cut_structure=re.compile(r"<tool_calls>\s*\[\s*\Z"),
        before_call=1,
    ),
    scan=JSONCalls(openers=(OPEN,), closers=(CLOSE,), guards_prose=True, one_per_tag=False).scan,
    facts=FamilyFacts(has_json_arguments=True),
)
