r"""K2 Horizon: GLM's keys and values, or Hermes objects, in IFM's special tokens.

    <ifm|think>REASONING</ifm|think>CONTENT              also think_fast, think_faster
    <ifm|tool_calls>
    <ifm|tool_call>NAME
    <ifm|arg_key>KEY</ifm|arg_key><ifm|arg_type>TYPE</ifm|arg_type><ifm|arg_value>VALUE</ifm|arg_value>
    </ifm|tool_call>
    <ifm|tool_call>{"name": "NAME", "arguments": {ARGUMENTS}}</ifm|tool_call>
    </ifm|tool_calls>

Drawn on several lines; written without line breaks. The template chooses the
notation; the type is optional, then the tool's schema decides.

Source: vLLM 0.32 `tool_parsers/k2_horizon_tool_parser.py`, `reasoning/k2_horizon_reasoning_parser.py`.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts, ParserNames
from prompt_debugger.core.formats._family import Mark, TextFormat
from prompt_debugger.core.parse.combine import scan_both
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls

_OPEN, _CLOSE = "<ifm|tool_call>", "</ifm|tool_call>"
_SECTION = ("<ifm|tool_calls>", "</ifm|tool_calls>")
_THINK = ("think", "think_fast", "think_faster")

_TAGS = TagCalls(
    exact_tags=True,
    opener=re.compile(r"<ifm\|tool_call>\s*+(?P<name>[^<\n{]{0,256}?)\s*+(?=<ifm\|arg_key>|</ifm\|tool_call>|\Z)"),
    closer=re.compile(r"</ifm\|tool_call>"),
    parameter=re.compile(
        r"<ifm\|arg_key>(?P<key>[^<\n]{0,200})</ifm\|arg_key>\s*"
        r"(?:<ifm\|arg_type>(?P<type>[^<\[]{0,80})[^<]{0,80}</ifm\|arg_type>\s*)?<ifm\|arg_value>"
    ),
    partial=re.compile(r"<(?!/ifm\|tool_call)[^\n]{0,400}\Z"),
    parameter_closer=re.compile(r"</ifm\|arg_value>"),
    wrapper=re.compile(r"</?ifm\|tool_calls>"),
    cut_wrapper=re.compile(r"<ifm\|tool_calls>"),
)
_JSON = JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), wrappers=_SECTION)

FORMAT: ModelFormat = TextFormat(
    name="k2_horizon",
    marks=(Mark("<ifm|"), Mark("</ifm|")),
    conventions=Conventions(
        cut_texts=frozenset({"<ifm|arg_key>", "</ifm|arg_key>", "<ifm|arg_value>", "</ifm|arg_value>"}),
        reasoning=ReasoningTags(tuple(f"<ifm|{tag}>" for tag in _THINK), tuple(f"</ifm|{tag}>" for tag in _THINK)),
        markers=frozenset({_OPEN, _CLOSE, *_SECTION}),
    ),
    scan=scan_both(_TAGS.scan, _JSON.scan),
    facts=FamilyFacts(
        tool_parsers=("k2_horizon",),
        reasoning_parsers=("k2_horizon",),
        parser_names={"sglang": ParserNames(("k2_horizon",))},
    ),
)
