r"""DeepSeek V3.1: a name and JSON arguments between special tokens.

    <think>REASONING</think>CONTENT<｜tool▁calls▁begin｜>
    <｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜>
    <｜tool▁call▁begin｜>…<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>

Drawn on several lines; written without line breaks. No whitespace is framing.

Source: the chat template and the tokenizer notes of DeepSeek-V3.1, 2025-08.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._deepseek_spelling import in_any_spelling
from prompt_debugger.core.formats._facts import ENABLE_THINKING, THINKING, FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.formats.deepseek_v3 import (
    CALL_CLOSE,
    CALL_OPEN,
    MARKERS,
    SECTION_CLOSE,
    SECTION_OPEN,
    SEPARATOR,
)
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import HeaderCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.sections import in_sections

FORMAT: ModelFormat = TextFormat(
    name="deepseek_v31",
    marks=(
        Mark("<|tool", STRONG, r"<\|tool[▁ ]call[▁ ]begin\|>(?!function<)[^<\n]{1,256}<\|tool[▁ ]sep\|>"),
        Mark(SEPARATOR, pattern=r"<｜tool▁call▁begin｜>(?!function<)[^<\n]{1,256}<｜tool▁sep｜>(?!\s*```)"),
        Mark(SECTION_OPEN, STRONG, r"<｜tool▁calls▁begin｜>(?:<｜tool▁call▁begin｜>(?!function))?"),
    ),
    conventions=Conventions(
        turns=(
            "<｜User｜>",
            "<｜Assistant｜>",
        ),
        reasoning=ReasoningTags(),
        ends=frozenset({"<｜end▁of▁sentence｜>"}),
        markers=MARKERS,
    ),
    scan=in_any_spelling(
        in_sections(
            HeaderCalls(
                opener=CALL_OPEN,
                separators=(SEPARATOR,),
                closers=(CALL_CLOSE,),
                wrappers=(SECTION_OPEN, SECTION_CLOSE),
            ).scan,
            re.compile(re.escape(SECTION_OPEN)),
            re.compile(re.escape(SECTION_CLOSE)),
            f"`{SECTION_OPEN}`",
        )
    ),
    facts=FamilyFacts(
        sample=(
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}'
            "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
        ),
        tool_parsers=("deepseek_v31",),
        reasoning_parsers=("deepseek_v3",),
        parser_names={
            "sglang": ParserNames(("deepseekv31",), ("deepseek-v3",)),
            "lmdeploy": ParserNames((), ("deepseek-v3",)),
        },
        switches=(THINKING, ENABLE_THINKING),
        grammars=(Grammar("deepseek_v3_1", "deepseek_v31"),),
        has_json_arguments=True,
        stripped=r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{0,127})\{\s*[\"}]",
    ),
)
