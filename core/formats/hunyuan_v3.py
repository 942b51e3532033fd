r"""Hunyuan 3 and 4 (Hy3): GLM's keys and values in a section, every tag with a suffix.

    <think:SUFFIX>REASONING</think:SUFFIX>CONTENT
    <tool_calls:SUFFIX>
    <tool_call:SUFFIX>NAME<tool_sep:SUFFIX>
    <arg_key:SUFFIX>KEY</arg_key:SUFFIX>
    <arg_value:SUFFIX>VALUE</arg_value:SUFFIX>
    </tool_call:SUFFIX>
    </tool_calls:SUFFIX>

The suffix may be empty; then `<tool_sep>` tells this family from others, or in
version 4, which writes none, the section around the calls.
Values are exact and typed by the tool's schema; other whitespace is framing.

Source: the chat template of Hy3, 2026; vLLM 0.32 `tool_parsers/hy_v3_tool_parser.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.structural_tag import (
    GrammarPlan,
    ToolGrammar,
    between,
    exactly,
    free_text,
    in_order,
    list_of_calls,
    one_of,
    repeated,
    triggered,
)
from prompt_debugger.core.base.types import JSON, JSONObject, ParsedMessage
from prompt_debugger.core.formats._facts import FamilyFacts, Grammar, ParserNames, ThinkingSwitch
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reading import read_message
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.tag_calls import TagCalls

_SUFFIX = r"(?::[^\s<>]{1,40})?"
_TAG = re.compile(r"</?think(:[^\s<>]{1,40})>")
_SUFFIXES = ("", ":opensource", ":hunyuan")


def build_tag(plan: GrammarPlan, suffix: str = "") -> JSONObject:
    """Return the structural tag of Hunyuan 4: it enforces keys, not values; every tag has the checkpoint's suffix."""

    def mark(name: str) -> str:
        return f"<{name}{suffix}>"

    calls: list[JSON] = [
        between(
            f"{mark('tool_call')}{tool.name}",
            free_text() if plan.open_keys else _tag_pairs(tool, suffix),
            mark("/tool_call"),
        )
        for tool in plan.tools
    ]
    opening, closing = mark("tool_calls"), mark("/tool_calls")
    if plan.choice == "auto":
        return triggered(opening, [between(opening, list_of_calls(calls), closing)])
    return in_order(exactly(opening), list_of_calls(calls, only_first=plan.choice == "forced"), exactly(closing))


