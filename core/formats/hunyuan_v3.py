r"""Hunyuan 3 and 4 (Hy3): GLM's keys and values in a section, every tag with a suffix.

    <think:SUFFIX>REASONING</think:SUFFIX>CONTENT
    <tool_calls:SUFFIX>
    <tool_call:SUFFIX>NAME<tool_sep:SUFFIX>
    <arg_key:SUFFIX>KEY</arg_key:SUFFIX>
    <arg_value:SUFFIX>VALUE</arg_value:SUFFIX>
    </tool_call:SUFFIX>
    </tool_calls:SUFFIX>

The suffix may be empty; then `<tool_sep>` tells this family from others.
Values are exact and typed by the tool's schema; other white space is framing.

Source: the chat template of Hy3, 2026; vLLM 0.32 `tool_parsers/hy_v3_tool_parser.py`.
"""

from __future__ import annotations

import re

from core.formats._family import STRONG, Mark, TextFormat
from core.parse.reading import Conventions
from core.parse.reasoning import ReasoningTags
from core.parse.tag_calls import TagCalls
from core.protocols import ModelFormat

_SUFFIX = r"(?::[^\s<>]{1,40})?"
_SUFFIXES = ("", ":opensource", ":hunyuan")

FORMAT: ModelFormat = TextFormat(
    name="hunyuan_v3",
    marks=(
        Mark("<tool_sep", 0.97, r"<tool_sep(?::[^\s<>]{1,40})?>"),
        Mark("<tool_calls:", STRONG, r"<tool_calls:[^\s<>]{1,40}>"),
        Mark("<arg_key:", STRONG, r"<arg_key:[^\s<>]{1,40}>"),
        Mark("<think:", STRONG, r"<think:[^\s<>]{1,40}>"),
        Mark("</think:", STRONG, r"</think:[^\s<>]{1,40}>"),
    ),
    conventions=Conventions(
        reasoning=ReasoningTags(
            tuple(f"<think{suffix}>" for suffix in _SUFFIXES), tuple(f"</think{suffix}>" for suffix in _SUFFIXES)
        ),
        before_call=1,
    ),
    scan=TagCalls(
        opener=re.compile(rf"<tool_call{_SUFFIX}>\s*(?P<name>[^<\n]*?)\s*(?:<tool_sep{_SUFFIX}>|(?=<arg_key)|\Z)"),
        closer=re.compile(rf"</tool_call{_SUFFIX}>"),
        parameter=re.compile(rf"<arg_key{_SUFFIX}>(?P<key>[^<\n]{{0,200}})</arg_key{_SUFFIX}>\s*<arg_value{_SUFFIX}>"),
        partial=re.compile(
            r"</?(?:arg_key[^<>\n]{0,40}>[^<\n]{0,200}(?:</arg_key[^<>\n]{0,40}>\s*)?<?)?[^<>\n]{0,80}\Z"
        ),
        parameter_closer=re.compile(rf"</arg_value{_SUFFIX}>"),
        wrapper=re.compile(rf"</?tool_calls{_SUFFIX}>"),
    ).scan,
)
