"""What was read of something pasted: which parts of a run are available, and the run that they make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from prompt_debugger.core.base.comparable import IN_LOG, KEEPS_TOKENS, MAY_BE_CONTENT, NO_BEGINNING, NO_END
from prompt_debugger.core.base.types import (
    Basis,
    ChatResult,
    Completeness,
    Completion,
    JSONObject,
    Prompt,
    PromptSpan,
    Refusal,
    Request,
    Server,
    Span,
    SpanKind,
    Trace,
)
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.formats import CONTROL_TOKEN

_OF_ANSWER = "The answer itself shows this prompt: according to the server, it is the one of this run."
# A text without its beginning: it begins with the rest of a marker or with one that only occurs within a call, or a
# line of it does that is not a whole header.
_MID_CALL = re.compile(
    r"\s*+(?:[|\uff5c]?[\w\u2581:]{0,40}[|\uff5c]>"
    r"|(?:/?[\w|]{0,40})>\s{0,4}[{\[]\s{0,4}\""
    r"|(?:(?:(?!<\|tool_call_begin).){0,400}\n(?!functions\.[\w.-]{1,80}:\d))?"
    r"(?:[\u2502\u2503|\xbb+-] ?)?(?:\d{1,5}[:|\u2502] ?|[$>%#] )?[\w.:-]{0,80}"
    r"(?:<\|tool_call_(?:argument_begin|end)|<\uff5ctool\u2581(?:sep|call\u2581end|calls\u2581end)|<\|tool_calls_section_end))",
    re.DOTALL,
)
_IN_CALL = re.compile(r"<[|\uff5c/]?tool|<function=|\[TOOL_CALLS|to=functions\.")
_ENDS = (">", "]", "}", ")")
# A turn that no model writes: the text contains the prompt, too.
_PROMPT_TURN = re.compile(
    r"[>\]]\n?(?:user|system|developer)\b(?!@)|\[INST\]|<[|\uff5c](?:user|User|system|USER)[|\uff5c_]"
)


class Part(StrEnum):
    """The parts of a run that may be at hand."""

    REQUEST = "request"
    PROMPT = "prompt"
    RAW = "raw"
    IDS = "ids"
    MESSAGE = "message"
    STREAM = "stream"
    ERROR = "error"
    FLAGS = "flags"


UNKNOWN_ID = "unknown"  # of a call that may have had one


@dataclass(frozen=True, slots=True)
class Evidence:
    """The parts of a run that were read of a pasted text; `None` where a part is not at hand.

    Attributes:
        form: What the text was taken for.
        words: The same for a person: `a chat response, 1 tool call`.
        request: The request.
        prompt: The prompt.
        is_prompt_of_answer: Whether the answer itself shows that prompt, as the one of its own run.
        prompt_tail: Its end, where no more of it is known.
        raw: The raw output.
        token_ids: Ids of the raw output.
        raw_reason: Why the raw output may not be all that the model wrote; "" where its text decides that.
        finish_reason: The server's word on the output.
        chat: The answer that was not streamed, or the message assembled from `stream`.
        stream: The answer as it was streamed.
        error: What was answered in place of a message; the words of its author.
        server: What command lines or logs show of the server: its software, its parsers; without an address.
        tools: Tools that were given together with a raw output.
        is_assumed_run: Whether raw output and answer come from one text that does not say that they belong to one run.
        run: A whole run that was saved.
        row: Which line or recorded exchange was read, from 1; 0 where there is only one thing.
        rows: How many there are.
        notes: What was left out on the way, a sentence each.
        others: The same with another answer of the text, which is shown if there is nothing wrong with the first.
    """

    form: Form
    words: str
    request: Request | None = None
    prompt: str | None = None
    is_prompt_of_answer: bool = False
    prompt_tail: str = ""
    raw: str | None = None
    token_ids: tuple[int, ...] | None = None
    raw_reason: str = ""
    finish_reason: str | None = None
    chat: ChatResult | None = None
    stream: ChatResult | None = None
    error: Refusal | None = None
    server: Server | None = None
    tools: tuple[JSONObject, ...] = ()
    is_assumed_run: bool = False
    run: Trace | None = None
    row: int = 0
    rows: int = 0
    notes: tuple[str, ...] = ()
    others: tuple[Evidence, ...] = ()

    @property
    def is_evidence(self) -> bool:
        """Whether it shows more than a request: something to read, not to run."""
        return self.run is not None or self.request is None or bool({*self.holds} - {Part.REQUEST})

    @property
    def holds(self) -> tuple[Part, ...]:
        """The parts at hand, in the order of a run."""
        trace = self.run if self.run is not None else trace_of(self)
        return parts_of(trace)


def parts_of(trace: Trace) -> tuple[Part, ...]:
    """Return which parts of a run a trace holds."""
    results = [result for result in (trace.chat, trace.chat_stream) if result is not None]
    has_ids = (trace.raw is not None and trace.raw.token_ids is not None) or any(
        result.token_ids is not None or result.prompt_token_ids is not None for result in results
    )
    shown = (
        (Part.REQUEST, bool(trace.request.body)),
        (Part.PROMPT, trace.prompt is not None or trace.local_prompt is not None or bool(trace.prompt_tail)),
        (Part.RAW, trace.raw is not None),
        (Part.IDS, has_ids),
        (Part.MESSAGE, trace.chat is not None),
        (Part.STREAM, trace.chat_stream is not None),
        (Part.ERROR, trace.refusal is not None or any(_contains_error(result) for result in results)),
        (Part.FLAGS, trace.server is not None and _shows_flags(trace.server)),
    )
    return tuple(part for part, is_there in shown if is_there)


def _shows_flags(server: Server) -> bool:
    """Return whether more is known of a server than its software, a model that a text names and its log's warnings."""
    named = server.served_models
    return server != Server(server.base_url, kind=server.kind, served_models=named, log_warnings=server.log_warnings)


