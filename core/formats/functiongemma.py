r"""FunctionGemma: Gemma 4's notation with escape tags.

    CONTENT<start_function_call>call:NAME{KEY:<escape>TEXT<escape>,KEY:42}<end_function_call><end_of_turn>

No whitespace is framing. Bare words are typed by the tool's schema.

Source: the model card of functiongemma-270m-it, 2025-12; vLLM 0.32 `tool_parsers/functiongemma_tool_parser.py`.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import FAIR, Mark, TextFormat
from prompt_debugger.core.parse.brace_calls import BraceCalls
from prompt_debugger.core.parse.conventions import Conventions

_OPEN, _CLOSE, _QUOTE = "<start_function_call>", "<end_function_call>", "<escape>"

FORMAT: ModelFormat = TextFormat(
    name="functiongemma",
    marks=(Mark(_OPEN), Mark(_CLOSE), Mark("<start_function_response>", FAIR)),
    tails=("<start_of_turn>model",),
    conventions=Conventions(
        turns=("<start_of_turn>",),
        ends=frozenset({"<end_of_turn>", "<start_function_response>"}),
        markers=frozenset({_OPEN, _CLOSE, _QUOTE}),
        cut_texts=frozenset({f"{_OPEN}call:"}),
    ),
    scan=BraceCalls(opener=_OPEN, closer=_CLOSE, quote=_QUOTE).scan,
    facts=FamilyFacts(
        parser_names={"mlx-lm": ParserNames(("function_gemma",))},
        markers_are_plain_words=True,
        tool_parsers=("functiongemma",),
        call_markers=(_OPEN, _CLOSE),
        stripped=r"\bcall:(?P<name>[\w.\-]+)\{",
    ),
)
