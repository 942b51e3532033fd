"""What a trace lets a rule see: which prompt, how sure, how the output ended.

A rule that compares raw output with a message must ask `comparison` first:
two outputs that were sampled separately may differ without any fault. What
became of a call is the ledger's decision (`CallMatch.outcome`), never a rule's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum

from prompt_debugger.core.base.json_values import as_count, as_text
from prompt_debugger.core.base.text import clipped
from prompt_debugger.core.base.types import (
    Basis,
    CallMatch,
    CallOutcome,
    CallStatus,
    Certainty,
    Completeness,
    Fate,
    FindingEvidence,
    Place,
    Prompt,
    Segment,
    Span,
    Token,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.diagnose.endings import is_limit_word, is_normal_end
from prompt_debugger.core.diagnose.fields import CallField, body_of, calls_of_message
from prompt_debugger.core.formats import TABLES, ReasoningPair

QUOTE_CHARS = 120
# Tags around reasoning that no family here has and no reasoning parser splits: EXAONE Deep writes them.
UNREAD_THOUGHTS = (ReasoningPair("<thought>", "</thought>"),)


class TracePart(StrEnum):
    """What a trace may show, and what a rule may not do without."""

    REFUSAL = "refusal"
    SERVER = "server"
    VOCABULARY = "vocabulary"
    PROMPT = "prompt"
    RAW = "raw"
    CUT = "cut"
    REPEAT = "repeat"
    ANSWER = "answer"
    STREAM = "stream"
    RESULT = "result"
    COMPARISON = "comparison"


def parts_of_trace(trace: Trace) -> frozenset[TracePart]:
    """Return what a trace shows: stages that have run, how they ended, and whether output and answer are comparable.

    `CUT` is a raw output that a length limit ended, `REPEAT` a second one; a `RESULT` is an answer or a stream.
    """
    shown = (
        trace.refusal is not None and TracePart.REFUSAL,
        trace.server is not None and TracePart.SERVER,
        trace.vocabulary is not None and TracePart.VOCABULARY,
        prompt_of(trace) is not None and TracePart.PROMPT,
        trace.raw is not None and TracePart.RAW,
        trace.raw is not None and why_cut(trace) is not None and TracePart.CUT,
        trace.raw_again is not None and TracePart.REPEAT,
        trace.chat is not None and TracePart.ANSWER,
        trace.chat_stream is not None and TracePart.STREAM,
        (trace.chat is not None or trace.chat_stream is not None) and TracePart.RESULT,
        comparison(trace) is not None and TracePart.COMPARISON,
    )
    return frozenset(part for part in shown if part)


def prompt_of(trace: Trace) -> Prompt | None:
    """Return the prompt the model read, or our own render where no server was asked."""
    return trace.prompt if trace.prompt is not None else trace.local_prompt


def counted_beyond_render(trace: Trace) -> int:
    """Return how many tokens more a server that hides its prompt counted than our own render has; 0 if unknown.

    One more or less is a BOS, and so counts as none.
    """
    usage = None if trace.chat is None else trace.chat.usage
    ours = None if trace.local_prompt is None else trace.local_prompt.tokens
    if trace.prompt is not None or usage is None or not usage.prompt_tokens or ours is None:
        return 0
    beyond = usage.prompt_tokens - len(ours)
    return beyond if abs(beyond) > 1 else 0


def prompt_end(trace: Trace) -> str | None:
    """Return the end of the prompt, as far as any of it is known; `None` if nothing is."""
    prompt = prompt_of(trace)
    return prompt.text if prompt is not None else trace.prompt_tail or None


def asked_server(trace: Trace) -> bool:
    """Return whether a server was asked; of one that only flags or a log show, there is no address."""
    return trace.server is not None and bool(trace.server.base_url)


def was_answered(trace: Trace) -> bool:
    """Return whether a server or a template took the request: it was rendered, or an answer came and no error."""
    return trace.prompt is not None or (
        trace.chat is not None and trace.chat.error is None and bool(trace.chat.message)
    )


def comparison(trace: Trace) -> Certainty | None:
    """Say how surely raw output and chat message belong to one generation; decided in `core.base.comparable`.

    Returns:
        `OBSERVED` for one run, `INFERRED` for two runs that had to agree,
        `None` if there is nothing to compare, or nothing can be said.
    """
    if trace.chat is None or trace.parse is None or trace.parse.ledger.comparability is None:
        return None
    return trace.parse.ledger.comparability.certainty


def offline_method(trace: Trace) -> str | None:
    """Return `chat` or `generate` where the run went through that method of vLLM's `LLM`, with no server at all."""
    method = trace.sent.get("method")
    return method if isinstance(method, str) and "engine" in trace.sent else None


def is_asked_stream(trace: Trace) -> bool:
    """Return whether the streamed answer is what was asked for, and not our own repetition in addition to the answer.

    What was pasted, without a server, was someone's own answer in either form.
    """
    is_alone = trace.chat is None or bool(trace.chat.deltas)  # the answer was assembled from the stream
    return trace.request.body.get("stream") is True or is_alone or trace.server is None


