r"""MiMo: Qwen3-Coder's tags without line breaks, values exact.

    <think>\nREASONING\n</think>\n
    CONTENT\n
    <tool_call>\n<function=NAME>\n<parameter=KEY>VALUE</parameter>\n</function>\n</tool_call><|im_end|>

Distinguished from Qwen3-Coder by values that begin right after their tag: there no line
break is framing. MiMo-VL and MiMo-7B write Hermes calls.

Source: vLLM 0.32 `parser/mimo.py`; the chat template of MiMo-VL, 2025-08.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.formats.qwen3_coder import CALL_MARKERS, FUNCTIONS
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags

FORMAT: ModelFormat = TextFormat(
    name="mimo",
    marks=(Mark("<parameter=", 0.9, r"<function=[^>\n]{1,256}>\s*<parameter=[^>\n]{1,256}>(?!\n)"),),
    conventions=Conventions(
        cut_texts=frozenset({"<function=", "</function>", "<parameter=", "</parameter>"}),
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({"<tool_call>", "</tool_call>"}),
        before_call=1,
    ),
    scan=FUNCTIONS.scan,
    facts=FamilyFacts(
        tool_parsers=("mimo", "qwen3_coder", "qwen3_xml"),
        reasoning_parsers=("mimo",),
        parser_names={"sglang": ParserNames(("mimo",), ("mimo",))},
        switches=(ENABLE_THINKING,),
        grammars=(Grammar("mimo", "mimo"),),
        call_markers=CALL_MARKERS,
    ),
)
