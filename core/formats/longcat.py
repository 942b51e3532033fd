r"""LongCat Flash: Hermes calls in tags of their own, and keys and values in tags (Flash Lite).

    <longcat_think>REASONING</longcat_think>CONTENT
    <longcat_tool_call>\n{"name": "NAME", "arguments": {ARGUMENTS}}\n</longcat_tool_call></longcat_s>

    <longcat_tool_call>NAME\n
    <longcat_arg_key>KEY</longcat_arg_key>\n<longcat_arg_value>VALUE</longcat_arg_value>\n
    </longcat_tool_call>

The line breaks inside the tags, and one before them, are framing. Values in tags are typed by the tool's schema.

Source: the chat template of LongCat-Flash-Chat, 2025-09; outputs of LongCat-Flash-Lite in the tests of mlx-lm, 2026.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.base.structural_tag import json_calls_between
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.combine import scan_both
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls

_OPEN, _CLOSE = "<longcat_tool_call>", "</longcat_tool_call>"
_JSON = JSONCalls(openers=(_OPEN,), closers=(_CLOSE,))
_PAIRS = TagCalls(
    opener=re.compile(
        r"<longcat_tool_call>\s*+(?P<name>[A-Za-z_][\w.\-]{0,255}+)\s*+(?=<longcat_arg_key>|</longcat_tool_call>|\Z)"
    ),
    closer=re.compile(r"</longcat_tool_call>"),
    parameter=re.compile(
        r"<longcat_arg_key>\s*+(?P<key>[^<\n]{0,200}?)\s*+</longcat_arg_key>(?:\s|\\n)*+<longcat_arg_value>"
    ),
    partial=re.compile(r"</?(?:longcat_arg_key>[^<\n]{0,200}(?:</longcat_arg_key>\s*)?<?)?[^<>\n]{0,80}\Z"),
    parameter_closer=re.compile(r"</longcat_arg_value>"),
    exact_tags=True,
)

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
        cut_texts=frozenset({"<longcat_arg_key>", "</longcat_arg_key>", "<longcat_arg_value>", "</longcat_arg_value>"}),
        before_call=1,
    ),
    scan=scan_both(_PAIRS.scan, _JSON.scan),
    facts=FamilyFacts(
        parser_names={"mlx-lm": ParserNames(("longcat",))},
        tool_parsers=("longcat",),
        switches=(ENABLE_THINKING,),
        grammars=(Grammar("longcat", "longcat", build=json_calls_between(_OPEN, _CLOSE)),),
        has_json_arguments=True,
    ),
)
