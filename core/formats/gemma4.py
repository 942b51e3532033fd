r"""Gemma 4: calls in its own notation, reasoning in a channel.

    <|channel>thought\nREASONING\n<channel|>CONTENT
    <|tool_call>call:NAME{KEY:<|"|>TEXT<|"|>,KEY:42,KEY:{KEY:true},KEY:[1,2]}<tool_call|><turn|>

Drawn on two lines. The line breaks drawn belong to the channel; everything
else is exact. Some checkpoints open the answer with a channel, too:
`<|channel>content\n`, `response` or `final`. Bare words are typed by the tool's schema.

Source: the chat template of gemma-4-31B-it, 2026.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.brace_calls import BraceCalls
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE, _QUOTE = "<|tool_call>", "<tool_call|>", '<|"|>'

FORMAT: ModelFormat = TextFormat(
    name="gemma4",
    marks=(Mark(_OPEN), Mark(_CLOSE), Mark("<|channel>"), Mark("<channel|>"), Mark(_QUOTE), Mark("<turn|>", STRONG)),
    tails=("<|turn>model",),
    conventions=Conventions(
        turns=("<|turn>",),
        reasoning=ReasoningTags(
            ("<|channel>thought\n", "<|channel>thought", "<|channel>"),
            ("<channel|>",),
            before_close=1,
            label="thought\n",
            answers=tuple(f"<|channel>{word}\n" for word in ("content", "response", "final")),
        ),
        ends=frozenset({"<turn|>", "<|tool_response>", "<channel|>"}),
        markers=frozenset({_OPEN, _CLOSE, _QUOTE}),
        cut_texts=frozenset({f"{_OPEN}call:"}),
    ),
    scan=BraceCalls(opener=_OPEN, closer=_CLOSE, quote=_QUOTE).scan,
    facts=FamilyFacts(
        sample='<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}<tool_call|><turn|>',
        model_names=("gemma-4", "gemma4"),
        markers_are_plain_words=True,
        message_ends=("<channel|>",),
        tool_parsers=("gemma4",),
        reasoning_parsers=("gemma4",),
        parser_names={
            "sglang": ParserNames(("gemma4",), ("gemma4",)),
            "mlx-lm": ParserNames(("gemma4",)),
            "transformers": ParserNames(("gemma4",)),
        },
        switches=(ENABLE_THINKING,),
        stripped=r"\bcall:(?P<name>[\w.\-]+)\{",
    ),
)
