r"""Seed-OSS: the tags of Qwen3-Coder under its own names.

    <seed:think>REASONING</seed:think>CONTENT
    <seed:tool_call>\n
    <function=NAME>\n
    <parameter=KEY>VALUE</parameter>\n
    </function>\n
    </seed:tool_call><seed:eos>

Line breaks at both ends of a value are framing, one at a single end is part of
it; the one before the call is framing. Values are typed by the tool's schema.

Source: the chat template of Seed-OSS-36B-Instruct, 2025-08; vLLM 0.32 `parser/seed_oss.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.formats.qwen3_coder import FUNCTIONS
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.sections import in_sections

FORMAT: ModelFormat = TextFormat(
    name="seed_oss",
    marks=(
        Mark("<seed:tool_call>", 0.97),
        Mark("</seed:tool_call>", 0.97),
        Mark("<seed:think>"),
        Mark("</seed:think>"),
    ),
    tails=("<seed:bos>",),
    conventions=Conventions(
        cut_texts=frozenset({"<function=", "</function>", "<parameter=", "</parameter>"}),
        turns=("<seed:bos>",),
        reasoning=ReasoningTags(("<seed:think>",), ("</seed:think>",), after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<seed:eos>"}),
        markers=frozenset({"<seed:tool_call>", "</seed:tool_call>"}),
        before_call=1,
    ),
    scan=in_sections(
        replace(
            FUNCTIONS,
            wrapper=re.compile(r"</?seed:tool_call>"),
            cut_wrapper=re.compile(r"<seed:tool_call>"),
            trims_breaks=1,
            trims_pairs=True,
            guards_prose=False,
        ).scan,
        re.compile(r"<seed:tool_call>"),
        re.compile(r"</seed:tool_call>"),
        "`<seed:tool_call>`",
    ),
    facts=FamilyFacts(
        sample=(
            "<seed:tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
            "</function>\n</seed:tool_call><seed:eos>"
        ),
        tool_parsers=("seed_oss",),
        reasoning_parsers=("seed_oss",),
        switches=(ENABLE_THINKING,),
    ),
)