def _contains_error(result: ChatResult) -> bool:
    """Return whether an answer reports an error; a stream that was copied without its end does not."""
    return result.error is not None and "ended without a finish reason" not in result.error


def trace_of(evidence: Evidence) -> Trace:
    """Return a run that contains what is available and nothing else; nothing of it has been read or checked."""
    request = evidence.request or Request({}, "")
    if evidence.tools and "tools" not in request.body:
        request = replace(request, body={**request.body, "tools": list(evidence.tools)})
    return Trace(
        request,
        server=evidence.server,
        evidence=Basis.ASSUMED_RUN if evidence.is_assumed_run else None,
        prompt=None if evidence.prompt is None else _prompt(evidence.prompt, is_of_answer=evidence.is_prompt_of_answer),
        notes=("Pasted: no server was asked.", *evidence.notes, *_stop_by_protocol(evidence)),
        refusal=evidence.error,
        raw=None if evidence.raw is None else _completion(evidence, evidence.raw),
        chat=_chat_of(evidence),
        chat_stream=evidence.stream,
        prompt_tail=evidence.prompt_tail if evidence.prompt is None else "",
    )


def _chat_of(evidence: Evidence) -> ChatResult | None:
    """Return the answer: of a stream its message, unless it contains an error and nothing else."""
    if evidence.chat is not None or evidence.stream is None:
        return evidence.chat
    return None if evidence.error is not None and not evidence.stream.message else evidence.stream


def merge(pieces: Sequence[Evidence], form: Form, words: str) -> Evidence:
    """Merge pieces of evidence that were read from one text; of two that contain the same part, the first wins.

    Args:
        pieces: In the order of the text.
        form: What the whole is.
        words: The same for a person.
    """
    whole = Evidence(form, words)
    for field in fields(Evidence):
        if field.name in ("form", "words", "notes", "others"):
            continue
        found = next((value for piece in pieces if (value := getattr(piece, field.name))), None)
        if found is not None:
            whole = replace(whole, **{field.name: found})
    warned = next((piece.server for piece in pieces if piece.server is not None and piece.server.log_warnings), None)
    if whole.server is not None and warned is not None and warned.kind == whole.server.kind:
        whole = replace(whole, server=replace(whole.server, log_warnings=warned.log_warnings))
    reason = next((piece.raw_reason for piece in pieces if piece.raw), "")  # it is about that raw output alone
    is_of_answer = next((piece.is_prompt_of_answer for piece in pieces if piece.prompt), False)  # likewise
    return replace(
        whole,
        raw_reason=reason,
        is_prompt_of_answer=is_of_answer,
        notes=tuple(dict.fromkeys(note for piece in pieces for note in piece.notes)),
    )


def add_notes(evidence: Evidence, notes: Sequence[str]) -> Evidence:
    """Return evidence with further notes."""
    return replace(evidence, notes=(*evidence.notes, *notes)) if notes else evidence


def _stop_by_protocol(evidence: Evidence) -> tuple[str, ...]:
    """Return the note that `stop` with a call is no fault, where the request names the tool."""
    result, request = _chat_of(evidence), evidence.request
    if result is None or request is None or result.finish_reason != "stop" or not result.message.get("tool_calls"):
        return ()
    if not isinstance(request.body.get("tool_choice"), dict):
        return ()
    note = (
        "finish_reason is `stop` next to a call, which is what the protocol requires if `tool_choice` names the tool."
    )
    return (note,)


def _prompt(text: str, *, is_of_answer: bool) -> Prompt:
    spans = (PromptSpan(Span(0, len(text)), SpanKind.UNKNOWN),) if text else ()
    return Prompt("server", text, spans, None, note=_OF_ANSWER if is_of_answer else "The prompt was pasted.")


def _completion(evidence: Evidence, text: str) -> Completion:
    """Return the raw output; it counts as whole if it contains control tokens or its message came with it."""
    raw = Completion(text, evidence.token_ids, evidence.finish_reason)
    if evidence.raw_reason:
        return replace(raw, completeness=Completeness.UNKNOWN, completeness_reason=evidence.raw_reason)
    is_alone = evidence.chat is None and evidence.prompt is None and not evidence.prompt_tail
    if (is_alone or evidence.is_assumed_run) and _MID_CALL.match(text) is not None:
        return replace(raw, completeness=Completeness.UNKNOWN, completeness_reason=NO_BEGINNING)
    if evidence.is_assumed_run and _IN_CALL.search(text) and not text.rstrip().endswith(_ENDS):
        return replace(raw, completeness=Completeness.UNKNOWN, completeness_reason=NO_END)
    if evidence.chat is not None:
        return raw
    if CONTROL_TOKEN.search(text):
        is_text_alone = is_alone and evidence.form is Form.OUTPUT and evidence.request is None
        is_text_alone = is_text_alone and _PROMPT_TURN.search(text) is None
        return replace(raw, completeness_reason=KEEPS_TOKENS) if is_text_alone else raw
    reason = IN_LOG if evidence.form is Form.LOG else MAY_BE_CONTENT
    return replace(raw, completeness=Completeness.UNKNOWN, completeness_reason=reason)


def content_alone(text: str, *notes: str) -> Evidence:
    """Return the content of a message as evidence."""
    return Evidence(
        Form.ANSWER,
        "the content of a message",
        chat=ChatResult({"role": "assistant", "content": text}, None),
        notes=notes,
    )


def output_alone(raw: str, notes: tuple[str, ...] = ()) -> Evidence:
    """Return a raw output as evidence."""
    return Evidence(Form.OUTPUT, f"a raw output of {len(raw):,} characters", raw=raw, notes=notes)
