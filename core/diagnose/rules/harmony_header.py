"""A header of a harmony (gpt-oss) message does not follow the format.

What it finds:
    In raw output read as harmony: a call on the analysis channel, a recipient that is not a
    name (`<|constrain|>json`), a message that begins without `<|start|>` after the end of
    another, text between messages, a header without `<|message|>`. An error where the
    answer lost or changed something, otherwise a note.

Why it matters:
    Strict parsers answer with `unexpected tokens remaining in message header` or
    wait for `<|start|>`; one call in five is lost on some checkpoints.

Bad:
    `<|end|>commentary to=functions.search<|message|>{…}`

Good:
    `<|end|><|start|>assistant<|channel|>commentary to=functions.search
    <|constrain|>json<|message|>{…}<|call|>`

Source:
    tracker: openai/harmony#38, openai/harmony#60, openai/harmony#82,
    vllm-project/vllm#23567, vllm-project/vllm#35907.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.account import count_calls, count_characters
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import comparison, in_raw

_FAULTS = (
    (re.compile(r"<\|channel\|>\s*analysis\s+to=functions\.[^<\s]+|to=functions\.[^<\s]+\s*<\|channel\|>\s*analysis"),
     "the call is on the analysis channel"),
    (re.compile(r"to=\s*<\|constrain\|>[^<]*|to=(?=\s|<)"), "the recipient is not a valid name"),
    (re.compile(r"<\|(?:end|call)\|>\s*+(?!<\|start\|>|<\|(?:end|call|return)\|>|\Z)[^<]{0,60}(?:<\|channel\|>|<\|message\|>)"),
     "the message begins without `<|start|>`"),
    (re.compile(r"<\|(?:end|call)\|>(?P<text>\s*[^\s<][^<]{0,200})(?:<\|start\|>|\Z)"), "text between messages"),
    (re.compile(r"<\|channel\|>[^<]{0,200}(?:<\|constrain\|>[^<]{0,40})?<\|(?:end|call|start|return)\|>"),
     "the header has no `<|message|>`"),
)  # fmt: skip


def find(trace: Trace) -> Iterator[Report]:
    """Report the first header of each kind that is off."""
    if trace.parse is None or trace.parse.parsed.format != "harmony":
        return
    raw = trace.parse.raw
    for pattern, fault in _FAULTS:
        match = pattern.search(raw)
        if match is None:
            continue
        yield Report(
            title=f"Malformed harmony header: {fault}.",
            detail=f"At character {match.start()}: {match.group()[:120]!r}.",
            evidence=(in_raw(trace, Span(*match.span())),),
            fix=(
                "Read the turn from the raw output and retry; note the checkpoint's revision, and upgrade the "
                "server: later releases accept more headers."
            ),
            certainty=comparison(trace) or Certainty.OBSERVED,
            severity=None if _did_harm(trace) else Severity.NOTE,
        )


def _did_harm(trace: Trace) -> bool:
    """Return whether the answer lacks or changes something that was written."""
    if trace.parse is None or comparison(trace) is None:
        return False
    ledger = trace.parse.ledger
    characters = count_characters(trace.parse.raw, ledger)
    gone = characters is not None and characters.accounted < characters.total
    return gone or bool(ledger.invented) or count_calls(ledger).wrong > 0


RULE: Rule = TraceRule(
    code="PD420",
    name="harmony-header",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    threads=("openai/harmony#38", "openai/harmony#60", "openai/harmony#82", "vllm-project/vllm#23567"),
    explains=("PD445",),
)
