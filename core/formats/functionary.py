r"""Functionary v3.2: a recipient per message part.

    >>>all\nCONTENT>>>NAME\n{ARGUMENTS}>>>NAME\n{ARGUMENTS}<|eot_id|>

The first `>>>` is in the prompt. `all` addresses the user. No whitespace
but the line break after a recipient is framing.

Source: the chat template of functionary-medium-v3.2, 2024-08.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import CallStatus, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.arguments import read_arguments
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import Finder, stops_of
from prompt_debugger.core.parse.tools import tool_names

_MARK = ">>>"
_HEAD = re.compile(r"(?:>>>)?(?P<name>[A-Za-z_][\w.\-]*)\n")


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the parts of a message, one recipient each."""
    finder = Finder(raw, region.stop)
    names = tool_names(context.tools)
    calls: list[ToolCallAttempt] = []
    markup: list[Span] = []
    position = region.start
    is_first = context.prompt_tail.endswith(_MARK)
    while position < region.stop:
        start = position if is_first else finder.next(_MARK, position)
        if start == -1:
            break
        head = _HEAD.match(raw, start, region.stop)
        is_first = False
        position = start + len(_MARK) if head is None else head.end()
        if head is None:
            continue
        if head.group("name") == "all":
            markup.append(Span(*head.span()))
            continue
        call = _read_call(raw, finder, head, context)
        if call is not None and (not names or call.name in names or call.status is CallStatus.COMPLETE):
            calls.append(call)
            position = max(position, call.char_span.stop)
    return Scan(tuple(calls), tuple(markup))


def _read_call(raw: str, finder: Finder, head: re.Match[str], context: ReadContext) -> ToolCallAttempt | None:
    if not raw.startswith("{", head.end()) and head.end() < finder.stop:
        return None
    is_cut, stops = context.finish_reason == "length", (_MARK, *stops_of(context.ends))
    arguments = read_arguments(finder, head.end(), closers=(), stops=stops, is_cut=is_cut)
    header = Header(head.group("name"), Span(*head.span("name")))
    return build_call(raw, head.start(), header, arguments)


FORMAT: ModelFormat = TextFormat(
    name="functionary",
    conventions=Conventions(
        turns=(
            "<|start_header_id|>",
            "<|end_header_id|>",
        ),
        ends=frozenset({"<|eot_id|>"}),
    ),
    scan=scan_calls,
    marks=(Mark(">>>all", STRONG, r"\A>>>all\n"),),
    tails=(">>>",),
    bare_score=FAIR,
    bare_hints=(">>>",),
    facts=FamilyFacts(markers_are_plain_words=True),
)
