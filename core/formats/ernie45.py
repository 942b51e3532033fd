r"""ERNIE 4.5: Hermes calls after reasoning, visible text in a response block.

    REASONING\n</think>\n\n
    <tool_call>\n{"name": "NAME", "arguments": {ARGUMENTS}}\n</tool_call>\n
    <response>\nCONTENT\n</response>\n</s>

The line breaks drawn belong to the tags. The prompt opens the reasoning.

Source: vLLM 0.32 `tool_parsers/ernie45_tool_parser.py`, `reasoning/ernie45_reasoning_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_WRAPPERS = ("<response>", "</response>")

FORMAT: ModelFormat = TextFormat(
    name="ernie45",
    marks=(
        Mark("<response>", CERTAIN, r"(?:</think>\s*|\A\s*)<response>"),
        Mark("</response>", STRONG, r"</response>\s*\Z"),
    ),
    conventions=Conventions(
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"</s>"}),
        markers=frozenset({_OPEN, _CLOSE, *_WRAPPERS}),
        before_call=1,
    ),
    scan=JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), wrappers=_WRAPPERS, guards_prose=True).scan,
    facts=FamilyFacts(
        tool_parsers=("ernie45",),
        reasoning_parsers=("ernie45",),
        parsers_ignoring_switch=("ernie45",),
        switches=(ENABLE_THINKING,),
        call_markers=(_OPEN, _CLOSE),
        has_json_arguments=True,
    ),
)
