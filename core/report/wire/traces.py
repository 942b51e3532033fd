"""Values of `core.base.types` → the documents of the outside contract, and back."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import cast

from prompt_debugger.core.base.account import count_characters, outcomes_of_calls, tally_parsers
from prompt_debugger.core.base.types import (
    JSON,
    Api,
    ChatResult,
    Completion,
    Finding,
    FormatScore,
    JSONObject,
    Ledger,
    Parse,
    ParsedMessage,
    ParserOutcome,
    Prompt,
    Request,
    Server,
    ToolCallAttempt,
    Trace,
    VllmOutcome,
)
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.report.wire.documents import CallRecord, ParseDocument, RenderDocument, RunDocument
from prompt_debugger.core.report.wire.form import dump_document, load_document, write_document, write_line


def trace_to_json(trace: Trace, *, whole: bool = False) -> JSONObject:
    """Return the `run` document of the contract; with `whole`, also what only a bundle needs to give the trace back."""
    return dump_document(_run_document(trace, whole=whole))


def trace_to_line(trace: Trace) -> str:
    """Return the whole `run` document as one line of JSON."""
    return write_document(_run_document(trace, whole=True))


def prompt_to_json(prompt: Prompt, *, findings: tuple[Finding, ...] = ()) -> JSONObject:
    """Return the `render` document of the contract."""
    return dump_document(_render_document(prompt, findings))


def parse_to_json(
    parse: Parse, *, case_id: JSON = None, findings: tuple[Finding, ...] = (), notes: tuple[str, ...] = ()
) -> JSONObject:
    """Return the `parse` document of the contract."""
    return dump_document(_parse_document(parse, case_id, findings, notes))


def parse_to_line(
    parse: Parse, *, case_id: JSON = None, findings: tuple[Finding, ...] = (), notes: tuple[str, ...] = ()
) -> str:
    """Return the `parse` document as one line of a file; its id is what the case has, whatever that is."""
    if case_id is None or type(case_id) in (str, int):
        return write_document(_parse_document(parse, case_id, findings, notes))
    return write_line({**parse_to_json(parse, findings=findings, notes=notes), "id": case_id})


def trace_from_json(document: JSON) -> Trace:
    """Return the trace that a whole `run` document was made from; trusts nothing in it.

    Raises:
        DamageError: It is no such document; says where.
    """
    return _trace(load_document(document, RunDocument))


# --- value → document --------------------------------------------------------------


def _run_document(trace: Trace, *, whole: bool) -> RunDocument:
    request, parse = trace.request, trace.parse
    return RunDocument(
        evidence=trace.evidence,
        server=trace.server if whole else _drop_folder(trace.server),
        request=request.body,
        request_notices=request.notices,
        sent=trace.sent,
        prompt=None if trace.prompt is None else _render_document(trace.prompt, whole=whole),
        local_prompt=None if trace.local_prompt is None else _render_document(trace.local_prompt, whole=whole),
        prompt_difference=trace.prompt_difference,
        generation_prompt=trace.generation_prompt,
        notes=trace.notes,
        refusal=trace.refusal,
        raw=trace.raw if whole else _drop_body(trace.raw),
        raw_again=trace.raw_again if whole else _drop_body(trace.raw_again),
        chat=trace.chat if whole else _drop_received(trace.chat),
        chat_stream=trace.chat_stream if whole else _drop_received(trace.chat_stream),
        chat_whole=trace.chat_whole if whole else _drop_received(trace.chat_whole),
        parse=None if parse is None else _parse_document(parse, None, trace.findings, whole=whole),
        findings=trace.findings,
        verdict=trace.verdict,
        title=trace.title,
        started=trace.started,
        prompt_tail=trace.prompt_tail,
        request_text=request.text if whole else None,
        request_source=request.source if whole else None,
        request_base_url=request.base_url if whole else None,
        vocabulary=trace.vocabulary if whole else None,
        api=trace.api,
        sent_native=trace.sent_native,
        lost=trace.lost,
        request_api=None if request.api is Api.CHAT else request.api,
        request_native=request.native,
        server_grammar=trace.server_grammar,
    )


def _render_document(prompt: Prompt, findings: tuple[Finding, ...] = (), *, whole: bool = False) -> RenderDocument:
    return RenderDocument(
        source=prompt.source,
        text=prompt.text,
        identical=prompt.identical,
        effective_kwargs=prompt.effective_kwargs,
        kwargs=prompt.kwargs,
        parser_kwargs={one.name: one.value for one in prompt.kwargs if one.reaches_parser},
        unread=prompt.unread,
        branches=prompt.branches,
        spans=prompt.spans,
        tokens=prompt.tokens,
        note=prompt.note,
        proof=prompt.proof,
        findings=findings,
        template=prompt.template if whole else None,
    )


def _parse_document(
    parse: Parse,
    case_id: JSON = None,
    findings: tuple[Finding, ...] = (),
    notes: tuple[str, ...] = (),
    *,
    whole: bool = False,
) -> ParseDocument:
    parsed, ledger, stream = parse.parsed, parse.ledger, parse.stream_ledger
    formats = parse.format_scores
    scores = {name: score.score for name, score in formats.items()}
    evidence = {name: formats[name].evidence for name, score in scores.items() if whole or score > 0}
    return ParseDocument(
        id=case_id,
        raw=parse.raw,
        format=parsed.format,
        format_scores=scores,
        format_evidence=evidence,
        reasoning=parsed.reasoning,
        content=parsed.content,
        calls=_calls(parse),
        compared=ledger.comparability,
        characters=count_characters(parse.raw, ledger),
        ledger=ledger.entries,
        matches=ledger.matches,
        invented=ledger.invented,
        stream_ledger=None if stream is None else stream.entries,
        stream_matches=() if stream is None else stream.matches,
        stream_invented=() if stream is None else stream.invented,
        stream_compared=None if stream is None else stream.comparability,
        parsers=parse.parsers if whole else {name: _drop_trials(one) for name, one in parse.parsers.items()},
        parser_tally=tally_parsers(parse.parsers),
        findings=findings,
        notes=notes,
        segments=parsed.segments if whole else None,
        strippable=parsed.strippable if whole else None,
    )


_call_values = attrgetter(*(field.name for field in fields(ToolCallAttempt)))


def _calls(parse: Parse) -> tuple[CallRecord, ...]:
    outcomes = outcomes_of_calls(parse)
    return tuple(
        [CallRecord(*_call_values(call), outcome=outcomes[index]) for index, call in enumerate(parse.parsed.calls)]
    )


def _drop_body(raw: Completion | None) -> Completion | None:
    return None if raw is None else replace(raw, body="")


def _drop_received(chat: ChatResult | None) -> ChatResult | None:
    return None if chat is None else replace(chat, body="", prompt_logprobs=None)


def _drop_trials(outcome: ParserOutcome) -> ParserOutcome:
    if not isinstance(outcome, VllmOutcome):
        return outcome
    return replace(outcome, smallest_split=(), trials=(), parting=None)  # `splits` of the command line has them


def _drop_folder(server: Server | None) -> Server | None:
    """Return the lab's server without the folder of its model, which is no one's business."""
    if server is None or not server.is_lab or server.model_root is None:
        return server
    return replace(server, model_root=server.model_root.rstrip("/").rsplit("/", 1)[-1])


# --- document → value --------------------------------------------------------------


def _trace(document: RunDocument) -> Trace:
    source = document.request_source or "json"
    return Trace(
        request=Request(
            document.request,
            document.request_text or "",
            source,
            document.request_base_url,
            document.request_notices,
            document.request_api or Api.CHAT,
            document.request_native,
        ),
        sent=document.sent,
        server=document.server,
        evidence=document.evidence,
        prompt=None if document.prompt is None else _prompt(document.prompt),
        local_prompt=None if document.local_prompt is None else _prompt(document.local_prompt),
        prompt_difference=document.prompt_difference,
        generation_prompt=document.generation_prompt,
        vocabulary=document.vocabulary,
        notes=document.notes,
        refusal=document.refusal,
        prompt_tail=document.prompt_tail,
        raw=document.raw,
        raw_again=document.raw_again,
        chat=document.chat,
        chat_stream=document.chat_stream,
        chat_whole=document.chat_whole,
        parse=None if document.parse is None else _parse(document.parse),
        findings=document.findings,
        verdict=document.verdict,
        title=document.title,
        started=document.started,
        api=document.api,
        sent_native=document.sent_native,
        lost=document.lost,
        server_grammar=document.server_grammar,
    )


def _prompt(document: RenderDocument) -> Prompt:
    return Prompt(
        source=document.source,
        text=document.text,
        spans=document.spans,
        tokens=document.tokens,
        identical=document.identical,
        effective_kwargs=document.effective_kwargs,
        unread=document.unread,
        template=document.template,
        note=document.note,
        branches=document.branches,
        kwargs=document.kwargs,
        proof=document.proof,
    )


def _parse(document: ParseDocument) -> Parse:
    stream = None
    if document.stream_ledger is not None:
        stream = Ledger(
            document.stream_ledger, document.stream_matches, document.stream_invented, document.stream_compared
        )
    evidence = document.format_evidence
    return Parse(
        raw=document.raw,
        format_scores={
            name: FormatScore(score, evidence.get(name, "")) for name, score in document.format_scores.items()
        },
        parsed=ParsedMessage(
            format=document.format,
            reasoning=document.reasoning,
            content=document.content,
            calls=tuple(ToolCallAttempt(*_call_values(call)) for call in document.calls),
            segments=document.segments or (),
            strippable=document.strippable or (),
        ),
        ledger=Ledger(document.ledger, document.matches, document.invented, document.compared),
        stream_ledger=stream,
        parsers=cast("dict[str, ParserOutcome]", document.parsers),
    )
