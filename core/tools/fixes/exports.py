"""A run in the forms of other programs: a row of K2VV, a sample of vLLM's replay tests, a test, a span, SARIF.

What a form needs and the run lacks is a `RequestError` that says so. Secrets are taken out before (`ui.report`).

Sources: K2-Vendor-Verifier's results; vLLM, tests/parser/engine/replay_harness.py (0315caf); OpenTelemetry's semantic
conventions for generative AI 1.37; SARIF 2.1.0.
"""

from __future__ import annotations

import hashlib
import json
import pprint
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import decoded
from prompt_debugger.core.base.types import (
    JSON,
    SCHEMA_VERSION,
    ChatResult,
    Finding,
    JSONObject,
    Place,
    Prompt,
    Severity,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.report.wire import write_json
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.core.tools.fixes.forms import request_as
from prompt_debugger.core.tools.verify.answer import Answer, calls_of, row_of_answer, row_of_failure
from prompt_debugger.core.tools.verify.dataset import Row, hash_of
from prompt_debugger.core.tools.verify.judge import account_of_run
from prompt_debugger.core.tools.verify.validity import check_calls

_TEMPLATE = "chat_template.jinja"
_LINE = re.compile(r"\btemplate line (\d{1,7})\b")  # as the findings of `check` name it
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


@dataclass(frozen=True, slots=True)
class Written:
    """A text that a command wrote for another program.

    Attributes:
        form: Which form it has.
        text: The text.
        schema_version: Of this document.
    """

    form: str
    text: str
    schema_version: int = SCHEMA_VERSION


def export_run(trace: Trace, form: str) -> str:
    """Return a run in another program's form.

    Raises:
        RequestError: The run lacks what the form needs.
    """
    return EXPORTS[form](trace)


def sarif(
    findings: Sequence[Finding], *, file: str = _TEMPLATE, prompt: Prompt | None = None, version: str = ""
) -> str:
    """Return findings as SARIF, each at the template's line that wrote what it points at, where that is known."""
    codes = {one.code: one for one in findings}
    rules: list[JSON] = [
        {"id": code, "name": one.name, "shortDescription": {"text": one.name.replace("-", " ")}}
        for code, one in sorted(codes.items())
    ]
    driver: JSONObject = {"name": "Prompt Debugger", "version": version, "rules": rules}
    results: list[JSON] = [_result(one, file, prompt) for one in findings]
    document: JSONObject = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def template_line(finding: Finding, prompt: Prompt | None) -> int | None:
    """Return the template's line, from 1, that wrote what a finding points at; `None` where that is not known."""
    for one in finding.evidence if prompt is not None else ():
        for span in prompt.spans if prompt is not None else ():
            is_at = (
                one.where == "prompt"
                and one.char_span is not None
                and (span.char_span.start <= one.char_span.start < span.char_span.stop)
            )
            is_of = one.where == "request" and one.field is not None and span.field == one.field
            if (is_at or is_of) and span.template_line is not None:
                return span.template_line
    named = _LINE.search(f"{finding.title} {finding.detail}")
    return None if named is None else int(named[1])


def _result(finding: Finding, file: str, prompt: Prompt | None) -> JSONObject:
    place: JSONObject = {"artifactLocation": {"uri": file}}
    line = template_line(finding, prompt)
    place["region"] = {"startLine": line or 1}
    fix = f" {finding.fix}" if finding.fix else ""
    return {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.title} {finding.detail}{fix}".strip()},
        "locations": [{"physicalLocation": place}],
        "properties": {
            "stage": finding.stage.value,
            "certainty": finding.certainty.value,
            "lineKnown": line is not None,
        },
    }


def _sarif(trace: Trace) -> str:
    return sarif(trace.findings, prompt=trace.prompt or trace.local_prompt)


def _answer_of(trace: Trace) -> ChatResult | None:
    return trace.chat or trace.chat_stream


