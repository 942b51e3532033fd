"""The outside contract: values → the JSON that scripts and trackers rely on.

Add fields freely, rename and remove none, and raise `SCHEMA_VERSION` if a
meaning must change. Sampling of keys happens nowhere else: what is here is the
contract, what is not here is not promised.
"""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.report.writers.json_reading import reading_to_json, span_to_json
from prompt_debugger.core.types import (
    JSON,
    SCHEMA_VERSION,
    Branch,
    ChatResult,
    Completion,
    Finding,
    FindingEvidence,
    JSONObject,
    Notice,
    Parse,
    Prompt,
    PromptDifference,
    PromptSpan,
    Refusal,
    Request,
    Server,
    TemplateKwarg,
    Token,
    TokenLogprob,
    Trace,
    Usage,
    Verdict,
)


def trace_to_json(trace: Trace) -> JSONObject:
    """Return the `run` document of the contract."""
    findings = [finding_to_json(finding) for finding in trace.findings]
    prompt = None if trace.prompt is None else prompt_to_json(trace.prompt)
    local = None if trace.local_prompt is None else prompt_to_json(trace.local_prompt)
    parse = None
    if trace.parse is not None:
        parse = parse_to_json(trace.parse, findings=trace.findings)
    return {
        "schema_version": SCHEMA_VERSION,
        "evidence": None if trace.evidence is None else trace.evidence.value,
        "server": None if trace.server is None else _server(trace.server),
        "request": dict(trace.request.body),
        "request_notices": [_notice(notice) for notice in trace.request.notices],
        "sent": dict(trace.sent),
        "prompt": prompt,
        "local_prompt": local,
        "prompt_difference": None if trace.prompt_difference is None else _difference(trace.prompt_difference),
        "notes": list(trace.notes),
        "refusal": None if trace.refusal is None else _refusal(trace.refusal),
        "raw": None if trace.raw is None else _completion(trace.raw),
        "raw_again": None if trace.raw_again is None else _completion(trace.raw_again),
        "chat": None if trace.chat is None else _chat(trace.chat),
        "chat_stream": None if trace.chat_stream is None else _chat(trace.chat_stream),
        "parse": parse,
        "findings": list(findings),
        "verdict": None if trace.verdict is None else verdict_to_json(trace.verdict),
        "error": None,
    }


def prompt_to_json(prompt: Prompt, *, case_id: JSON = None, findings: tuple[Finding, ...] = ()) -> JSONObject:
    """Return the `render` document of the contract."""
    return {
        "schema_version": SCHEMA_VERSION,
        "id": case_id,
        "source": prompt.source,
        "text": prompt.text,
        "identical": prompt.identical,
        "effective_kwargs": dict(prompt.effective_kwargs),
        "kwargs": [_kwarg(kwarg) for kwarg in prompt.kwargs],
        "parser_kwargs": {one.name: one.value for one in prompt.kwargs if one.reaches_parser},
        "unread": list(prompt.unread),
        "branches": [_branch(branch) for branch in prompt.branches],
        "spans": [_prompt_span(span) for span in prompt.spans],
        "tokens": None if prompt.tokens is None else [_token(token) for token in prompt.tokens],
        "note": prompt.note,
        "findings": [finding_to_json(finding) for finding in findings],
        "error": None,
    }


def parse_to_json(parse: Parse, *, case_id: JSON = None, findings: tuple[Finding, ...] = ()) -> JSONObject:
    """Return the `parse` document of the contract."""
    return {
        "schema_version": SCHEMA_VERSION,
        "id": case_id,
        **reading_to_json(parse),
        "findings": [finding_to_json(finding) for finding in findings],
        "error": None,
    }


