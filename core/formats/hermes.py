r"""Hermes, Qwen2.5 and Qwen3: a JSON object in `<tool_call>` tags, one per call.

    <think>\n
    REASONING
    \n</think>\n\n
    CONTENT
    \n<tool_call>\n
    {"name": "NAME", "arguments": {ARGUMENTS}}
    \n</tool_call>\n
    <tool_call>\n…\n</tool_call><|im_end|>

Framing: the line breaks drawn as `\n` belong to the tags. One line break
before `<tool_call>` is framing, any further one is content.

Source: the chat templates published with Qwen2.5-7B-Instruct, Qwen3-8B and
Hermes-3-Llama-3.1-8B (tool use), as of 2025-09; vLLM 0.32
`tool_parsers/hermes_tool_parser.py` for what is read back.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.base.structural_tag import json_calls_between
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import CERTAIN, FAIR, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"

FORMAT: ModelFormat = TextFormat(
    name="hermes",
    marks=(
        Mark(_OPEN, CERTAIN, r"<tool_call>\s*\{"),
        Mark(_OPEN, FAIR),
        Mark(_CLOSE, 0.85, r"\}\s*</tool_call>"),
    ),
    conventions=Conventions(
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({_OPEN, _CLOSE}),
        before_call=1,
    ),
    scan=JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), guards_prose=True).scan,
    facts=FamilyFacts(
        sample='<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>',
        model_names=("qwen2.5", "/qwen3-", "/qwen3:", "hermes-3"),
        tool_parsers=("hermes", "qwen3_json", "granite4", "ernie45", "llama3_json", "llama4_json"),
        reasoning_parsers=("qwen3", "deepseek_r1", "holo2"),
        parser_names={
            "sglang": ParserNames(("hermes", "qwen25"), ("qwen3",)),
            "mlx-lm": ParserNames(("json_tools",)),
            "lmdeploy": ParserNames(("qwen3", "qwen2d5"), ("default",)),
            "transformers": ParserNames(("qwen2",)),
        },
        parsers_ignoring_switch=("deepseek_r1",),
        switches=(ENABLE_THINKING,),
        grammars=(
            Grammar("hermes", "hermes", build=json_calls_between(_OPEN, _CLOSE)),
            Grammar("hermes", "qwen3_json", build=json_calls_between(_OPEN, _CLOSE), name="qwen3", sign=r"(?!)"),
        ),
        has_json_arguments=True,
    ),
)
