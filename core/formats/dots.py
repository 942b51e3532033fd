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

from core.formats._family import Mark, TextFormat
from core.formats.minimax_m2 import CLOSER, OPENER, PARAMETER, PARAMETER_CLOSER
from core.parse.combine import scan_both
from core.parse.json_calls import JSONCalls
from core.parse.reading import Conventions
from core.parse.reasoning import ReasoningTags
from core.parse.tag_calls import TagCalls
from core.protocols import ModelFormat

_OPEN, _CLOSE = "<dots_function_call>", "</dots_function_call>"
_TAGS = TagCalls(
    opener=OPENER,
    closer=CLOSER,
    parameter=PARAMETER,
    parameter_closer=PARAMETER_CLOSER,
    wrapper=re.compile(r"</?dots_function_call>"),
    cut_wrapper=re.compile(r"<dots_function_call>"),
)
_JSON = JSONCalls(openers=(_OPEN,), closers=(_CLOSE,))

FORMAT: ModelFormat = TextFormat(
    name="dots",
    marks=(Mark(_OPEN), Mark(_CLOSE)),
    conventions=Conventions(
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({_OPEN, _CLOSE}),
        before_call=1,
    ),
    scan=scan_both(_TAGS.scan, _JSON.scan),
)