def _k2vv(trace: Trace) -> str:
    """Return a row of results."""
    body = trace.request.body
    row = Row(1, body, hash_of(body), {})
    account = account_of_run(trace, attempts=1)
    chat = _answer_of(trace)
    if chat is None:
        reason = "there is no answer" if trace.refusal is None else trace.refusal.message
        return write_json(row_of_failure(row, {}, reason, at=trace.started, account=account)) + "\n"
    answer = Answer(row, {}, chat, trace.started, round((chat.elapsed_s or 0.0) * 1000))
    valid: bool | None = None
    if chat.finish_reason == "tool_calls":
        tools = body.get("tools")
        valid = sandbox_of().call(check_calls, tools if isinstance(tools, list) else [], calls_of(chat)).default
    return write_json(row_of_answer(answer, valid=valid, account=account)) + "\n"


def _replay(trace: Trace) -> str:
    """Return a sample of vLLM's replay tests: the tokens as the model wrote them, and what must come of them."""
    raw, parse = trace.raw, trace.parse
    if raw is None or parse is None or raw.tokens is None:
        raise RequestError(
            "The tokens of the raw output are not known in this run.", "Run the request again with a tokenizer."
        )
    special = {} if trace.vocabulary is None else trace.vocabulary.special
    used = {token.id for token in raw.tokens}
    calls: list[JSON] = [
        {"name": call.name, "arguments": call.arguments_json if call.arguments_json is not None else call.arguments}
        for call in _calls(trace)
    ]
    tools = trace.request.body.get("tools")
    kwargs = trace.request.body.get("chat_template_kwargs")
    ids = None if trace.prompt is None else trace.prompt.token_ids
    tokens: list[JSON] = [[token.id, token.text] for token in raw.tokens]
    sample: JSONObject = {
        "id": _name(trace),
        "description": "" if trace.verdict is None else trace.verdict.sentence,
        "source": "prompt-debugger",
        "vocab": {text: number for number, text in special.items() if number in used},
        "tokens": tokens,
        "expected_reasoning": parse.parsed.reasoning,
        "expected_content": parse.parsed.content,
        "expected_tool_calls": calls,
        "tools": tools if isinstance(tools, list) else None,
        "chat_template_kwargs": kwargs if isinstance(kwargs, dict) else None,
        "prompt_token_ids": None if ids is None else list(ids),
    }
    return write_json(sample) + "\n"


def _calls(trace: Trace) -> Iterator[ToolCallAttempt]:
    for call in () if trace.parse is None else trace.parse.parsed.calls:
        if call.place is Place.BODY and call.name:
            yield call


def _pytest(trace: Trace) -> str:
    """Return a test: the parser that lost the call, offline where it is known; else the request, run again."""
    lines = ['"""No call is lost: written by Prompt Debugger from a run."""', "", "import prompt_debugger as pd", ""]
    server = trace.server
    if trace.raw is not None and server is not None and server.kind == "vllm" and server.tool_parser:
        parser = f"vllm:{server.tool_parser}" + (f"+{server.reasoning_parser}" if server.reasoning_parser else "")
        lines += [f"RAW = {_literal(trace.raw.text)}", f"TOOLS = {_literal(trace.request.body.get('tools') or [])}"]
        lines += ["", "", f"def test_{_name(trace)}():"]
        lines += [f"    parsed = pd.parse(RAW, tools=TOOLS, parsers=[{parser!r}])", ""]
        lines += ["    for name, outcome in parsed.parse.parsers.items():"]
        return "\n".join([*lines, "        assert outcome.account is not None and outcome.account.is_right, name", ""])
    url = "http://localhost:8000/v1" if server is None or server.is_lab else server.base_url
    lines += [f"REQUEST = {_literal(trace.request.body)}", "", "", f"def test_{_name(trace)}():"]
    lines += [f"    trace = pd.run(REQUEST, {url!r})", ""]
    codes = sorted({one.code for one in trace.findings if one.severity is Severity.ERROR})
    lines += [f"    assert not {{one.code for one in trace.findings}} & {{*{codes!r}}}, trace.verdict.sentence", ""]
    return "\n".join(lines)


def _literal(value: object) -> str:
    return pprint.pformat(value, width=110, sort_dicts=False)


def _name(trace: Trace) -> str:
    named = next((one.name for one in trace.findings), "every-call-is-read")
    return re.sub("[^a-z0-9]+", "_", named.lower())[:60]


