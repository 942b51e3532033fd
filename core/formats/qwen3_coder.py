r"""Qwen3-Coder, Qwen3.5, and models that write the same (Step 3.5, Nemotron 3): tagged values.

    <think>\nREASONING\n</think>\n\n
    CONTENT\n
    <tool_call>\n
    <function=NAME>\n
    <parameter=KEY>\nVALUE\n</parameter>\n
    </function>\n
    </tool_call>\n
    <tool_call>…</tool_call><|im_end|>

One line break at either end of a value is framing, any further one is part of
it. Values are typed by the tool's schema. `<tool_call>` is often left out
(ollama/ollama#17742); the call is read all the same.

Source: the chat templates of Qwen3-Coder-480B-A35B-Instruct and Step-3.5-Flash, as of 2026.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import ENABLE_THINKING, Checkpoint, FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.sections import in_sections
from prompt_debugger.core.parse.tag_calls import TagCalls

FUNCTIONS = TagCalls(
    opener=re.compile(
        r"<function(?:\s{0,40}=\s{0,40}|\s{1,40})[\"']?(?P<name>[^>\n\"'<=]{0,256}+)[\"']?\s*(?:>|(?=\n)|\Z)"
    ),
    closer=re.compile(r"</function>"),
    parameter=re.compile(r"<parameter\s{0,40}=\s{0,40}[\"']?(?P<key>[^>\n\"'<]{1,256}+)[\"']?\s*(?:>|(?=\n))"),
    parameter_closer=re.compile(r"</parameter>"),
    wrapper=re.compile(r"</?tool_call>"),
    cut_wrapper=re.compile(r"<tool_call>"),
    wraps_each=True,
    guards_prose=True,
)
_CALLS = replace(FUNCTIONS, trims_breaks=1)

CALL_MARKERS = ("<tool_call>", "</tool_call>", "<function=", "</function>", "<parameter=", "</parameter>")

FORMAT: ModelFormat = TextFormat(
    name="qwen3_coder",
    marks=(
        Mark("<function", pattern=r"<function\s{0,40}=\s{0,40}[^<>\n]{1,256}+>?\s*+(?:<parameter|</function>)"),
        Mark("<function", pattern=r"<tool_call>\s*<function"),
        Mark("<function=", STRONG),
        Mark("<parameter=", STRONG),
    ),
    conventions=Conventions(
        cut_texts=frozenset({"<function=", "</function>", "<parameter=", "</parameter>"}),
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        turns=("<|im_start|>",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({"<tool_call>", "</tool_call>"}),
        before_call=2,
    ),
    scan=in_sections(_CALLS.scan, re.compile(r"<tool_call>"), re.compile(r"</tool_call>"), "`<tool_call>`"),
    facts=FamilyFacts(
        sample=(
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
            "</function>\n</tool_call><|im_end|>"
        ),
        model_names=("qwen3-coder", "qwen3.5", "qwen3.6", "qwen3.8"),
        tool_parsers=("qwen3_coder", "qwen3_xml", "step3p5", "seed_oss", "mimo"),
        reasoning_parsers=("qwen3", "step3p5", "nemotron_v3", "minicpmv"),
        parser_names={
            "sglang": ParserNames(("qwen3_coder", "step3p5"), ("qwen3", "step3p5")),
            "mlx-lm": ParserNames(("qwen3_coder",)),
            "lmdeploy": ParserNames(("qwen3coder", "interns2-preview"), ("default",)),
            "transformers": ParserNames(("qwen3_5",)),
        },
        checkpoints=(
            # Step 3.5 and 3.7: tool results have a turn of their own.
            Checkpoint(
                r"<\|im_start\|>tool_response\b",
                {
                    "vllm": ParserNames(("step3p5",), ("step3p5",)),
                    "sglang": ParserNames(("step3p5",), ("step3p5",)),
                },
            ),
            # Nemotron 3: the switch that drops earlier thoughts.
            Checkpoint(
                r"\btruncate_history_thinking\b",
                {
                    "vllm": ParserNames(("qwen3_coder",), ("nemotron_v3",)),
                    "sglang": ParserNames(("qwen3_coder",), ("nemotron_3",)),
                },
            ),
        ),
        parsers_ignoring_switch=("step3p5",),
        switches=(ENABLE_THINKING,),
        grammars=(Grammar("qwen_3_coder", "qwen3_coder"),),
        call_markers=CALL_MARKERS,
    ),
)