def is_whole(trace: Trace) -> bool:
    """Return whether the raw text, if there is one, is all that the model wrote."""
    return trace.raw is None or trace.raw.completeness is Completeness.WHOLE


def quote(text: str, limit: int = QUOTE_CHARS) -> str:
    """Return `text`, cut to `limit` characters."""
    return clipped(text, limit)


def token_span(tokens: Sequence[Token] | None, span: Span) -> Span | None:
    """Return the tokens that touch a stretch of characters; they are in the order of the text."""
    if tokens is None:
        return None
    first = bisect_right(tokens, span.start, key=lambda token: token.char_span.stop)
    stop = bisect_left(tokens, span.stop, key=lambda token: token.char_span.start)
    return Span(first, stop) if first < stop else None


def in_prompt(prompt: Prompt, span: Span, field: str | None = None) -> FindingEvidence:
    """Return evidence at a stretch of the prompt."""
    text = quote(prompt.text[span.start : span.stop])
    return FindingEvidence(
        "prompt", char_span=span, token_span=token_span(prompt.tokens, span), field=field, quote=text
    )


def in_raw(trace: Trace, span: Span) -> FindingEvidence:
    """Return evidence at a stretch of the raw output."""
    text = "" if trace.parse is None else trace.parse.raw
    if trace.parse is None and trace.raw is not None:
        text = trace.raw.text
    tokens = None if trace.raw is None else trace.raw.tokens
    return FindingEvidence(
        "raw", char_span=span, token_span=token_span(tokens, span), quote=quote(text[span.start : span.stop])
    )


def in_message(field: str, text: str | None = None, span: Span | None = None) -> FindingEvidence:
    """Return evidence at a field of the answer."""
    return FindingEvidence("message", char_span=span, field=field, quote=None if text is None else quote(text))


def in_request(field: str, text: str | None = None) -> FindingEvidence:
    """Return evidence at a field of the request."""
    return FindingEvidence("request", field=field, quote=None if text is None else quote(text))


def body_calls(trace: Trace) -> tuple[tuple[int, ToolCallAttempt], ...]:
    """Return the calls outside reasoning that the model finished writing, with their index."""
    if trace.parse is None:
        return ()
    return tuple(
        (index, call)
        for index, call in enumerate(trace.parse.parsed.calls)
        if call.place is Place.BODY and call.status is not CallStatus.TRUNCATED
    )


def message_indices(trace: Trace) -> dict[int, int]:
    """Return the message's tool call that answers to a raw one, by the raw one's index."""
    if trace.parse is None:
        return {}
    found: dict[int, int] = {}
    for match in trace.parse.ledger.matches:
        if match.raw_index is not None and match.message_index is not None:
            found.setdefault(match.raw_index, match.message_index)
    return found


def written_as(trace: Trace) -> dict[int, ToolCallAttempt]:
    """Return the call that the model wrote for each tool call of the message that has one, by the latter's index."""
    if trace.parse is None:
        return {}
    found: dict[int, ToolCallAttempt] = {}
    for match in trace.parse.ledger.matches:
        if match.raw_index is not None and match.message_index is not None:
            found.setdefault(match.message_index, trace.parse.parsed.calls[match.raw_index])
    return found


def calls_with(trace: Trace, *outcomes: CallOutcome) -> tuple[tuple[int, ToolCallAttempt], ...]:
    """Return the written calls that met one of these outcomes, with their index."""
    if trace.parse is None:
        return ()
    calls = trace.parse.parsed.calls
    return tuple(
        (match.raw_index, calls[match.raw_index])
        for match in trace.parse.ledger.matches
        if match.raw_index is not None and match.outcome in outcomes
    )


def dropped_calls(trace: Trace) -> tuple[tuple[int, ToolCallAttempt], ...]:
    """Return the calls that were written and not returned, by the ledger's decision."""
    return calls_with(trace, CallOutcome.DROPPED)


def matched_calls(trace: Trace) -> Iterator[tuple[CallMatch, ToolCallAttempt, CallField]]:
    """Yield the calls that were both written and returned: the match, the call as written, the call as returned."""
    if trace.parse is None or trace.chat is None:
        return
    returned = {call.field: call for call in calls_of_message(trace.chat.message)}
    for match in trace.parse.ledger.matches:
        if match.raw_index is None or match.message_index is None:
            continue
        got = returned.get(f"tool_calls[{match.message_index}]")
        if got is not None:
            yield match, trace.parse.parsed.calls[match.raw_index], got


def fates_within(trace: Trace, segment: Segment) -> Iterator[tuple[Span, Fate]]:
    """Yield what became of the parts of a segment."""
    if trace.parse is None:
        return
    entries = trace.parse.ledger.entries  # they tile the output, in its order
    first = bisect_right(entries, segment.char_span.start, key=lambda entry: entry.char_span.stop)
    for index in range(first, len(entries)):
        entry = entries[index]
        start = max(entry.char_span.start, segment.char_span.start)
        stop = min(entry.char_span.stop, segment.char_span.stop)
        if start >= stop:
            return
        yield Span(start, stop), entry.fate


