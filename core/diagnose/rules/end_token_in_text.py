"""The answer's text ends with the token that ends a turn.

What it finds:
    Where no raw output is known: content or reasoning that ends with an end
    token such as `<eos>`, `</s>` or `<|im_end|>`, with the families that write
    it. Silent where the request asks for special tokens, and for `</s>` after
    `<s>`, which is HTML.

Why it matters:
    The server decoded its stop token into the text. Clients that compare the
    text, or decode it as JSON, fail on it.

Bad:
    `"content": "apple<eos>"`

Good:
    `"content": "apple"`

Source:
    tracker: jundot/omlx#1087.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, content_of, reasoning_of
from prompt_debugger.core.diagnose.leftovers import ends_at_tail, repeated_token
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message
from prompt_debugger.core.diagnose.words import listed


def find(trace: Trace) -> Iterator[Report]:
    """Look at the end of content and of reasoning."""
    if trace.chat is None or trace.parse is not None or body_of(trace).get("skip_special_tokens") is False:
        return
    reasoning = reasoning_of(trace.chat.message)
    for field, text in (("content", content_of(trace.chat.message) or ""), *([reasoning] if reasoning else [])):
        ends = ends_at_tail(text)
        if not ends or repeated_token(text) is not None:
            continue
        last = ends[-1]
        of = f", a token of {listed(last.families)}" if last.families else ""
        yield Report(
            title=f"The text of {field} ends with the end token `{last.text}`.",
            detail=(
                f"`{field}` ends with {text[-40:]!r}{of}: the server included the token that ended the turn in "
                "the text."
            ),
            evidence=(in_message(field, text[slice(*last.span)], last.span),),
            fix=(
                "Remove it in the client. The server should leave its stop token out of the text: check "
                "whether `skip_special_tokens` is on there, and whether the tokenizer marks this token as "
                "special."
            ),
            certainty=Certainty.INFERRED,
        )


RULE: Rule = TraceRule(
    code="PD456",
    name="end-token-in-text",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("jundot/omlx#1087",),
    explains=("PD505", "PD511"),
)
