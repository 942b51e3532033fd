r"""The server writes JSON with escapes that the model's own template does not.

What it finds:
    A character of the tools that our render prints unchanged and the server's prompt
    contains only as an escape such as `\u5929` or `\u003c`.

Why it matters:
    The server's `tojson` is not the reference library's. Non-English tools take
    twice the tokens, in a spelling the model has hardly seen in training.

Bad:
    `"description": "\u5929\u6c14"` in the server's prompt

Good:
    `"description": "天气"`

Source:
    tracker: theroyallab/tabbyAPI#459, abetlen/llama-cpp-python#1486.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, texts_inside
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_prompt

_HTML = "<>&'"


def find(trace: Trace) -> Iterator[Report]:
    """Report the first character that is escaped on the server alone."""
    prompt, local = trace.prompt, trace.local_prompt
    if prompt is None or local is None or prompt.source != "server":
        return
    if "\\u" not in prompt.text and "\\U" not in prompt.text:  # as every escape begins
        return
    written = {*"".join(texts_inside(body_of(trace).get("tools")))}
    characters = {char for char in written if char in _HTML or ord(char) > 0x7F}
    if not characters:
        return
    escapes = {char: _escape(char) for char in sorted(characters)}
    lower = prompt.text.lower()
    found = {
        char: escape
        for char, escape in escapes.items()
        if escape in lower and escape not in local.text.lower() and char in local.text
    }
    if not found:
        return
    char, escape = next(iter(found.items()))
    start = lower.index(escape)
    size = len(prompt.tokens) - len(local.tokens) if prompt.tokens is not None and local.tokens is not None else 0
    yield Report(
        title=f"The server writes `{escape}` where the template prints `{char}`.",
        detail=f"{len(found)} different characters of the tools are escaped in the server's prompt and not in ours"
        + (f"; its prompt is {size} tokens longer." if size > 0 else "."),
        evidence=(in_prompt(prompt, Span(start, start + len(escape))),),
        fix=(
            "The server's `tojson` should escape neither non-ASCII characters nor HTML: update it, or write "
            "the tools into the system message."
        ),
    )


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))


RULE: Rule = TraceRule(
    code="PD217",
    name="json-escaped-otherwise",
    severity=Severity.WARNING,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.PROMPT,
    threads=("theroyallab/tabbyAPI#459", "abetlen/llama-cpp-python#1486"),
)