def _otel(trace: Trace) -> str:
    """Return a span as OTLP JSON, findings as its events."""
    body, chat = trace.request.body, _answer_of(trace)
    messages = body.get("messages")
    attributes: dict[str, JSON] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai" if trace.server is None else trace.server.kind,
        "gen_ai.request.model": body.get("model"),
        "gen_ai.input.messages": _text([_message(one) for one in (messages if isinstance(messages, list) else [])]),
        "gen_ai.tool.definitions": _text(body["tools"]) if body.get("tools") else None,
        **{f"gen_ai.request.{name}": body.get(name) for name in ("temperature", "top_p", "max_tokens", "seed")},
    }
    if chat is not None:
        answered: JSON = [{**_message(chat.message), "finish_reason": chat.finish_reason or "unknown"}]
        attributes |= {"gen_ai.output.messages": _text(answered)}
        attributes["gen_ai.response.finish_reasons"] = [chat.finish_reason or "unknown"]
        if chat.usage is not None:
            attributes["gen_ai.usage.input_tokens"] = chat.usage.prompt_tokens
            attributes["gen_ai.usage.output_tokens"] = chat.usage.completion_tokens
    if trace.verdict is not None:
        attributes["prompt_debugger.verdict"] = trace.verdict.sentence
        attributes["prompt_debugger.dropped_calls"] = trace.verdict.dropped_calls
    key = hashlib.sha256(json.dumps(attributes, sort_keys=True).encode()).hexdigest()
    events: list[JSON] = [
        {"name": "prompt_debugger.finding", "attributes": _pairs({"code": one.code, "severity": one.severity.value,
         "stage": one.stage.value, "title": one.title, "fix": one.fix})}
        for one in trace.findings
    ]  # fmt: skip
    span: JSONObject = {
        "traceId": key[:32],
        "spanId": key[32:48],
        "name": f"chat {body.get('model') or ''}".strip(),
        "kind": 3,
        "attributes": _pairs(attributes),
        "events": events,
    }
    scope: JSONObject = {"scope": {"name": "prompt-debugger"}, "spans": [span]}
    service = _pairs({"service.name": "prompt-debugger"})
    document: JSONObject = {"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [scope]}]}
    return json.dumps(document, ensure_ascii=False) + "\n"


def _text(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)


def _message(message: JSON) -> JSONObject:
    """Return a message as the conventions write it: a role and parts."""
    if not isinstance(message, dict):
        return {"role": "user", "parts": []}
    role, content, parts = str(message.get("role") or "assistant"), message.get("content"), list[JSON]()
    if reasoning := message.get("reasoning") or message.get("reasoning_content"):
        parts.append({"type": "reasoning", "content": reasoning})
    if role == "tool":
        parts.append({"type": "tool_call_response", "id": message.get("tool_call_id"), "response": content})
    elif isinstance(content, list):
        parts += [{"type": "text", "content": one.get("text", "")} for one in content if isinstance(one, dict)]
    elif content:
        parts.append({"type": "text", "content": content})
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(function, dict):
            arguments = decoded(function.get("arguments"))
            part: JSONObject = {"type": "tool_call", "id": call.get("id"), "name": function.get("name")}
            parts.append({**part, "arguments": arguments})
    return {"role": role, "parts": parts}


def _pairs(attributes: Mapping[str, JSON]) -> list[JSON]:
    """Return attributes as OTLP writes them, those without a value left out."""
    return [{"key": key, "value": _any_value(value)} for key, value in attributes.items() if value is not None]


def _any_value(value: JSON) -> JSONObject:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_any_value(one) for one in value]}}
    return {"stringValue": str(value)}


EXPORTS: Mapping[str, Callable[[Trace], str]] = {
    "curl": lambda trace: request_as("curl", trace.request.body, trace),
    "openai-python": lambda trace: request_as("python", trace.request.body, trace),
    "k2vv": _k2vv,
    "vllm-replay": _replay,
    "pytest": _pytest,
    "otel": _otel,
    "sarif": _sarif,
}
"""By name, how a run is written."""