def finding_to_json(finding: Finding) -> JSONObject:
    """Return one finding of the contract."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "stage": finding.stage.value,
        "title": finding.title,
        "detail": finding.detail,
        "evidence": [_evidence(item) for item in finding.evidence],
        "fix": finding.fix,
        "links": list(finding.links),
        "certainty": finding.certainty.value,
        "follows": finding.follows,
    }


def verdict_to_json(verdict: Verdict) -> JSONObject:
    """Return the verdict of the contract."""
    return {
        "dropped_calls": verdict.dropped_calls,
        "altered_calls": verdict.altered_calls,
        "invented_calls": verdict.invented_calls,
        "stage": None if verdict.stage is None else verdict.stage.value,
        "sentence": verdict.sentence,
        "conclusion": verdict.conclusion.value,
    }


def request_to_json(request: Request) -> JSONObject:
    """Return what was read of a pasted request."""
    return {
        "source": request.source,
        "base_url": request.base_url,
        "body": dict(request.body),
        "notices": [_notice(notice) for notice in request.notices],
    }


def _notice(notice: Notice) -> JSONObject:
    return {"field": notice.field, "message": notice.message, "line": notice.line, "column": notice.column}


def _prompt_span(span: PromptSpan) -> JSON:
    return {
        "char_span": span_to_json(span.char_span),
        "kind": span.kind.value,
        "field": span.field,
        "field_span": span_to_json(span.field_span),
        "template_line": span.template_line,
        "template_column": span.template_column,
    }


def _branch(branch: Branch) -> JSON:
    return {
        "line": branch.line,
        "column": branch.column,
        "end_line": branch.end_line,
        "kind": branch.kind,
        "expression": branch.expression,
        "runs": branch.runs,
        "skips": branch.skips,
    }


def _kwarg(kwarg: TemplateKwarg) -> JSON:
    return {
        "name": kwarg.name,
        "value": kwarg.value,
        "source": kwarg.source.value,
        "field": kwarg.field,
        "read": kwarg.read,
        "mentioned": kwarg.mentioned,
        "reaches_template": kwarg.reaches_template,
        "reaches_parser": kwarg.reaches_parser,
        "overrides": [{"source": source.value, "value": value} for source, value in kwarg.overrides],
    }


def _token(token: Token) -> JSON:
    return {
        "id": token.id,
        "text": token.text,
        "char_span": span_to_json(token.char_span),
        "kind": token.kind.value,
        "bytes": token.piece.hex(),
        "field": token.field,
        "template_line": token.template_line,
        "injected": token.injected,
    }


def _difference(difference: PromptDifference) -> JSONObject:
    return {
        "first_token": difference.first_token,
        "first_char": difference.first_char,
        "server": difference.server,
        "local": difference.local,
        "cause": difference.cause,
    }


def _usage(usage: Usage | None) -> JSON:
    if usage is None:
        return None
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
    }


def _logprobs(logprobs: tuple[TokenLogprob, ...] | None) -> JSON:
    if logprobs is None:
        return None
    return [
        {
            "text": item.text,
            "token_id": item.token_id,
            "logprob": item.logprob,
            "top": [[text, logprob] for text, logprob in item.top],
        }
        for item in logprobs
    ]


def _ids(token_ids: tuple[int, ...] | None) -> JSON:
    return None if token_ids is None else list(token_ids)


def _refusal(refusal: Refusal) -> JSONObject:
    return {"status": refusal.status, "message": refusal.message, "field": refusal.field}


def _completion(completion: Completion) -> JSONObject:
    return {
        "text": completion.text,
        "token_ids": _ids(completion.token_ids),
        "finish_reason": completion.finish_reason,
        "stop_reason": completion.stop_reason,
        "evidence": completion.evidence.value,
        "usage": _usage(completion.usage),
        "logprobs": _logprobs(completion.logprobs),
        "constraint": completion.constraint,
        "completeness": completion.completeness.value,
        "completeness_reason": completion.completeness_reason,
        "elapsed_s": completion.elapsed_s,
        "tokens": None if completion.tokens is None else [_token(token) for token in completion.tokens],
    }


def _chat(chat: ChatResult) -> JSONObject:
    return {
        "message": dict(chat.message),
        "finish_reason": chat.finish_reason,
        "stop_reason": chat.stop_reason,
        "token_ids": _ids(chat.token_ids),
        "prompt_token_ids": _ids(chat.prompt_token_ids),
        "prompt_text": chat.prompt_text,
        "usage": _usage(chat.usage),
        "logprobs": _logprobs(chat.logprobs),
        "deltas": [
            {
                "delta": dict(delta.delta),
                "token_ids": _ids(delta.token_ids),
                "finish_reason": delta.finish_reason,
                "at_s": delta.at_s,
            }
            for delta in chat.deltas
        ],
        "elapsed_s": chat.elapsed_s,
        "error": chat.error,
    }


def _server(server: Server) -> JSONObject:
    kwargs: Mapping[str, JSON] = server.default_template_kwargs
    return {
        "base_url": server.base_url,
        "kind": server.kind,
        "version": server.version,
        "model": server.model,
        "model_root": _name(server.model_root) if server.is_lab else server.model_root,
        "max_model_len": server.max_model_len,
        "tool_parser": server.tool_parser,
        "reasoning_parser": server.reasoning_parser,
        "has_reasoning_parser": server.has_reasoning_parser,
        "default_template_kwargs": dict(kwargs),
        "features": [*sorted(server.features)],
        "is_lab": server.is_lab,
    }


def _name(path: str | None) -> str | None:
    """Return the last part of a path: where the lab's model lies on this machine is nobody's business."""
    return None if path is None else path.rstrip("/").rsplit("/", 1)[-1]


def _evidence(item: FindingEvidence) -> JSON:
    evidence: JSONObject = {"in": item.where}
    if item.char_span is not None:
        evidence["char_span"] = span_to_json(item.char_span)
    if item.token_span is not None:
        evidence["token_span"] = span_to_json(item.token_span)
    if item.field is not None:
        evidence["field"] = item.field
    if item.quote is not None:
        evidence["quote"] = item.quote
    return evidence
