r"""Llama 4: a list of Python calls between special tokens.

    CONTENT<|python_start|>[NAME(KEY="text", KEY=3), NAME()]<|python_end|><|eom|>

Without the tokens it is a bare list, read by the same rules as `pythonic`. No
whitespace is framing but that around the list.

Source: the prompt-format guide of Llama 4, 2025-04; vLLM 0.32 `tool_parsers/llama4_pythonic_tool_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.python_calls import PythonCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<|python_start|>", "<|python_end|>"

FORMAT: ModelFormat = TextFormat(
    name="llama4_pythonic",
    marks=(Mark(_OPEN), Mark(_CLOSE)),
    conventions=Conventions(
        turns=(
            "<|header_start|>",
            "<|header_end|>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<|eom|>", "<|eot|>"}),
        markers=frozenset({_OPEN, _CLOSE}),
    ),
    scan=PythonCalls(openers=(_OPEN,), closers=(_CLOSE,), reads_bare=True).scan,
    facts=FamilyFacts(tool_parsers=("llama4_pythonic",), parser_names={"sglang": ParserNames(("pythonic",))}),
)
