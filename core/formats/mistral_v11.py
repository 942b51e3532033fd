r"""Mistral from v11 on (Small 3.2, Devstral, Magistral): one marker per call.

    [THINK]REASONING[/THINK]CONTENT
    [TOOL_CALLS]NAME[ARGS]{ARGUMENTS}[TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{ARGUMENTS}</s>

Drawn on several lines; written without line breaks. No marker closes a call:
its JSON does. Some checkpoints leave `[ARGS]` out.

Source: the chat templates of Mistral-Small-3.2-24B-Instruct-2506 and
Devstral-Small-2507; mistral-common's tokenizers v11 and v13, as of 2025-09.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, HeaderCalls, plain_header
from prompt_debugger.core.parse.reasoning import ReasoningTags

_MARKER, _CALL_ID, _ARGUMENTS = "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"
_WITH_ID = re.compile(r"(?P<name>.*?)\[CALL_ID\](?P<id>.*)", re.DOTALL)


def _read_header(text: str, span: Span, names: frozenset[str]) -> Header | None:
    """Read `NAME` or `NAME[CALL_ID]ID`."""
    match = _WITH_ID.fullmatch(text, span.start, span.stop)
    if match is None and text[span.start : span.stop].lstrip().startswith("["):
        return Header(None, None, problem="a list appears where a name is expected")
    if match is None:
        return plain_header(text, span, names)
    header = plain_header(text, Span(*match.span("name")), names)
    if header is None:
        return None
    return Header(header.name, header.name_span, match.group("id"), Span(*match.span("id")), header.problem)


FORMAT: ModelFormat = TextFormat(
    name="mistral_v11",
    marks=(
        Mark(_ARGUMENTS, pattern=r"\[TOOL_CALLS\]\s*[\w.\-]+\s*(?:\[CALL_ID\]\w*)?\[ARGS\]", score=0.96),
        Mark(_MARKER, pattern=r"\[TOOL_CALLS\]\s*[\w.\-]+\s*(?:\[ARGS\]|\[CALL_ID\]|\{|\Z)"),
        Mark("[/THINK]", STRONG),
        Mark("[THINK]", STRONG),
    ),
    conventions=Conventions(
        turns=(
            "[INST]",
            "[/INST]",
        ),
        reasoning=ReasoningTags(openers=("[THINK]", "<think>"), closers=("[/THINK]", "</think>")),
        markers=frozenset({_MARKER, _CALL_ID, _ARGUMENTS}),
    ),
    scan=HeaderCalls(opener=_MARKER, separators=(_ARGUMENTS,), read_header=_read_header, needs_separator=False).scan,
    facts=FamilyFacts(
        sample='[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}</s>',
        tool_parsers=("mistral",),
        reasoning_parsers=("mistral",),
        parser_names={"sglang": ParserNames(("mistral",), ("mistral",)), "mlx-lm": ParserNames(("mistral",))},
        has_json_arguments=True,
        stripped=r"(?<![\w.\-])(?P<name>[A-Za-z_][\w.\-]{0,127})\{\s*[\"}]",
    ),
)
