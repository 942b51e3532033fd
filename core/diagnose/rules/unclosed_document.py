"""The promised JSON document is not closed, although finish_reason says that it ended.

What it finds:
    Content that begins as JSON and stops before it is complete, where the request promises
    JSON, no limit was reached and finish_reason is not `length`. A warning if no request is
    available and content is only this kind of document.

Why it matters:
    It looks like a broken schema or a token limit but is neither: the generation ended
    inside the document. A grammar would not have let it end there, so something other than
    the end token ended it, or the constraint was off.

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
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import break_of, stops_early
from prompt_debugger.core.diagnose.calls.broken_bare_calls import open_bare_call
from prompt_debugger.core.diagnose.endings import is_normal_end
from prompt_debugger.core.diagnose.fields import content_of, returned_calls
from prompt_debugger.core.diagnose.promised import Breach, breach_of, promised_json
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, completion_tokens, in_message, max_tokens_of

_FIX = (
    "Do not decode this answer. Check whether a stop string of the request, or of the server, ended it "
    "inside the document"
)
_REPORT = ". Report it to the server's authors: with a grammar, only the end of the document may end the output."
_QUOTES = "; a typographic quotation mark does not close a string, but the model may treat it as if it did"


def find(trace: Trace) -> Iterator[Report]:
    """Report a document that stays open."""
    chat = trace.chat
    promise = promised_json(trace)
    breach = None if promise is None else breach_of(trace, promise)
    is_promised = breach is not None and breach[0] is Breach.UNCLOSED
    if chat is None or not (is_promised or _looks_promised(trace)):
        return
    content = content_of(chat.message) or ""
    fault = break_of(content)
    is_string = fault is not None and "string" in fault.words
    reason = "" if chat.finish_reason is None else f", and finish_reason is `{chat.finish_reason}`"
    schema = ", and the schema does not explain it" if is_promised else ""
    yield Report(
        title=f"The JSON document is not closed{reason}.",
        detail=f"Content ends with {content[-60:]!r}"
        + (" inside a string" if is_string else "")
        + f".{_meant_end(content) if is_string else ''}{_tokens(trace)} Nothing shows a token limit{schema}.",
        evidence=(in_message("content", content), in_message("finish_reason", chat.finish_reason)),
        fix=_FIX + (_QUOTES if is_string else "") + (_REPORT if is_promised else "."),
        certainty=Certainty.OBSERVED if is_promised else Certainty.INFERRED,
        severity=None if is_promised else Severity.WARNING,
    )


def _looks_promised(trace: Trace) -> bool:
    """Return whether an answer alone is an open JSON object and nothing else, and is said to have ended."""
    chat = trace.chat
    if chat is None or chat.error or trace.request.body or trace.raw is not None or returned_calls(trace):
        return False
    text = (content_of(chat.message) or "").strip()
    is_open = text.startswith('{"') and stops_early(text)
    return is_normal_end(chat.finish_reason) and is_open and open_bare_call(text) is None  # that is PD426


def _meant_end(content: str) -> str:
    """Say that the document ends as a whole one does, though a string is still open."""
    if not content.rstrip().endswith(("}", "]")):
        return ""
    quotation = next((char for char in reversed(content[-400:]) if char in "\u201c\u201d\u201e\u00bb\u00ab\uff02"), "")
    mark = f"`{quotation}` is not a JSON quotation mark" if quotation else "the quotation mark before it is missing"
    return f" It ends with `{content.rstrip()[-1]}`, as a whole document does: {mark}."


def _tokens(trace: Trace) -> str:
    counted, cap = completion_tokens(trace), max_tokens_of(trace)
    allowed = "" if cap is None else f" of the {cap} allowed"
    return "" if counted is None else f" The server counted {counted} tokens of output{allowed}."


RULE: Rule = TraceRule(
    code="PD324",
    name="unclosed-document",
    severity=Severity.ERROR,
    stage=Stage.COMPLETE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("kekzl/imp#1199",),
)
