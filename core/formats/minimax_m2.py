r"""MiniMax M2: invocations with named parameters.

    <think>\nREASONING\n</think>\n\n
    CONTENT\n
    <minimax:tool_call>\n
    <invoke name="NAME">\n
    <parameter name="KEY">VALUE</parameter>\n
    </invoke>\n
    <invoke name="NAME">…</invoke>\n
    </minimax:tool_call>[e~[

Text is written plainly, anything else as JSON; the tool's schema decides. The
line break before the section is framing; values are exact. Models of others write the
same invocations between `<tool_call>` and `</tool_call>`, which no parser of this family reads. Where a build of the
model loses the brackets of its tags, `invoke name="NAME">` and `parameter>` are left, one per line.

Source: the chat template of MiniMax-M2, 2025-10; exo-explore/exo#1882 and ml-explore/mlx-lm#1145 for lost brackets.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.structural_tag import (
    GrammarPlan,
    between,
    exactly,
    following,
    in_order,
    list_of_calls,
    schema_of,
    triggered,
)
from prompt_debugger.core.base.types import JSON, CallStatus, JSONObject, Span
from prompt_debugger.core.formats._facts import FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.sections import in_sections
from prompt_debugger.core.parse.tag_calls import TagCalls

INVOCATIONS = TagCalls(
    opener=re.compile(r"<invoke\s++name\s{0,40}=\s{0,40}[\"']?(?P<name>[^\"'>\n]{0,256}+)[\"']?\s*+(?:/?>|\Z)"),
    closer=re.compile(r"</invoke>"),
    parameter=re.compile(r"<parameter\s++name\s{0,40}=\s{0,40}[\"']?(?P<key>[^\"'>\n]{1,256}+)[\"']?[^>\n]{0,256}+>"),
    parameter_closer=re.compile(r"</parameter>"),
    wrapper=re.compile(r"</?minimax:tool_call>"),
    cut_wrapper=re.compile(r"<minimax:tool_call>"),
    guards_prose=True,
)

_UNBRACKETED = re.compile(r"(?m)^[ \t]*+invoke name=\"[^\">\n]{1,256}\">\s*+(?:parameter name=\"|(?:</?)?invoke>)")
_LOST_BRACKETS = TagCalls(
    opener=re.compile(r"(?m)^[ \t]*+invoke name=\"(?P<name>[^\">\n]{1,256})\">"),
    closer=re.compile(r"(?:</?)?invoke>"),
    parameter=re.compile(r"parameter name=\"(?P<key>[^\">\n]{1,256})\">"),
    parameter_closer=re.compile(r"(?:</?)?parameter>"),
    guards_prose=True,
)
_LOST = "the `<` and `</` of its tags are missing"


def _scan_invocations(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read invocations; where there is none, those whose tags have lost their brackets."""
    found = _SECTIONS(raw, region, context)
    if found.calls or _UNBRACKETED.search(raw, *region) is None:
        return found
    scan = _LOST_BRACKETS.scan(raw, region, context)
    calls = (replace(call, deviation=_LOST) if call.status is CallStatus.COMPLETE else call for call in scan.calls)
    return replace(scan, calls=tuple(calls))


_SECTIONS = in_sections(
    replace(INVOCATIONS, wrapper=re.compile(r"</?(?:minimax:)?tool_call>")).scan,
    re.compile(r"<minimax:tool_call>"),
    re.compile(r"</minimax:tool_call>"),
    "`<minimax:tool_call>`",
)


def build_tag(plan: GrammarPlan, suffix: str = "") -> JSONObject:
    """Return its structural tag: `<minimax:tool_call>`, invocations with parameters as XML."""
    calls: list[JSON] = [
        between(f'<invoke name="{tool.name}">\n', following(schema_of(tool), "minimax_xml"), "</invoke>\n")
        for tool in plan.tools
    ]
    opening, closing = "<minimax:tool_call>\n", "</minimax:tool_call>"
    if plan.choice == "auto":
        section = between(opening, list_of_calls(calls), closing)
        return triggered("<minimax:tool_call>", [section], excludes=("<think>", "</think>"))
    return in_order(exactly("\n" + opening), list_of_calls(calls, only_first=plan.choice == "forced"), exactly(closing))


FORMAT: ModelFormat = TextFormat(
    name="minimax_m2",
    marks=(
        Mark("<minimax:tool_call>"),
        Mark("</minimax:tool_call>", STRONG),
        Mark("<tool_call>", STRONG, r"<tool_call>\s{0,80}<invoke\s{1,8}name\s{0,8}="),
        Mark("invoke name=", FAIR, _UNBRACKETED.pattern),
        Mark("<invoke", FAIR, r"(?m)^[ \t]*<invoke\s+name\s*=[^>\n]{0,256}>\s*(?:<parameter\s+name|</invoke>)"),
    ),
    tails=("]~b]ai",),
    conventions=Conventions(
        cut_texts=frozenset(
            {
                "<minimax:tool_call>",
                "</minimax:tool_call>",
                "<invoke name=",
                "</invoke>",
                "<parameter name=",
                "</parameter>",
            }
        ),
        turns=("]~b]",),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"[e~["}),
        markers=frozenset({"<minimax:tool_call>", "</minimax:tool_call>"}),
        before_call=1,
    ),
    scan=_scan_invocations,
    facts=FamilyFacts(
        sample=(
            '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris'
            "</parameter>\n</invoke>\n</minimax:tool_call>[e~["
        ),
        tool_parsers=("minimax_m2",),
        reasoning_parsers=("minimax_m2", "minimax_m2_append_think"),
        parser_names={
            "sglang": ParserNames(("minimax-m2",), ("minimax", "minimax-append-think")),
            "mlx-lm": ParserNames(("minimax_m2",)),
        },
        parsers_ignoring_switch=("minimax_m2",),
        grammars=(Grammar("minimax", "minimax_m2", build=build_tag),),
    ),
)
