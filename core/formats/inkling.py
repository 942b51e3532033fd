r"""Inkling: typed blocks in special tokens, calls as one JSON object each.

    <|message_model|><|content_thinking|>REASONING<|end_message|>
    <|message_model|><|content_text|>CONTENT<|end_message|>
    <|message_model|>NAME<|content_invoke_tool_json|>{"name": "NAME", "args": {ARGUMENTS}}<|end_message|>

Drawn on several lines; written without line breaks. Blocks come in any order
and number; `<|content_model_end_sampling|>` ends the turn. A name before the
kind of a block is decoration. The first header may lack its `<|`.

Source: vLLM 0.32 `parser/inkling.py`.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import ParsedMessage, Span
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.call_object import CallKeys
from prompt_debugger.core.parse.channels import BodyKind, Channels
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _END, _END_SAMPLING = "<|content_invoke_tool_json|>", "<|end_message|>", "<|content_model_end_sampling|>"
_KINDS: dict[str, BodyKind] = {"thinking": "reasoning", "calls": "calls"}
_CALLS = JSONCalls(
    openers=(_OPEN,), closers=(_END,), keys=CallKeys(name=("name",), arguments=("args", "arguments")), one_per_tag=True
)


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the call of a block, its opening and closing token around it."""
    return _CALLS.scan(raw, region, context)


_CHANNELS = Channels(
    header=re.compile(
        r"(?:(?:<\||\A)message_model\|>[^<\n]{0,128})?"
        r"(?:(?:<\||\A)content_(?P<kind>text|thinking|invoke_tool_text|tool_error)\|>|(?P<open><\|content_invoke_tool_json\|>))"
    ),
    end=re.compile(r"<\|end_message\|>|<\|content_model_end_sampling\|>"),
    kind_of=lambda header: _KINDS.get(header.group("kind") or "calls", "content"),
    scan=scan_calls,
    conventions=Conventions(
        turns=("<|message_model|>",),
        ends=frozenset({_END, _END_SAMPLING}),
        markers=frozenset({_OPEN, "<|message_model|>", "<|content_text|>"}),
        cut_texts=frozenset({"<|content_thinking|>"}),
        cut_structure=re.compile(r"<\|message_model\|>[^<\n]{0,128}(?:<\|?)?\Z"),
    ),
    ends_calls=True,
)


class _Inkling(TextFormat):
    def read(self, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises on any text. Segments tile `raw`."""
        return _CHANNELS.read(self.name, raw, context)


FORMAT: ModelFormat = _Inkling(
    name="inkling",
    marks=(
        Mark("<|message_model|>"),
        Mark(_OPEN),
        Mark("<|content_thinking|>"),
        Mark("<|content_", pattern=r"<\|content_(?:text|invoke_tool_text|tool_error)\|>"),
        Mark(_END_SAMPLING),
        Mark("<|end_message|>", STRONG),
    ),
    tails=("<|message_model|>",),
    conventions=_CHANNELS.conventions,
    facts=FamilyFacts(
        markers_are_plain_words=True,
        message_ends=("<|end_message|>",),
        tool_parsers=("inkling",),
        reasoning_parsers=("inkling",),
        parser_names={"sglang": ParserNames(("inkling",))},
        reasoning=ReasoningTags(("<|content_thinking|>",), (_END,)),
        has_json_arguments=True,
        stripped=r"\{\s*\"name\"\s*:\s*\"(?P<name>[\w.\-]+)\"\s*,\s*\"args\"\s*:\s*\{",
    ),
)
