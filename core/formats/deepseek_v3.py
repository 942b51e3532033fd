r"""DeepSeek V3 and R1: a type, a name, and the arguments in a code fence.

    <think>\n
    REASONING\n</think>\n\n
    CONTENT<｜tool▁calls▁begin｜>
    <｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n
    ```json\n
    {ARGUMENTS}\n
    ```<｜tool▁call▁end｜>\n
    <｜tool▁call▁begin｜>…<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>

Line breaks are those drawn as `\n`; the fence belongs to the markup. A model may
continue with a tool's answer between `<｜tool▁output▁begin｜>` and `<｜tool▁output▁end｜>`.

Source: the chat templates of DeepSeek-V3-0324 and DeepSeek-R1-0528, as of 2025-06.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.base.types import Span
from prompt_debugger.core.formats._deepseek_spelling import in_any_spelling
from prompt_debugger.core.formats._facts import FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, HeaderCalls, plain_header
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.sections import in_sections

SECTION_OPEN, SECTION_CLOSE = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL_OPEN, CALL_CLOSE, SEPARATOR = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
OUTPUT_MARKERS = frozenset(f"<｜tool▁output{plural}▁{edge}｜>" for plural in ("", "s") for edge in ("begin", "end"))
MARKERS = frozenset({SECTION_OPEN, SECTION_CLOSE, CALL_OPEN, CALL_CLOSE, SEPARATOR})


def _read_header(text: str, span: Span, names: frozenset[str]) -> Header | None:
    """Read `function<｜tool▁sep｜>NAME`."""
    separator = text.find(SEPARATOR, span.start, span.stop)
    start = span.start if separator == -1 else separator + len(SEPARATOR)
    return plain_header(text, Span(start, span.stop), names)


FORMAT: ModelFormat = TextFormat(
    name="deepseek_v3",
    marks=(
        Mark("<|tool", STRONG, r"<\|tool[▁ ]call[▁ ]begin\|>function<\|tool[▁ ]sep\|>"),
        Mark(SEPARATOR, pattern=r"<｜tool▁sep｜>[^\n<]{1,256}\n```"),
        Mark(CALL_OPEN, pattern=r"<｜tool▁call▁begin｜>function<｜tool▁sep｜>"),
        Mark(SECTION_OPEN, STRONG),
        Mark(CALL_OPEN, FAIR),
        *(Mark(token, FAIR) for token in sorted(OUTPUT_MARKERS)),
    ),
    conventions=Conventions(
        turns=(
            "<｜User｜>",
            "<｜Assistant｜>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<｜end▁of▁sentence｜>"}),
        markers=MARKERS,
        unseen=OUTPUT_MARKERS,
    ),
    scan=in_any_spelling(
        in_sections(
            HeaderCalls(
                opener=CALL_OPEN,
                separators=("```json", "```"),
                closers=("```" + CALL_CLOSE, "```\n" + CALL_CLOSE, CALL_CLOSE),
                wrappers=(SECTION_OPEN, SECTION_CLOSE),
                read_header=_read_header,
            ).scan,
            re.compile(re.escape(SECTION_OPEN)),
            re.compile(re.escape(SECTION_CLOSE)),
            f"`{SECTION_OPEN}`",
        )
    ),
    facts=FamilyFacts(
        sample=(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function"
            '<｜tool▁sep｜>get_weather\n```json\n{"city": "Paris"}\n```<｜tool▁call▁end｜>'
            "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
        ),
        tool_parsers=("deepseek_v3",),
        reasoning_parsers=("deepseek_r1",),
        parser_names={
            "sglang": ParserNames(("deepseekv3",), ("deepseek-r1", "deepseek-v3")),
            "lmdeploy": ParserNames((), ("default",)),
        },
        parsers_ignoring_switch=("deepseek_r1",),
        grammars=(Grammar("deepseek_r1", "deepseek_v3"),),
        has_json_arguments=True,
        stripped=r"\bfunction(?P<name>[A-Za-z_][\w.\-]*)\n```json\n",
    ),
)
