r"""Phi-4-mini: the word `functools`, then a JSON list of calls.

    CONTENT<|tool_call|>functools[{"name": "NAME", "arguments": {ARGUMENTS}}, …]<|/tool_call|><|end|>

Mostly without the two special tokens. No marker closes the list: its bracket does.

Source: the model card of Phi-4-mini-instruct, 2025-02; vLLM 0.32 `tool_parsers/phi4mini_tool_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_TAGS = ("<|tool_call|>", "<|/tool_call|>")

FORMAT: ModelFormat = TextFormat(
    name="phi4_mini",
    marks=(
        Mark("functools", CERTAIN, r"functools\s*\[\s*\{"),
        Mark("<|/tool_call|>", 0.97),
    ),
    conventions=Conventions(
        turns=(
            "<|system|>",
            "<|user|>",
            "<|assistant|>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<|end|>"}),
        markers=frozenset(_TAGS),
    ),
    scan=JSONCalls(
        openers=("functools", "<|tool_call|>functools", "<|tool_call|>"),
        guards_prose=True,
        one_per_tag=False,
        wrappers=_TAGS,
    ).scan,
    facts=FamilyFacts(
        markers_are_plain_words=True,
        tool_parsers=("phi4_mini_json",),
        call_markers=("functools[", *_TAGS),
        has_json_arguments=True,
    ),
)
