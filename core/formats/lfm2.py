r"""LFM2 and LFM2.5: a list of Python calls between special tokens.

    <think>REASONING</think>
    <|tool_call_start|>[NAME(KEY="text", KEY=3), NAME()]<|tool_call_end|>CONTENT<|im_end|>

Some checkpoints write a JSON list there. Text may come before and after it.

Source: the chat template of LFM2.5-8B-A1B, 2026.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.python_calls import PythonCalls
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<|tool_call_start|>", "<|tool_call_end|>"
_PYTHON = PythonCalls(openers=(_OPEN,), closers=(_CLOSE,))
_JSON = JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), one_per_tag=False)


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read Python calls, or the JSON that some checkpoints write in their place."""
    found = _PYTHON.scan(raw, region, context)
    return found if found.calls else _JSON.scan(raw, region, context)


FORMAT: ModelFormat = TextFormat(
    name="lfm2",
    marks=(Mark(_OPEN), Mark(_CLOSE)),
    conventions=Conventions(
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=1),
        markers=frozenset({_OPEN, _CLOSE}),
    ),
    scan=scan_calls,
    facts=FamilyFacts(
        sample="<|tool_call_start|>[get_weather(city='Paris')]<|tool_call_end|><|im_end|>",
        tool_parsers=("lfm2",),
        parser_names={"sglang": ParserNames(("lfm2",)), "mlx-lm": ParserNames(("pythonic",))},
        stripped=r"\[(?P<name>[A-Za-z_]\w*)\((?=\w+=|\))",
    ),
)
