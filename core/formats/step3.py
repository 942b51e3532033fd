r"""Step 3: typed sections in special tokens around tagged values.

    <think>REASONING</think>CONTENT
    <｜tool_calls_begin｜>
    <｜tool_call_begin｜>function<｜tool_sep｜>
    <steptml:invoke name="NAME"><steptml:parameter name="KEY">VALUE</steptml:parameter></steptml:invoke>
    <｜tool_call_end｜><｜tool_calls_end｜>

Drawn on several lines; written without line breaks. Values are exact and
typed by the tool's schema. The body may also be in `<steptml:toolcall>`.

Source: vLLM 0.32 `tool_parsers/step3_tool_parser.py`; sgl-project/sglang#34925.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls

_TOKENS = (
    "<｜tool_calls_begin｜>",
    "<｜tool_calls_end｜>",
    "<｜tool_call_begin｜>",
    "<｜tool_call_end｜>",
    "<｜tool_sep｜>",
)

FORMAT: ModelFormat = TextFormat(
    name="step3",
    marks=(
        Mark("<steptml:invoke"),
        Mark("<steptml:toolcall"),
        Mark("<｜tool_calls_begin｜>", STRONG),
        Mark("<|EOT|>", FAIR),
    ),
    conventions=Conventions(
        cut_texts=frozenset(
            {
                "<steptml:invoke name=",
                "</steptml:invoke>",
                "<steptml:parameter name=",
                "</steptml:parameter>",
                "<｜tool_call_begin｜>function<｜tool_sep｜>",
            }
        ),
        ends=frozenset({"<|EOT|>"}),
        turns=("<|BOT|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset(_TOKENS),
    ),
    scan=TagCalls(
        exact_tags=True,
        opener=re.compile(r"<steptml:invoke\s+name=\"?(?P<name>[^\">\n]{0,256})\"?\s*(?:/?>|\Z)"),
        closer=re.compile(r"</steptml:invoke>"),
        parameter=re.compile(r"<steptml:parameter\s+name=\"?(?P<key>[^\">\n]{1,256})\"?\s*>"),
        parameter_closer=re.compile(r"</steptml:parameter>"),
        wrapper=re.compile(
            r"<｜tool_call_begin｜>(?:function)?(?:<｜tool_sep｜>)?|<｜tool_calls?_(?:begin|end)｜>|<｜tool_sep｜>|"
            r"</?steptml:toolcall>"
        ),
        cut_wrapper=re.compile(r"<｜tool_calls?_begin｜>(?:function)?(?:<｜tool_sep｜>)?"),
    ).scan,
    facts=FamilyFacts(
        tool_parsers=("step3",),
        reasoning_parsers=("step3",),
        parser_names={"sglang": ParserNames(("step3",), ("step3",))},
        parsers_ignoring_switch=("step3",),
        call_markers=(*_TOKENS, "<steptml:"),
    ),
)
