"""Plain text: no calls that we could know, reasoning in the usual tags.

    <think>REASONING</think>

    CONTENT

The reasoning block may have been opened by the prompt, or be missing. Line
breaks next to the tags are framing, one inside and two after, as most
templates write them. Chosen only where no family's markers occur.
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import FormatScore
from prompt_debugger.core.formats._facts import ENABLE_THINKING, THINKING, FamilyFacts, ThinkingSwitch
from prompt_debugger.core.formats._family import TextFormat, Weighed
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.reasoning import ReasoningTags

_WEIGHED = Weighed(FormatScore(0.1, "reads any text as content"))
_CONVENTIONS = Conventions(reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2))


class _PlainText(TextFormat):
    def weigh(self, raw: str, context: ReadContext) -> Weighed:
        """Explain any text a little, so that something always does."""
        return _WEIGHED


FORMAT: ModelFormat = _PlainText(
    name="generic",
    conventions=_CONVENTIONS,
    # Of templates whose family is not known.
    facts=FamilyFacts(
        markers_are_plain_words=True, switches=(ENABLE_THINKING, THINKING, ThinkingSwitch("enable_reasoning"))
    ),
)