def max_tokens_of(trace: Trace) -> int | None:
    """Return the cap on output tokens that the request sets."""
    body = body_of(trace)
    caps = (as_count(body.get("max_completion_tokens")), as_count(body.get("max_tokens")))
    return next((cap for cap in caps if cap is not None), None)


def why_cut(trace: Trace) -> str | None:
    """Return what shows that the output was cut by a length limit; `None` if nothing does."""
    raw, chat, stream = trace.raw, trace.chat, trace.chat_stream
    if chat is not None and is_limit_word(chat.finish_reason):
        return f"finish_reason is `{chat.finish_reason}`"
    if stream is not None and is_limit_word(stream.finish_reason) and _is_same_output(trace):
        return "the stream of the same tokens has finish_reason `length`"
    cap = max_tokens_of(trace)
    count = completion_tokens(trace)
    if chat is not None and is_normal_end(chat.finish_reason) and _is_above(trace, cap, count):
        cap = None
    if cap is not None and count is not None and count >= cap and not ends_with_stop(trace):
        ending = "" if raw is None else ", and the last one is not an end token"
        return f"{count} tokens were written, max_tokens is {cap}{ending}"
    if raw is not None and raw.finish_reason == "length":
        return f"{_whose_end(trace)} ended with finish_reason `length`"
    return None


def _is_above(trace: Trace, cap: int | None, count: int | None) -> bool:
    """Return whether the server counted more than the limit allows: hidden thought, which the limit does not count."""
    is_counted = trace.raw is None or trace.raw.token_ids is None
    return is_counted and cap is not None and count is not None and count > cap + 2


def _whose_end(trace: Trace) -> str:
    """Return which run the raw output's finish reason is of."""
    if trace.chat is None and trace.chat_stream is None:
        return "the raw completion"
    if trace.evidence is Basis.SAME_RUN:
        return "a run that wrote the same tokens"
    return "a second run of the same prompt"


def completion_tokens(trace: Trace) -> int | None:
    """Return how many tokens the model wrote, by ids or by the server's accounting.

    A gateway that streams without the server's accounting may report none with an answer: that is no count.
    """
    if trace.raw is not None and trace.raw.token_ids is not None:
        return len(trace.raw.token_ids)
    is_answered = trace.chat is not None and any(text for name, text in trace.chat.message.items() if name != "role")
    for result in (trace.chat, trace.raw):
        count = None if result is None or result.usage is None else result.usage.completion_tokens
        if count is not None and (count or not is_answered):
            return count
    return None


def end_texts(trace: Trace) -> tuple[str, ...]:
    """Return the texts of the tokens that end a turn in this vocabulary."""
    vocabulary = trace.vocabulary
    if vocabulary is None:
        return ()
    texts = (vocabulary.special.get(token_id) for token_id in vocabulary.eos_ids)
    return tuple(text for text in texts if text)


def ends_with_stop(trace: Trace) -> bool:
    """Return whether the raw output ends with an end token or at a stop that was asked for."""
    raw = trace.raw
    if raw is None:
        return False
    if raw.stop_reason is not None or (trace.chat is not None and trace.chat.stop_reason is not None):
        return True
    if trace.vocabulary is not None and raw.token_ids and raw.token_ids[-1] in trace.vocabulary.eos_ids:
        return True
    return any(raw.text.endswith(text) for text in end_texts(trace))


def open_think_tail(trace: Trace) -> ReasoningPair | None:
    """Return what opens, and would close, the reasoning that the prompt leaves open; `None` if none, or unseen."""
    end = prompt_end(trace)
    if end is None:
        return None
    tail = end.rstrip()
    if body_of(trace).get("continue_final_message") is True:
        last = trace.request.messages[-1] if trace.request.messages else {}
        written = as_text(last.get("content")) or ""
        tail = tail[-len(written) :] if written else tail
        return next((pair for pair in TABLES.prompt_pairs if tail.rfind(pair.opener) > tail.rfind(pair.closer)), None)
    return next((pair for pair in TABLES.prompt_pairs if tail.endswith(pair.opener.rstrip())), None)


def is_kept_conversation(trace: Trace) -> bool:
    """Return whether messages and answer are what a program kept of a conversation: no request of it is known."""
    return trace.chat is not None and "model" not in trace.request.body and not asked_server(trace)


def opens_with_thought(text: str) -> ReasoningPair | None:
    """Return the tags of the reasoning block that a raw output begins with; `None` if it begins with none."""
    begin = text.lstrip()
    return next((pair for pair in (*TABLES.reasoning_pairs, *UNREAD_THOUGHTS) if begin.startswith(pair.opener)), None)


def _is_same_output(trace: Trace) -> bool:
    chat, stream = trace.chat, trace.chat_stream
    if chat is None or stream is None:
        return False
    return chat.token_ids is not None and chat.token_ids == stream.token_ids
