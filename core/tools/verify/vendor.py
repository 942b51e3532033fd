"""Checks of a vendor besides those of its tool calls, by the published definitions of Kimi's vendor verifier (KVV).

    parameter   {"id", "request", "expected_status": 400}       a value that must not be set is refused with 400
    tokens      {"id", "request", "expected_prompt_tokens": n}  streamed; n to n+3 prompt tokens are right
    schema      {"id", "schema": {…}}, or a bare JSON Schema    a forced call of one tool has arguments that pass it

A case that fails for load, time or connection says nothing of the vendor: `infra_error`.

Source: MoonshotAI/Kimi-Vendor-Verifier at 3dad65a, 2026-08-13: tests/params, tests/prompt_tokens and
tests/tool_call_json_schema.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from prompt_debugger.core.base.errors import BackendError, RequestError
from prompt_debugger.core.base.files import read_named
from prompt_debugger.core.base.types import JSON, ChatResult, JSONObject
from prompt_debugger.core.complete import ServerClient, is_passing
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.core.tools.verify.answer import calls_of
from prompt_debugger.core.tools.verify.validity import check_calls

Suite = Literal["parameter", "tokens", "schema"]
Status = Literal["passed", "failed", "infra_error"]
TOOL = "kvv_walle_case"
TOLERANCE = 3  # tokens that a server may count more, for its own end of turn
_THINKING: Mapping[str, tuple[JSONObject, JSONObject]] = {
    "kimi": ({"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
    "opensource": ({"chat_template_kwargs": {"thinking": True}}, {"chat_template_kwargs": {"thinking": False}}),
    "none": ({}, {}),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One question, and what has to come: a status, or prompt tokens; `None` for a schema."""

    suite: Suite
    id: str
    mode: str
    request: JSONObject
    expected: int | None = None
    schema: JSONObject | None = None


class Checked(NamedTuple):
    """What came of a case."""

    case: Case
    status: Status
    answer: str


