r"""Hunyuan A13B: an answer block, and a section with a JSON list of calls.

    <think>\nREASONING\n</think>\n
    <answer>\nCONTENT\n</answer>
    <tool_calls>[{"name": "NAME", "arguments": {ARGUMENTS}}]</tool_calls>

The line breaks drawn belong to the tags.

Source: the chat template of Hunyuan-A13B-Instruct, 2025-06; vLLM 0.32
`tool_parsers/hunyuan_a13b_tool_parser.py`, `reasoning/hunyuan_a13b_reasoning_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, STRONG, Mark, TextFormat
from prompt_debugger.core.formats.jamba import CLOSE, OPEN
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_SURE = 0.97  # more than a list of calls alone, which Jamba writes, too
_ANSWER_OPEN, _ANSWER_CLOSE = "<answer>", "</answer>"

FORMAT: ModelFormat = TextFormat(
    name="hunyuan",
    marks=(
        Mark(_ANSWER_OPEN, CERTAIN, r"(?:</think>\s*|\A\s*)<answer>"),
        Mark(_ANSWER_CLOSE, _SURE, r"</answer>\s*<tool_calls>\s*\[|</tool_calls>\s*</answer>"),
        Mark(_ANSWER_CLOSE, STRONG, r"</answer>\s*(?:<\||\Z|<tool_calls>)"),
    ),
    conventions=Conventions(
        turns=("<|extra_0|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=1),
        ends=frozenset({"<|eos|>"}),
        markers=frozenset({OPEN, CLOSE, _ANSWER_OPEN, _ANSWER_CLOSE}),
        before_call=1,
    ),
    scan=JSONCalls(openers=(OPEN,), closers=(CLOSE,), one_per_tag=False, wrappers=(_ANSWER_OPEN, _ANSWER_CLOSE)).scan,
    facts=FamilyFacts(
        tool_parsers=("hunyuan_a13b",),
        reasoning_parsers=("hunyuan_a13b",),
        switches=(ENABLE_THINKING,),
        call_markers=(OPEN, CLOSE),
        has_json_arguments=True,
    ),
)
