r"""UI-TARS: a thought, then actions on a screen as Python calls.

    Thought: CONTENT\n
    Action: click(start_box='<|box_start|>(100,200)<|box_end|>')\n
    \n
    type(content='TEXT\n')

No tags part the thought from the answer, so it is content. Points are also written `point='<point>100 200</point>'`.
The name is the action's, its arguments are as written; servers that hand the action to one tool called `computer` do
that. Only the actions that its prompt names, and tools of the request, are calls: other agents write
`Action:` as well. Line breaks around `Action:` are framing.

Source: the prompts and the action parser of UI-TARS and UI-TARS-1.5, 2025.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import CallStatus, Span
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.python_calls import PythonCalls
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.tools import tool_names

_ACTIONS = frozenset(
    {
        "call_user", "click", "drag", "finished", "hotkey", "left_double", "left_single", "long_press", "open_app",
        "press", "press_back", "press_home", "release", "right_single", "scroll", "select", "type", "wait",
    }
)  # fmt: skip
_NAMES = "|".join(sorted(_ACTIONS))
_KEYED = re.compile(r"\s*+[A-Za-z_]\w{0,80}\s*+=")
_CALLS = PythonCalls(openers=("Action:",))


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the calls after `Action:` at the beginning of a line."""
    found = _CALLS.scan(raw, region, context)
    known = _ACTIONS | tool_names(context.tools)
    framed = {span.stop: span for span in found.markup}
    calls, markup = [], []
    is_action = False
    for call in found.calls:
        frame = framed.get(call.char_span.start)
        if frame is not None and raw.startswith("Action:", frame.start):
            before = raw[max(region.start, frame.start - 80) : frame.start]
            is_action = not before.rpartition("\n")[2].strip()
        is_meant = call.status is CallStatus.COMPLETE or _KEYED.match(call.arguments) is not None
        if is_action and call.name in known and is_meant:
            calls.append(call)
            markup += [frame] if frame is not None else []
    return Scan(tuple(calls), tuple(markup))


FORMAT: ModelFormat = TextFormat(
    name="ui_tars",
    marks=(
        Mark("Action:", STRONG, rf"(?m)^[ \t]*Action:\s*(?:{_NAMES})\((?:\)|[a-z_]{{1,40}}=)"),
        Mark("<|box_start|>", FAIR, r"Action:[^\n]{0,200}<\|box_start\|>"),
    ),
    conventions=Conventions(
        turns=("<|im_start|>",),
        ends=frozenset({"<|im_end|>", "<|endoftext|>"}),
        before_call=2,
        after_call=2,
    ),
    scan=scan_calls,
    bare_score=FAIR,
    bare_hints=("Action:", "("),
    facts=FamilyFacts(is_plain_words=True, markers_are_plain_words=True, call_markers=()),
)
