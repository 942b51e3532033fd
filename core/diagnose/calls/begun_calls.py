"""A call of which content has no more than its beginning: the marker, and perhaps a part of its name.

Let me look.
<tool_call>
{"name
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.types import Certainty, Severity, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.unparsed_calls import parser_steps
from prompt_debugger.core.diagnose.endings import is_limit_word
from prompt_debugger.core.diagnose.markers import find_used_markers
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message

# How a call begins that shows whose it is, up to the end of content.
_BEGUN = re.compile(
    r"(?P<hermes><tool_call>\s{0,9}\{[^{}<>]{0,200})"
    r"|(?P<qwen3_coder><tool_call>\s{0,9}<function=[^<>]{0,100})"
    r"|(?P<minimax_m2><minimax:tool_call>\s{0,9}(?:<invoke[^<>]{0,100})?)"
    r"|(?P<kimi_k2><\|tool_calls_section_begin\|>\s{0,9}(?:<\|tool_call_begin\|>[^<>]{0,100})?)"
    r"|(?P<deepseek_v32><\uff5cDSML\uff5c[^<>]{0,100}>?\s{0,9}(?:<\uff5cDSML\uff5c[^<>]{0,100})?)"
)
_RESTARTED = (
    "Do not run any of them, and do not keep this turn in the history, as models repeat what they read there. Ask "
    "again, with a lower temperature if it happens again; a hosted model that often does so is for its provider to fix."
)
NOT_CLOSED = "its closing tag is missing before"  # in the problem of a call that another one interrupts
_TAIL = 700  # characters in which it begins


def report_begun(trace: Trace, content: str) -> Report | None:
    """Report content that ends right after a call begins; the name of the call is not there yet."""
    offset = max(0, len(content) - _TAIL)
    text = content[offset:].rstrip()
    begun = next((one for one in _BEGUN.finditer(text) if one.end() == len(text)), None)
    if begun is None or begun.lastgroup is None:
        return None
    start, stop = offset + begun.start(), offset + begun.end()
    if not any(start <= span.start < stop for span in find_used_markers(content)):
        return None
    ending = None if trace.chat is None else trace.chat.finish_reason
    is_cut = is_limit_word(ending)
    rest = "the rest is missing" if ending else "what follows was not copied or not sent"
    return Report(
        title="A tool call begins in content, which ends before the call is complete.",
        detail=f"It begins at character {start} in the notation of `{begun.lastgroup}`, and {rest}. Either nothing "
        "parses calls in this notation, or a call that is cut here could not be parsed.",
        evidence=(in_message("content", content[start:stop]),),
        fix=(
            *((Step("Raise `max_tokens`: the limit ended the output within the call."),) if is_cut else ()),
            *parser_steps(trace, begun.lastgroup),
        ),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def count_restarts(last: ToolCallAttempt, broken: Sequence[ToolCallAttempt]) -> int:
    """Return how often a call was begun before, each time within a value that is not closed."""
    return sum(
        one.name == last.name and one.char_span.start < last.char_span.start and NOT_CLOSED in (one.problem or "")
        for one in broken
    )


def report_restarted(call: ToolCallAttempt, earlier: int, content: str) -> Report:
    """Report a call that the model began again within its own arguments, and never closed.

    Args:
        call: The last beginning.
        earlier: How often it was begun before.
        content: The text with all of them.
    """
    return Report(
        title=f"A tool call to `{call.name}` begins {earlier + 1} times in content, each within the one before.",
        detail="None is closed before the next begins: the model lost its place inside a value and started the "
        "call anew. No parser reads that as a call, and a larger token limit does not close it.",
        evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
        fix=_RESTARTED,
        certainty=Certainty.INFERRED,
        stage=Stage.COMPLETE,
    )
