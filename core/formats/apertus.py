r"""Apertus: a list of objects whose one key is the tool name.

    <|inner_prefix|>REASONING<|inner_suffix|>CONTENT
    <|tools_prefix|>[{"NAME": {ARGUMENTS}}, {"NAME": {ARGUMENTS}}]<|tools_suffix|><|assistant_end|>

Drawn on two lines; written without line breaks. No whitespace is framing.

Source: the chat template of Apertus-8B-Instruct, 2025-09.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.call_object import CallKeys
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<|tools_prefix|>", "<|tools_suffix|>"

FORMAT: ModelFormat = TextFormat(
    name="apertus",
    marks=(Mark(_OPEN), Mark(_CLOSE), Mark("<|inner_prefix|>"), Mark("<|inner_suffix|>")),
    tails=("<|assistant_start|>",),
    conventions=Conventions(
        turns=(
            "<|system_start|>",
            "<|user_start|>",
            "<|assistant_start|>",
        ),
        reasoning=ReasoningTags(("<|inner_prefix|>", "<think>"), ("<|inner_suffix|>", "</think>")),
        ends=frozenset({"<|assistant_end|>"}),
        markers=frozenset({_OPEN, _CLOSE}),
    ),
    scan=JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), keys=CallKeys(name_is_key=True), one_per_tag=False).scan,
    facts=FamilyFacts(
        tool_parsers=("apertus",),
        parser_names={"sglang": ParserNames(("apertus2509",))},
        switches=(ENABLE_THINKING,),
        has_json_arguments=True,
        stripped=r"\[\s*\{\s*\"(?P<name>[\w.\-]+)\"\s*:\s*\{",
    ),
)
