r"""Granite 4: Hermes calls after Granite's roles.

    CONTENT\n<tool_call>\n{"name": "NAME", "arguments": {ARGUMENTS}}\n</tool_call><|end_of_text|>

The output is Hermes; only the prompt tells the families apart.

Source: the chat template of Granite-4.0, 2025-10.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"

FORMAT: ModelFormat = TextFormat(
    name="granite4",
    marks=(Mark(_OPEN, STRONG, r"<tool_call>\s*\{"), Mark("<|end_of_text|>", FAIR / 2)),
    tails=("<|start_of_role|>",),
    conventions=Conventions(
        turns=(
            "<|start_of_role|>",
            "<|end_of_role|>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<|end_of_text|>"}),
        markers=frozenset({_OPEN, _CLOSE}),
        before_call=1,
    ),
    scan=JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), guards_prose=True).scan,
    facts=FamilyFacts(
        tool_parsers=("granite4", "hermes"),
        reasoning_parsers=("granite_thinking_parser",),
        switches=(ENABLE_THINKING,),
        has_json_arguments=True,
    ),
)
