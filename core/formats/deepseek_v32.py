r"""DeepSeek V3.2 and V4: DSML, tags with typed parameters.

    <think>REASONING</think>CONTENT\n\n
    <｜DSML｜function_calls>\n                       V4: tool_calls
    <｜DSML｜invoke name="NAME">\n
    <｜DSML｜parameter name="KEY" string="true">TEXT</｜DSML｜parameter>\n
    <｜DSML｜parameter name="KEY" string="false">JSON</｜DSML｜parameter>\n
    </｜DSML｜invoke>\n
    </｜DSML｜function_calls><｜end▁of▁sentence｜>

The two line breaks before the section are framing. `string` tells text from
JSON. Models vary the bars (`|`, `‖`, doubled, with spaces) and the section's name; all are read.

Source: the chat templates of DeepSeek-V3.2 and DeepSeek-V4, as of 2026;
reports of variants in lsdefine/GenericAgent#804, sgl-project/sglang#40236.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import (
    ENABLE_THINKING,
    THINKING,
    Checkpoint,
    FamilyFacts,
    Grammar,
    ParserNames,
    ThinkingSwitch,
)
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reading import CallScanner, Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.sections import in_sections
from prompt_debugger.core.parse.tag_calls import TagCalls

_BARS = r"[｜|‖]{1,2}"
_DSML = rf"{_BARS}\s?DSML\s?{_BARS}\s?"
_SECTION = r"(?:function_?calls?|tool_?calls?|calls|tool)"

_EXACT = re.compile(r"<｜DSML｜\s?invoke")
_SAID = "the bars of its tags are not `｜` (U+FF5C), once on either side"


def _noting_bars(scan: CallScanner) -> CallScanner:
    """Return a scanner that says so where the bars of a complete call are others."""

    def scan_noting(text: str, region: Span, context: ReadContext) -> Scan:
        found = scan(text, region, context)
        return replace(found, calls=tuple(_noted(call, text) for call in found.calls))

    return scan_noting


def _noted(call: ToolCallAttempt, text: str) -> ToolCallAttempt:
    if call.status is not CallStatus.COMPLETE or _EXACT.match(text, call.char_span.start):
        return call
    return replace(call, deviation="; ".join(filter(None, (call.deviation or call.problem, _SAID))))


_PARAMETER = re.compile(
    rf"<{_DSML}parameter name=\"(?P<key>[^\"\n]{{0,256}})\"(?:\s+string=\"(?P<string>true|false)\")?\s*>"
)


FORMAT: ModelFormat = TextFormat(
    name="deepseek_v32",
    marks=(Mark("DSML", pattern=rf"</?{_DSML}"),),
    conventions=Conventions(
        cut_texts=frozenset(
            {
                "<｜DSML｜function_calls>",
                "<｜DSML｜tool_calls>",
                "<｜DSML｜invoke name=",
                "<｜DSML｜parameter name=",
                "</｜DSML｜parameter>",
                "</｜DSML｜invoke>",
                "</｜DSML｜function_calls>",
                "</｜DSML｜tool_calls>",
            }
        ),
        turns=(
            "<｜User｜>",
            "<｜Assistant｜>",
        ),
        reasoning=ReasoningTags(),
        ends=frozenset({"<｜end▁of▁sentence｜>"}),
        before_call=2,
    ),
    scan=_noting_bars(
        in_sections(
            TagCalls(
                exact_tags=True,
                opener=re.compile(rf"<{_DSML}invoke name=\"?(?P<name>[^\">\n]{{0,256}})\"?\s*(?:/?>|\Z)"),
                closer=re.compile(rf"</{_DSML}invoke>"),
                parameter=_PARAMETER,
                parameter_closer=re.compile(rf"</{_DSML}parameter>"),
                wrapper=re.compile(rf"</?{_DSML}{_SECTION}>"),
                cut_wrapper=re.compile(rf"<{_DSML}{_SECTION}>"),
                guards_prose=True,
            ).scan,
            re.compile(rf"<{_DSML}{_SECTION}>"),
            re.compile(rf"</{_DSML}{_SECTION}>"),
            "`<｜DSML｜function_calls>` (V4: `<｜DSML｜tool_calls>`)",
        )
    ),
    facts=FamilyFacts(
        tool_parsers=("deepseek_v32", "deepseek_v4", "deepseek_v41"),
        reasoning_parsers=("deepseek_v3", "deepseek_v4", "deepseek_v41"),
        parser_names={
            "sglang": ParserNames(("deepseekv32", "deepseekv4"), ("deepseek-v3", "deepseek-v4")),
            "lmdeploy": ParserNames(("deepseek-v32", "deepseek-v4"), ("deepseek-v32", "deepseek-v4")),
        },
        checkpoints=(
            Checkpoint(
                r"<｜DSML｜tool_calls>",
                {
                    "vllm": ParserNames(("deepseek_v4",), ("deepseek_v4",)),
                    "sglang": ParserNames(("deepseekv4",), ("deepseek-v4",)),
                    "lmdeploy": ParserNames(("deepseek-v4",), ("deepseek-v4",)),
                },
            ),
            Checkpoint(
                r"<｜DSML｜ calls>",
                {
                    "vllm": ParserNames(("deepseek_v41",), ("deepseek_v41",)),
                    "sglang": ParserNames(("deepseekv41",), ("deepseek-v41",)),
                },
            ),
        ),
        switches=(THINKING, ENABLE_THINKING, ThinkingSwitch("thinking_mode", on="thinking", off="chat")),
        grammars=(
            Grammar("deepseek_v3_2", "deepseek_v32"),
            Grammar("deepseek_v4", "deepseek_v4", name="deepseek_v4", sign=r"<｜DSML｜tool_calls>"),
            Grammar("deepseek_v4_1", "deepseek_v41", name="deepseek_v41", sign=r"<｜DSML｜ calls>"),
        ),
        call_markers=("｜DSML｜",),
        stripped=r"<\s?invoke name=\"(?P<name>[\w.\-]+)\">\s*<\s?parameter name=\"[^\"\n]*\" string=",
    ),
)
