r"""OLMo 3: Python calls, one per line, in a section.

    <think>REASONING</think>CONTENT
    <function_calls>\nNAME(KEY="text", KEY=3)\nNAME()\n</function_calls><|im_end|>

Whitespace inside the section is framing. `true`, `false` and `null` are
written as in JSON.

Source: the chat template of Olmo-3-7B-Instruct, 2025-11; vLLM 0.32 `tool_parsers/olmo3_tool_parser.py`.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, FAIR, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.python_calls import PythonCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<function_calls>", "</function_calls>"

FORMAT: ModelFormat = TextFormat(
    name="olmo3",
    marks=(Mark(_OPEN, CERTAIN, r"<function_calls>\s*+\[?\s*+[A-Za-z_][\w.\-]*\s*\("), Mark(_OPEN, FAIR)),
    conventions=Conventions(
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({_OPEN, _CLOSE}),
        cut_structure=re.compile(r"<function_calls>\s*[\w.\-]{0,64}\Z"),
        before_call=1,
    ),
    scan=PythonCalls(openers=(_OPEN,), closers=(_CLOSE,)).scan,
    facts=FamilyFacts(tool_parsers=("olmo3",), reasoning_parsers=("olmo3",)),
)
