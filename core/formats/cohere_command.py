r"""Cohere Command R7B, A and later: blocks in special tokens.

    <|START_THINKING|>REASONING<|END_THINKING|>
    <|START_RESPONSE|>CONTENT<|END_RESPONSE|>                       also <|START_TEXT|>
    <|START_ACTION|>[\n
        {"tool_call_id": "0", "tool_name": "NAME", "parameters": {ARGUMENTS}},\n …\n
    ]<|END_ACTION|><|END_OF_TURN_TOKEN|>

    Action:\n```json\n[{"tool_name": "NAME", "parameters": {ARGUMENTS}}]\n```      Command R and R+

    <co>CITED WORDS</co: 0:[1,2]>                        in CONTENT; servers show or strip the marks

Drawn on several lines. Whitespace inside the action block is framing, other
text is exact.

Source: the chat templates of c4ai-command-r7b-12-2024 and its successors, as of 2026.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames, ThinkingSwitch
from prompt_debugger.core.formats._family import CERTAIN, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.call_object import CallKeys
from prompt_debugger.core.parse.combine import scan_both
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "<|START_ACTION|>", "<|END_ACTION|>"
_WRAPPERS = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>")
_KEYS = CallKeys(name=("tool_name", "name"), arguments=("parameters", "arguments"), id=("tool_call_id", "id"))
_ACTIONS = ("Action:\n```json\n", "Action: ```json\n", "Action:```json\n")

FORMAT: ModelFormat = TextFormat(
    name="cohere_command",
    marks=(
        Mark(_OPEN),
        Mark("<|START_THINKING|>"),
        Mark("<|END_THINKING|>"),
        *(Mark(wrapper, CERTAIN) for wrapper in _WRAPPERS),
        Mark("Action:", CERTAIN, r"(?m)^Action:\s*```json\n\s*\[\s*\{\s*\"tool_name\""),
        Mark("<|END_OF_TURN_TOKEN|>", STRONG),
        Mark("<|CHATBOT_TOKEN|>", STRONG),
    ),
    tails=("<|CHATBOT_TOKEN|>",),
    conventions=Conventions(
        turns=(
            "<|START_OF_TURN_TOKEN|>",
            "<|USER_TOKEN|>",
            "<|SYSTEM_TOKEN|>",
            "<|CHATBOT_TOKEN|>",
        ),
        reasoning=ReasoningTags(("<|START_THINKING|>",), ("<|END_THINKING|>",)),
        ends=frozenset({"<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>"}),
        markers=frozenset({_OPEN, _CLOSE, *_WRAPPERS}),
        citation=re.compile(r"</?co(?:: ?[^<>\n]{0,200})?>"),
        cut_structure=re.compile(r"<\|START_ACTION\|>\s*\[\s*\Z"),
    ),
    scan=scan_both(
        JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), keys=_KEYS, one_per_tag=False, wrappers=_WRAPPERS).scan,
        JSONCalls(openers=_ACTIONS, closers=("```",), keys=_KEYS, one_per_tag=False).scan,
    ),
    facts=FamilyFacts(
        markers_are_plain_words=True,
        tool_parsers=("cohere_command3", "cohere_command4"),
        reasoning_parsers=("cohere_command3", "cohere_command4"),
        parser_names={"sglang": ParserNames(("cohere_command4",), ("cohere_command4",))},
        switches=(ThinkingSwitch("skip_thinking", on=False, off=True),),
        call_markers=(_OPEN, _CLOSE),
        has_json_arguments=True,
        stripped=r"\{\s*\"tool_call_id\"\s*:\s*\"\d+\"\s*,\s*\"tool_name\"\s*:\s*\"(?P<name>[\w.\-]+)\"",
    ),
)
