r"""LM Studio's default notation, taught by its prompt to models without one of their own.

    CONTENT[TOOL_REQUEST]{"name": "NAME", "arguments": {ARGUMENTS}}[END_TOOL_REQUEST]

Whitespace inside the markers is framing, as is a line break before them.

Source: LM Studio's documentation on tool use, 2026.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import CERTAIN, FAIR, Mark, TextFormat
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.json_calls import JSONCalls
from prompt_debugger.core.parse.reasoning import ReasoningTags

_OPEN, _CLOSE = "[TOOL_REQUEST]", "[END_TOOL_REQUEST]"

FORMAT: ModelFormat = TextFormat(
    name="lmstudio",
    marks=(Mark(_OPEN, CERTAIN, r"\[TOOL_REQUEST\]\s*\{"), Mark(_OPEN, FAIR), Mark(_CLOSE, FAIR)),
    conventions=Conventions(
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        markers=frozenset({_OPEN, _CLOSE}),
        before_call=1,
    ),
    scan=JSONCalls(openers=(_OPEN,), closers=(_CLOSE,), guards_prose=True).scan,
    facts=FamilyFacts(has_json_arguments=True),
)
