r"""Kimi K2, K2-Thinking and K2.5: sections of calls in special tokens.

    <think>REASONING</think>CONTENT
    <|tool_calls_section_begin|>
    <|tool_call_begin|>functions.NAME:N<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>
    <|tool_call_begin|>…<|tool_call_end|>
    <|tool_calls_section_end|><|im_end|>

Drawn on several lines; written without line breaks. There is no framing white
space: content and reasoning are exact. The header is the call's id; the name
is what is left of it without the `functions.` before and the `:N` after.

Off-pattern headers seen in reports and read all the same: no prefix, no index,
`functions_NAME_3`, `functionsNAME5`, dotted and hyphenated names. A header
that is an id without a name (`call_ab12`, `3`) gives a malformed call.

Source: the chat template and the tool-calling guide published with
Kimi-K2-Instruct, 2025-07; reports in vllm-project/vllm#27565, #32146, #38579,
sgl-project/sglang#21377, #25362.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import ENABLE_THINKING, THINKING, FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.formats._kimi_header import OFF_ID, id_problem, read_header
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import HeaderCalls
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.sections import in_sections

_SECTION_OPENERS = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_SECTION_CLOSERS = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
_CALL_OPEN, _ARGUMENTS, _CALL_CLOSE = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"

_CALLS = HeaderCalls(
    opener=_CALL_OPEN,
    separators=(_ARGUMENTS,),
    closers=(_CALL_CLOSE,),
    wrappers=(*_SECTION_OPENERS, *_SECTION_CLOSERS),
    read_header=read_header,
    reads_headless=True,
)
_IN_SECTION = in_sections(
    _CALLS.scan,
    re.compile("|".join(map(re.escape, _SECTION_OPENERS))),
    re.compile("|".join(map(re.escape, _SECTION_CLOSERS))),
    f"`{_SECTION_OPENERS[0]}`",
)


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the calls, and say which have no section around them and which ids are of another form."""
    found = _IN_SECTION(raw, region, context)
    if all(call.id is None or id_problem(call.id) is None for call in found.calls):
        return found
    return replace(found, calls=tuple(_note_off_id(call) for call in found.calls))


def _note_off_id(call: ToolCallAttempt) -> ToolCallAttempt:
    is_odd = call.id is not None and id_problem(call.id) is not None
    if call.status is not CallStatus.COMPLETE or not is_odd:
        return call
    known = call.deviation or call.problem
    return replace(call, deviation="; ".join(filter(None, (known, OFF_ID))))


FORMAT: ModelFormat = TextFormat(
    name="kimi_k2",
    marks=(
        Mark("<|tool_calls_section_begin|>"),
        Mark("<|tool_call_section_begin|>"),
        Mark(_ARGUMENTS),
        Mark("<|tool_calls_section_end|>", STRONG),
        Mark(_CALL_OPEN, STRONG),
        Mark("<|im_assistant|>", STRONG),
    ),
    tails=("<|im_assistant|>",),
    conventions=Conventions(
        turns=(
            "<|im_system|>",
            "<|im_user|>",
            "<|im_assistant|>",
            "<|im_middle|>",
        ),
        reasoning=ReasoningTags(),
        ends=frozenset({"[EOS]", "<|im_end|>"}),
        markers=frozenset({*_SECTION_OPENERS, *_SECTION_CLOSERS, _CALL_OPEN, _ARGUMENTS, _CALL_CLOSE}),
    ),
    scan=scan_calls,
    facts=FamilyFacts(
        sample=(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
            '<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>'
            "<|tool_calls_section_end|><|im_end|>"
        ),
        tool_parsers=("kimi_k2",),
        reasoning_parsers=("kimi_k2",),
        parser_names={
            "sglang": ParserNames(("kimi_k2",), ("kimi_k2",)),
            "mlx-lm": ParserNames(("kimi_k2",)),
            "lmdeploy": ParserNames(("kimi_k2",), ("default",)),
        },
        switches=(THINKING, ENABLE_THINKING),
        grammars=(Grammar("kimi", "kimi_k2"),),
        has_json_arguments=True,
        id_problem=id_problem,
        stripped=r"\bfunctions\.(?P<name>[\w.\-]+):\d+\s*(?=\{)",
    ),
)
