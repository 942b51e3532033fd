r"""dots: MiniMax's invocations in a wrapper of its own.

    CONTENT<dots_function_call>\n
    <invoke name="NAME">\n
    <parameter name="KEY">VALUE</parameter>\n
    </invoke>\n
    </dots_function_call>

Values are typed by the tool's schema. Some checkpoints write one JSON object in the wrapper instead.

Source: vLLM 0.32 `tool_parsers/dots_tool_parser.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.formats.minimax_m2 import INVOCATIONS
from prompt_debugger.core.parse.combine import scan_both
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<dots_function_call>", "</dots_function_call>"
_TAGS = replace(
    INVOCATIONS,
    wrapper=re.compile(r"</?dots_function_call>"),
    cut_wrapper=re.compile(r"<dots_function_call>"),
    guards_prose=False,
)
_JSON = JSONCalls(openers=(_OPEN,), closers=(_CLOSE,))

FORMAT: ModelFormat = TextFormat(
    name="dots",
    marks=(Mark(_OPEN), Mark(_CLOSE)),
    conventions=Conventions(
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({_OPEN, _CLOSE}),
        cut_texts=frozenset({'<invoke name="'}),
        before_call=1,
    ),
    scan=scan_both(_TAGS.scan, _JSON.scan),
    facts=FamilyFacts(
        tool_parsers=("dots",), parser_names={"sglang": ParserNames(("dots",))}, call_markers=(_OPEN, _CLOSE)
    ),
)
