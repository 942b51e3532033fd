r"""Nemotron Nano v2 and Llama-Nemotron: a JSON list of calls in capitals.

    <think>\nREASONING\n</think>\n\n
    CONTENT<TOOLCALL>[{"name": "NAME", "arguments": {ARGUMENTS}}, …]</TOOLCALL><SPECIAL_12>

Nemotron 3 writes Qwen3-Coder's tags instead. Whitespace inside the section is framing.

Source: the chat template of NVIDIA-Nemotron-Nano-9B-v2, 2025-08.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, FAIR, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<TOOLCALL>", "</TOOLCALL>"

FORMAT: ModelFormat = TextFormat(
    name="nemotron",
    marks=(
        Mark(_OPEN, CERTAIN, r"<TOOLCALL>\s*[\[{]"),
        Mark(_OPEN, FAIR),
        Mark(_CLOSE, FAIR),
        Mark("<SPECIAL_11>", FAIR),
    ),
    conventions=Conventions(
        turns=(
            "<SPECIAL_10>",
            "<SPECIAL_11>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<SPECIAL_12>", "<SPECIAL_11>"}),
        markers=frozenset({_OPEN, _CLOSE}),
        before_call=1,
    ),
    scan=JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), one_per_tag=False, guards_prose=True).scan,
    facts=FamilyFacts(reasoning_parsers=("nemotron_v3",), switches=(ENABLE_THINKING,), has_json_arguments=True),
)