def parameter_cases(parameters: Mapping[str, JSON], think_mode: str) -> Iterator[Case]:
    """Yield a case for each value that must not be set, with thinking on and off.

    The mode says how thinking is set: `kimi`, `opensource` or `none`.
    """
    names = ("thinking", "non-thinking") if think_mode != "none" else ("as-it-is",)
    for name, value in parameters.items():
        for mode, fields in zip(names, _THINKING[think_mode], strict=False):
            request: JSONObject = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 16, **fields}
            yield Case("parameter", name, mode, {**request, name: value}, expected=400)


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file, one per line.

    Raises:
        RequestError: It cannot be read, or a line is not a case; says which.
    """
    try:
        lines = read_named(str(path)).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise RequestError(f"Cannot read {str(path)!r}: {error}", field="--cases") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value: JSON = json.loads(line)
            except RecursionError:
                raise RequestError(
                    f"The values of line {number} of {str(path)!r} are nested too deeply.", line=number
                ) from None
            except ValueError as error:
                raise RequestError(f"Line {number} of {str(path)!r} is not JSON: {error}", line=number) from None
            if not isinstance(value, dict):
                raise RequestError(f"Line {number} of {str(path)!r} is not a JSON object.", line=number)
            yield from _cases_of(value, str(value.get("id") or number))


def _cases_of(value: JSONObject, name: str) -> Iterator[Case]:
    request, status, tokens = value.get("request"), value.get("expected_status"), value.get("expected_prompt_tokens")
    if isinstance(request, dict) and isinstance(tokens, int):
        yield Case("tokens", name, "streamed", request, expected=tokens)
    elif isinstance(request, dict):
        yield Case("parameter", name, "as-it-is", request, expected=status if isinstance(status, int) else 400)
    else:
        schema = value.get("schema", value)
        yield from _schema_cases(schema if isinstance(schema, dict) else {}, name)


def _schema_cases(schema: JSONObject, name: str) -> Iterator[Case]:
    """Yield a forced call of one tool whose only argument has the schema, whole and streamed."""
    parameters: JSONObject = {
        "type": "object",
        "properties": {"value": _drop_defaults(schema)},
        "required": ["value"],
        "additionalProperties": False,
    }
    if isinstance(schema.get("$defs"), dict):
        parameters["$defs"] = schema["$defs"]  # its references point there
    function: JSONObject = {"name": TOOL, "description": "Takes a value.", "parameters": parameters, "strict": True}
    request: JSONObject = {
        "messages": [{"role": "user", "content": f"Call {TOOL} with a value that its schema allows."}],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "required",
        "max_tokens": 2048,
    }
    for mode in ("whole", "streamed"):
        yield Case("schema", name, mode, {**request, "stream": mode == "streamed"}, schema=parameters)


def _drop_defaults(value: JSON) -> JSON:
    if isinstance(value, list):
        return [_drop_defaults(one) for one in value]
    if isinstance(value, dict):
        return {key: _drop_defaults(one) for key, one in value.items() if key != "default"}
    return value


async def check_vendor(
    client: ServerClient, cases: Iterable[Case], *, model: str | None, concurrency: int = 8
) -> list[Checked]:
    """Ask every case, so many at once, and return what came, in their order; without a model each names its own."""
    places = asyncio.Semaphore(concurrency)

    async def check(case: Case) -> Checked:
        request = {**case.request, **({} if model is None else {"model": model})}
        async with places:
            try:
                is_stream = case.suite == "tokens" or request.get("stream") is True
                chat = await (client.chat_stream(request) if is_stream else client.chat(request))
            except BackendError as error:
                return _check_failure(case, error)
        return await _check_answer(case, chat)

    return list(await asyncio.gather(*(check(case) for case in cases)))


def report_of(checked: Sequence[Checked]) -> JSONObject:
    """Return the report: totals as KVV's, and each case."""
    cases: list[JSON] = [
        {"suite": one.case.suite, "id": one.case.id, "mode": one.case.mode, "status": one.status, "said": one.answer}
        for one in checked
    ]
    by_suite = Counter((one.case.suite, one.status) for one in checked)
    return {
        "schema_version": 1,
        "total": len(checked),
        "by_status": {name: sum(one.status == name for one in checked) for name in ("passed", "failed", "infra_error")},
        "by_mode": dict(Counter(one.case.mode for one in checked)),
        "by_suite": {
            suite: {name: by_suite[suite, name] for name in ("passed", "failed", "infra_error")}
            for suite in ("parameter", "tokens", "schema")
        },
        "cases": cases,
    }


def _check_failure(case: Case, error: BackendError) -> Checked:
    if is_passing(error):
        return Checked(case, "infra_error", error.message)
    if case.suite == "parameter":
        is_right = error.status == case.expected
        return Checked(case, "passed" if is_right else "failed", "" if is_right else f"refused with {error.status}")
    return Checked(case, "failed", error.message)


async def _check_answer(case: Case, chat: ChatResult) -> Checked:
    if chat.error is not None:
        return Checked(case, "infra_error", chat.error)
    if case.suite == "parameter":
        return Checked(case, "failed", f"it was answered instead of being refused with {case.expected}")
    if case.suite == "tokens":
        return _check_tokens(case, None if chat.usage is None else chat.usage.prompt_tokens)
    calls, tools = calls_of(chat), case.request["tools"]
    validity = await sandbox_of().run(check_calls, tools if isinstance(tools, list) else [], calls)
    if validity.draft_2020:
        return Checked(case, "passed", "")
    return Checked(case, "failed", "the arguments do not match the schema" if calls else "there is no call")


def _check_tokens(case: Case, found: int | None) -> Checked:
    expected = case.expected or 0
    if found is None:
        return Checked(case, "failed", "the server does not report prompt tokens")
    is_right = expected <= found <= expected + TOLERANCE
    return Checked(case, "passed" if is_right else "failed", "" if is_right else f"{found} tokens, not {expected}")
