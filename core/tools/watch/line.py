"""A line that was written down → what it shows of a run. Runs in the sandbox, never in the proxy."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from urllib.parse import unquote

from prompt_debugger.core.base.errors import DebuggerError, RequestError, shorten
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, Api, JSONObject, Trace
from prompt_debugger.core.base.wire import endpoint_of
from prompt_debugger.core.evidence import Evidence, Form, read_evidence, trace_of
from prompt_debugger.core.evidence.taking import exchange_of
from prompt_debugger.core.sandbox import Limits, job
from prompt_debugger.core.sandbox.values import admit

_REFUSED = 400
_MODEL = re.compile(r"/models/([^/?:]{1,200}):(?:stream)?[gG]enerateContent\b")  # `/v1beta/models/NAME:generateContent`


@admit
@dataclass(frozen=True, slots=True)
class Passed:
    """An exchange as its line shows it; no trace if nothing can be read, and then the problem."""

    trace: Trace | None
    at: str = ""
    duration_ms: int = 0
    client: str = ""
    problem: str = ""


@job("reading an exchange", Limits(cpu_s=20.0, wall_s=120.0, memory_mb=2048))
def read_line(line: str) -> Passed:
    """Return what a line shows; never raises on what the two sides sent."""
    try:
        value = json.loads(line)
        facts = as_object(value.get("captured"))
        at, seconds = str(facts.get("at")), facts.get("duration_s")
        duration_ms = round(1000 * seconds) if isinstance(seconds, int | float) else 0
        if "request" not in value or "response" not in value:
            problems = facts.get("problems")
            problem = str(problems[0]) if isinstance(problems, list) and problems else "there is no whole answer"
            return Passed(None, problem=problem)
        client = str(facts.get("client") or "")
        trace = _set_api(trace_of(_evidence_of(line, value, facts.get("status"))), facts)
        return Passed(trace, at, duration_ms, client)
    except DebuggerError as error:
        return Passed(None, problem=error.message)
    except (ValueError, RecursionError, AttributeError) as error:
        return Passed(None, problem=f"it cannot be read: {error}"[:200])


def _set_api(trace: Trace, facts: JSONObject) -> Trace:
    """Return the run with the API that its address is of, and a refusal with the status that came with it."""
    api = _api_of(str(facts.get("path") or "").partition("?")[0], trace.request.api)
    request, refusal, status = trace.request, trace.refusal, facts.get("status")
    if request.api is Api.CHAT and api is Api.MESSAGES:  # a plain body is one of both
        request = replace(request, api=api, native=request.body)
    if refusal is not None and refusal.status is None and isinstance(status, int) and status >= _REFUSED:
        refusal = replace(refusal, status=status)
    named = _MODEL.search(str(facts.get("path") or ""))
    if named is not None and not request.body.get("model"):  # Gemini's bodies name none
        request = replace(request, body={**request.body, "model": unquote(named[1])})
    return replace(trace, api=api, request=request, refusal=refusal)


def _api_of(path: str, known: Api) -> Api:
    ends = ((endpoint_of(api), api) for api in (Api.CHAT, Api.RESPONSES, Api.MESSAGES))
    return next((api for end, api in ends if path.endswith(end)), known)


def _evidence_of(line: str, value: JSONObject, status: JSON) -> Evidence:
    """Return what an exchange shows; whatever came with a status of 400 or more is an error, in whatever form."""
    try:
        return read_evidence(line, Form.EXCHANGE)
    except RequestError:
        request, response = value["request"], value["response"]
        if not isinstance(status, int) or status < _REFUSED or not isinstance(request, dict):
            raise
        known = (as_object(response).get(name) for name in ("detail", "message"))
        words = next((one for one in known if isinstance(one, str) and one), None) or shorten(response)
        return exchange_of(Form.EXCHANGE, request, {"error": {"message": words, "code": status}})