def _tag_pairs(tool: ToolGrammar, suffix: str) -> JSON:
    """Return the required keys in their order, then the optional ones in any."""
    schema = tool.parameters if isinstance(tool.parameters, dict) else {}
    properties = schema.get("properties") or {}
    required = schema.get("required") or []
    declared = [*properties] if isinstance(properties, dict) else []
    wanted = [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
    first = [key for key in declared if key in wanted] + [key for key in wanted if key not in declared]
    pairs: list[JSON] = [_tag_pair(key, suffix) for key in first]
    rest: list[JSON] = [_tag_pair(key, suffix) for key in declared if key not in wanted]
    if rest:
        pairs.append(repeated(one_of(rest)))
    return in_order(*pairs) if pairs else free_text()


def _tag_pair(key: str, suffix: str) -> JSONObject:
    parts = [f"<arg_key{suffix}>", key, f"</arg_key{suffix}>", f"<arg_value{suffix}>"]
    return in_order(*map(exactly, parts), free_text(), exactly(f"</arg_value{suffix}>"))


class _HunyuanV3(TextFormat):
    def read(self, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises on any text. Segments tile `raw`."""
        return read_message(self.name, raw, context, _suffixed(self.conventions, raw, context), self.scan)


def _suffixed(conventions: Conventions, raw: str, context: ReadContext) -> Conventions:
    """Return the conventions with the tags as this checkpoint spells them."""
    found = _TAG.search(context.prompt_tail) or _TAG.search(raw)
    if found is None or conventions.reasoning is None or found.group(1) in _SUFFIXES:
        return conventions
    opener, closer = f"<think{found.group(1)}>", f"</think{found.group(1)}>"
    reasoning = ReasoningTags((opener, *conventions.reasoning.openers), (closer, *conventions.reasoning.closers))
    return replace(conventions, reasoning=reasoning, ends=conventions.ends | {f"<｜hy_eos{found.group(1)}｜>"})


FORMAT: ModelFormat = _HunyuanV3(
    name="hunyuan_v3",
    tails=("<｜hy_Assistant",),
    marks=(
        Mark("<tool_sep", 0.97, r"<tool_sep(?::[^\s<>]{1,40})?>"),
        Mark("<tool_calls>", 0.97, r"<tool_calls>\s*<tool_call>[^<]{1,256}<(?:arg_key|/tool_call)>"),
        Mark("<tool_calls:", STRONG, r"<tool_calls:[^\s<>]{1,40}>"),
        Mark("<arg_key:", STRONG, r"<arg_key:[^\s<>]{1,40}>"),
        Mark("<tool_call:", STRONG, r"<tool_call:[^\s<>]{1,40}>"),
        Mark("<think:", STRONG, r"<think:[^\s<>]{1,40}>"),
        Mark("</think:", STRONG, r"</think:[^\s<>]{1,40}>"),
        Mark("<｜hy_eos", STRONG, r"<｜hy_eos(?::[^\s<>｜]{1,40})?｜>"),
    ),
    conventions=Conventions(
        cut_texts=frozenset(
            f"{tag}{suffix}>"
            for tag in ("<tool_calls", "</tool_calls", "<tool_call", "</tool_call", "<tool_sep")
            for suffix in _SUFFIXES
        ),
        ends=frozenset({*(f"<｜hy_eos{suffix}｜>" for suffix in _SUFFIXES), "<|hy_eos|>", "<|hy_end|>"}),
        turns=("<｜hy_User", "<｜hy_Assistant"),
        reasoning=ReasoningTags(
            tuple(f"<think{suffix}>" for suffix in _SUFFIXES), tuple(f"</think{suffix}>" for suffix in _SUFFIXES)
        ),
        before_call=1,
    ),
    scan=TagCalls(
        opener=re.compile(
            rf"<tool_call{_SUFFIX}>\s*+(?P<name>[^<\n]{{0,256}}?)\s*+(?:<tool_sep{_SUFFIX}>|(?=<arg_key)|(?<=[\w.\-])(?=</(?:tool_call|arg_value))|\Z)"
        ),
        closer=re.compile(rf"</tool_call{_SUFFIX}>|(?<=[\w.\-])</arg_value{_SUFFIX}>"),
        parameter=re.compile(rf"<arg_key{_SUFFIX}>(?P<key>[^<\n]{{0,200}})</arg_key{_SUFFIX}>\s*<arg_value{_SUFFIX}>"),
        partial=re.compile(
            r"</?(?:arg_key[^<>\n]{0,40}>[^<\n]{0,200}(?:</arg_key[^<>\n]{0,40}>\s*)?<?)?[^<>\n]{0,80}\Z"
        ),
        parameter_closer=re.compile(rf"</arg_value{_SUFFIX}>"),
        wrapper=re.compile(rf"</?tool_calls{_SUFFIX}>"),
    ).scan,
    facts=FamilyFacts(
        tool_parsers=("hy_v3", "hy_v4"),
        reasoning_parsers=("hy_v3", "hy_v4"),
        parser_names={"sglang": ParserNames(("hunyuan",), ("hunyuan",))},
        switches=(ThinkingSwitch("reasoning_effort", on="high", off="no_think"),),
        grammars=(
            Grammar(
                "hy_v4",
                "hy_v4",
                build=build_tag,
                name="hy_v4",
                sign=rf"<tool_calls{_SUFFIX}>\s*<tool_call{_SUFFIX}>[^<]*<(?:arg_key|/tool_call)",
                constrains_auto=False,
                has_suffix=True,
            ),
        ),
        call_markers=("<tool_sep", "<tool_calls", "</tool_calls"),
    ),
)
