r"""LongCat Flash: Hermes calls in tags of their own.

    <longcat_think>REASONING</longcat_think>CONTENT
    <longcat_tool_call>\n{"name": "NAME", "arguments": {ARGUMENTS}}\n</longcat_tool_call></longcat_s>

The line breaks inside the tags, and one before them, are framing.

Source: the chat template of LongCat-Flash-Chat, 2025-09.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.base.structural_tag import json_calls_between
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, Grammar
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reading import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<longcat_tool_call>", "</longcat_tool_call>"

FORMAT: ModelFormat = TextFormat(
    name="longcat",
    marks=(Mark(_OPEN), Mark(_CLOSE), Mark("<longcat_think>"), Mark("</longcat_think>")),
    conventions=Conventions(
        reasoning=ReasoningTags(
            ("<longcat_think>", "<think>"),
            ("</longcat_think>", "</think>"),
            after_open=1,
            before_close=1,
            after_close=2,
        ),
        ends=frozenset({"</longcat_s>"}),
        markers=frozenset({_OPEN, _CLOSE}),
        before_call=1,
    ),
    scan=JSONCalls(openers=(_OPEN,), closers=(_CLOSE,)).scan,
    facts=FamilyFacts(
        tool_parsers=("longcat",),
        switches=(ENABLE_THINKING,),
        grammars=(Grammar("longcat", "longcat", build=json_calls_between(_OPEN, _CLOSE)),),
        has_json_arguments=True,
    ),
)
