"""The promised JSON document is not closed, although finish_reason says that it ended.

What it finds:
    Content that begins as JSON and stops before it is whole, where the request
    promises JSON, no limit was reached and finish_reason is not `length`.

Why it matters:
    It looks like a broken schema or like a token limit and is neither: the
    generation ended inside the document. The grammar had not let it end there,
    so something besides the end token ended it, or the constraint was off.

Bad:
    `{"text": "} Bears hear leaves.}` with finish_reason `stop`

Good:
    `{"text": "Bears hear leaves."}`

Source:
    tracker: kekzl/imp#1199.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.broken_arguments import break_of
from prompt_debugger.core.diagnose.fields import content_of
from prompt_debugger.core.diagnose.promised import Breach, breach_of, promised_json
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.sight import Sight, completion_tokens, in_message, max_tokens_of


def find(trace: Trace) -> Iterator[Report]:
    """Report a document that stays open."""
    promise = promised_json(trace)
    breach = None if promise is None else breach_of(trace, promise)
    if promise is None or breach is None or breach[0] is not Breach.UNCLOSED or trace.chat is None:
        return
    content = content_of(trace.chat.message) or ""
    fault = break_of(content)
    counted = completion_tokens(trace)
    cap = max_tokens_of(trace)
    tokens = "" if counted is None else f" The server counted {counted} tokens of output"
    tokens += "" if counted is None else "." if cap is None else f" of {cap} that are allowed."
    is_string = fault is not None and "string" in fault.words
    yield Report(
        title=f"The JSON document is not closed, and finish_reason is `{trace.chat.finish_reason}`.",
        detail=f"Content ends with {content[-60:]!r}"
        + (" inside a string" if is_string else "")
        + f".{tokens} No token limit shows, and the schema does not explain it.",
        evidence=(in_message("content", content), in_message("finish_reason", trace.chat.finish_reason)),
        fix="Do not decode this answer. Look whether a stop text of the request, or of the server, ended it inside the "
        "document"
        + (
            "; a typographic quotation mark does not close a string, so that the model may take it for closed"
            if is_string
            else ""
        )
        + ". Report it to the server's authors: under a grammar only the end of the document may end the output.",
    )


RULE: Rule = TraceRule(
    code="PD324",
    name="unclosed-document",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    needs=Sight.ANSWER,
    threads=("kekzl/imp#1199",),
)
