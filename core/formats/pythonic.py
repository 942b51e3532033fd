r"""Pythonic lists (ToolACE, Llama 3.2, Llama 4 without its tokens): a bare list of calls.

    [NAME(KEY="text", KEY=3), NAME()]<|eot_id|>

Believed on a line of its own, at the very end after a finished sentence, or at
the very start before a new sentence, naming tools of the request where those are
known (at the start they must be); never in a code fence or a sentence.
Values are Python literals; `true`, `false` and `null` are read, too.

Source: the model cards of ToolACE-8B and Llama-3.2-3B-Instruct, 2024-09; vLLM 0.32
`tool_parsers/pythonic_tool_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import STRONG, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.python_calls import PythonCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

FORMAT: ModelFormat = TextFormat(
    name="pythonic",
    conventions=Conventions(
        turns=(
            "<|start_header_id|>",
            "<|end_header_id|>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<|eom_id|>", "<|eot_id|>"}),
        before_call=1,
    ),
    scan=PythonCalls(reads_bare=True).scan,
    bare_score=STRONG,
    bare_hints=("[", "("),
    facts=FamilyFacts(
        sample="[get_weather(city='Paris')]",
        tool_parsers=("pythonic", "llama4_pythonic"),
        parser_names={"sglang": ParserNames(("pythonic",))},
    ),
)
