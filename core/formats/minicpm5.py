r"""MiniCPM 5: functions with named parameters.

    <think>\nREASONING\n</think>\n\n
    CONTENT
    <function name="NAME"><param name="KEY">VALUE</param><param name="KEY"><![CDATA[VALUE]]></param></function>

Values are typed by the tool's schema.

Source: the chat template of MiniCPM5-1B, 2026; vLLM 0.32 `tool_parsers/minicpm5xml_tool_parser.py`.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls

FORMAT: ModelFormat = TextFormat(
    name="minicpm5",
    marks=(
        Mark("<function", pattern=r"<function[\sĠ]*name=[\"'][^\"']{1,256}[\"'][^>]{0,256}>\s*(?:<param|</function>)"),
        Mark("<function name=", STRONG),
    ),
    conventions=Conventions(
        cut_texts=frozenset({"<function name=", "</function>", "<param name=", "</param>"}),
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
    ),
    scan=TagCalls(
        opener=re.compile(r"<function[\sĠ]*name=[\"']?(?P<name>[^\"'>\n]{0,256})(?:[\"'](?:[^<>\n]{0,256}>|\s*\Z)|\Z)"),
        closer=re.compile(r"</function>"),
        parameter=re.compile(r"<param[\sĠ]*name=[\"'](?P<key>[^\"'\n]{0,256})[\"']\s*>(?:<!\[CDATA\[)?"),
        parameter_closer=re.compile(r"(?:\]\]>)?</param>"),
        guards_prose=True,
    ).scan,
    facts=FamilyFacts(
        tool_parsers=("minicpm5",),
        parser_names={"sglang": ParserNames(("minicpm5",)), "mlx-lm": ParserNames(("minicpm5",))},
        switches=(ENABLE_THINKING,),
        call_markers=("<function name=", "</function>", "<param name="),
    ),
)
