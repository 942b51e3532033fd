"""Calls in the tags that Claude and MiniMax write, where the marker around them is missing or became another word.

<invoke name="Edit"><parameter name="path">a.py</parameter></invoke>
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Span, Trace
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message

_INVOKE = re.compile(
    r"(?<![`\w])<invoke name=\"(?P<name>[\w.:-]{1,100})\">\s*+(?=<parameter name=\"|</invoke>)"
    r"(?:[^<]++|<(?!/?invoke\b))*+</invoke>"
)
_AROUND = ("function_calls>", "minimax:tool_call>", "tool_calls>", "DSML")
_MAX_SHOWN = 4
_AGAIN = "Ask again, without this turn in the history, as models repeat what they read there."
_FOR = {
    "claude": "With Claude, send tools and results in the API's own fields, not as text.",
    "minimax": "With MiniMax, start the server with vLLM's `--tool-call-parser minimax_m2` or SGLang's "
    "`--tool-call-parser minimax-m2`, and the model's own template.",
}


def report_bare_invoke(trace: Trace, content: str) -> Report | None:
    """Report such calls in the content of a message that has no others."""
    found = list(_INVOKE.finditer(content)) if not any(sign in content for sign in _AROUND) else []
    if not found:
        return None
    names = ", ".join(dict.fromkeys(f"`{one['name']}`" for one in found[:_MAX_SHOWN]))
    shown = [in_message("content", one[0], Span(*one.span())) for one in found[:_MAX_SHOWN]]
    return say_bare_invoke(
        f"Content contains {'a call' if len(found) == 1 else 'calls'} to {names} in", shown, model_names(trace)
    )


def say_bare_invoke(begins: str, evidence: Sequence[FindingEvidence], models: Sequence[str] = ()) -> Report:
    """Return what to say of such calls.

    Args:
        begins: How the title begins, up to the notation.
        evidence: Where the calls are.
        models: What the request and the answer call the model: what helps another one is left out.
    """
    names = " ".join(models).lower()
    steps = [_AGAIN, *(words for one, words in _FOR.items() if one in names or not any(name in names for name in _FOR))]
    return Report(
        title=f"{begins} tags that Claude and MiniMax write, without the marker around them.",
        detail="If this came as the text of an answer, the call was not parsed: its opening marker is missing or "
        "became another word, so the API or the parser passed the rest on as text, and the turn ended without a call.",
        evidence=tuple(evidence),
        fix=" ".join(steps),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )
