r"""Mistral before v11: one marker, then a JSON list of calls.

    CONTENT[TOOL_CALLS] [{"name": "NAME", "arguments": {ARGUMENTS}, "id": "9 CHARS"}]</s>

Whitespace between marker and list is framing. The list's bracket ends the calls.

Source: the chat template of Mistral-Nemo-Instruct-2407; mistral-common's
tokenizers v2 to v7, as of 2025-06.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_MARKER = "[TOOL_CALLS]"

FORMAT: ModelFormat = TextFormat(
    name="mistral",
    marks=(Mark(_MARKER, pattern=r"\[TOOL_CALLS\]\s*(?:\[\s*[\{\]]|\{)"), Mark(_MARKER, FAIR), Mark("[INST]", STRONG)),
    conventions=Conventions(
        turns=(
            "[INST]",
            "[/INST]",
        ),
        reasoning=ReasoningTags(openers=("[THINK]", "<think>"), closers=("[/THINK]", "</think>")),
        markers=frozenset({_MARKER}),
    ),
    scan=JSONCalls(openers=(_MARKER,), one_per_tag=False).scan,
    facts=FamilyFacts(
        sample='[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}}]</s>',
        tool_parsers=("mistral",),
        reasoning_parsers=("mistral",),
        parser_names={"sglang": ParserNames(("mistral",), ("mistral",)), "mlx-lm": ParserNames(("mistral",))},
        has_json_arguments=True,
        list_marker=_MARKER,
        model_names=("mistral", "ministral", "devstral", "magistral", "pixtral", "codestral"),
    ),
)
