"""Returned arguments break the schema that the tool declares.

What it finds:
    Arguments of a returned call that decode to JSON and fail validation against
    the tool's parameters. If what the model wrote fails as well, the model did
    it; if only the returned arguments fail, the parser did. It says which values are
    right but for their type: JSON given as text, or a number for a text. Silent where the
    schema itself cannot be used, and for calls that were cut.

Why it matters:
    The tool fails, or works on wrong values. Which of model and parser is to
    blame decides what to change.

Bad:
    Schema `{"required": ["city"]}`, arguments `{"town": "Paris"}`

Good:
    `{"city": "Paris"}`

Source:
    publisher: Kimi K2 report on the vLLM blog, 2025-10-28 (30 of 248 calls).
    tracker: vllm-project/vllm#55558, vllm-project/vllm#41739.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence

from prompt_debugger.core.base.json_values import as_list, as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import (
    JSON,
    CallStatus,
    Finding,
    FindingEvidence,
    JSONObject,
    Severity,
    Stage,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.diagnose.advice import Step, strict_tools
from prompt_debugger.core.diagnose.fields import request_tools, returned_calls
from prompt_debugger.core.diagnose.fixes import RequestFix
from prompt_debugger.core.diagnose.output_limit import more_output
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.schemas import Violation, may_take_long, violations
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_raw, why_cut, written_as
from prompt_debugger.core.diagnose.words import kind_of_value, listed

_CONVERT = Step(
    "Convert by the tool's schema in the client. Where a notation has no types (the tags of GLM, Qwen3-Coder, "
    "MiniMax), the server's parser converts by the schema: update the server, and declare a plain `type`, since some "
    "parsers find none in a union, `anyOf` or `$ref`."
)
_FROM_RAW = Step(
    "Take the arguments from the raw output: the model wrote them right. Report it to the parser's authors."
)
_OF_TYPE = re.compile(r" is not of type '(?P<type>\w+)'\Z")
_CHANGED = "What the model wrote is valid; the parser changed it."
_AS_CODE = {"object": ("{", "}", "an object"), "array": ("[", "]", "a list")}


def find(trace: Trace) -> Iterator[Report]:
    """Validate every returned call of a known tool."""
    schemas = {tool.name: (tool.field, tool.parameters) for tool in request_tools(trace.request)}
    origins, calls = written_as(trace), returned_calls(trace)
    last = len(calls) - 1
    for index, call in enumerate(calls):
        field, schema = schemas.get(call.name or "", ("", None))
        arguments = decode_json(as_text(call.arguments) or "")
        written = origins.get(index)
        if not isinstance(arguments, dict) or (written is not None and written.status is CallStatus.TRUNCATED):
            continue
        broken = violations(arguments, schema)
        if not broken:
            continue
        path = f"{call.field}.function.arguments"
        cut = _why_closed(trace, broken) if written is None and index == last else None
        blame = _blame(written, schema) if cut is None else _closed(cut)
        retyped = _retyped(arguments, broken, schema)
        evidence = [in_message(path, as_text(call.arguments)), FindingEvidence("request", field=f"{field}.parameters")]
        if written is not None:
            evidence.append(in_raw(trace, written.arguments_span or written.char_span))
        yield Report(
            title=f"The arguments of the call to `{call.name}` violate the tool's schema.",
            detail="; ".join(f"{item.path}: {item.message[:160]}" for item in broken[:3])
            + f". {blame}{retyped and f' {retyped}'}",
            evidence=tuple(evidence),
            stage=None if cut is None else Stage.COMPLETE,
            fix=(
                *([] if cut is None else [more_output(trace)]),
                *([_FROM_RAW] if blame == _CHANGED else _way(trace, is_retyped=bool(retyped))),
            ),
        )


def _way(trace: Trace, *, is_retyped: bool) -> Iterator[Step]:
    if is_retyped:
        yield _CONVERT
    yield from strict_tools(trace)
    if not is_retyped:
        yield Step("Name required properties first, and describe them better.")


def _retyped(arguments: JSONObject, broken: Sequence[Violation], schema: JSON) -> str:
    """Say which values have the wrong type alone: with the right one, all of them fit."""
    wrong: dict[str, str] = {}
    for item in broken:
        found = _OF_TYPE.search(item.message)
        wrong[item.path.removeprefix("$.")] = "" if found is None else found["type"]
    if not wrong.keys() <= arguments.keys():
        return ""
    texts = {name: value for name in wrong if isinstance(value := arguments[name], str)}
    if not texts:
        return _not_texts(arguments, wrong)
    decoded = {name: decode_json(value) for name, value in texts.items()}
    is_json = None not in decoded.values() and len(texts) == len(wrong)
    if is_json and may_take_long(schema):  # each check has its own limit of time, and this one would have none
        return f"{capitalized(_values(list(wrong)))} as text that is JSON."
    if is_json and not violations({**arguments, **decoded}, schema):
        fits = "it fits" if len(wrong) == 1 else "they fit"
        return f"{capitalized(_values(list(wrong)))} as text: decoded once more, {fits}."
    name, value = next(iter(texts.items()))
    unescaped = decode_json(value.replace('\\"', '"'))
    if isinstance(unescaped, dict | list):
        return f"The value of `{name}` is JSON as text, with its quotation marks escaped once more."
    opener, closer, kind = _AS_CODE.get(wrong[name], ("", "", ""))
    if opener and value.strip().startswith(opener) and value.strip().endswith(closer):
        return f"The value of `{name}` is {kind} that is not written as JSON, and was handed on as text."
    return ""


def _not_texts(arguments: JSONObject, wrong: Mapping[str, str]) -> str:
    """Say which values are numbers or the like where the schema asks for a text."""
    if set(wrong.values()) != {"string"}:
        return ""
    return f"The schema asks for text, and {_values(list(wrong))} as {kind_of_value(arguments[next(iter(wrong))])}."


def _values(names: Sequence[str]) -> str:
    return f"the value{'s' if len(names) > 1 else ''} of {listed(names, 3)} {'are' if len(names) > 1 else 'is'} given"


def _why_closed(trace: Trace, broken: Sequence[Violation]) -> str | None:
    """Return what shows that a limit ended the output within the last call; only what is absent can come of that."""
    is_short = all(item.message.endswith("is a required property") for item in broken)
    return why_cut(trace) if is_short else None


def _closed(cut: str) -> str:
    """Say that a limit ended the output within the call, or may have: gateways close what is incomplete."""
    return f"The output was cut: {cut}. A server or gateway may have closed the arguments where it ended."


def _blame(written: ToolCallAttempt | None, schema: JSON) -> str:
    if written is None or written.arguments_json is None:
        return "What the model wrote is unknown."
    if violations(written.arguments_json, schema):
        return "The model wrote them this way."
    return _CHANGED


def _strict_tools(trace: Trace, _: Finding) -> JSONObject:
    body = copy.deepcopy(trace.request.body)
    for tool in as_list(body.get("tools")):
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict):
            function["strict"] = True
    return body


RULE: Rule = TraceRule(
    code="PD502",
    name="arguments-violate-schema",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    threads=(
        "vllm-project/vllm-project.github.io#110",
        "vllm-project/vllm#55558",
        "vllm-project/vllm#41739",
    ),
    fixes=(RequestFix("strict tools", _strict_tools),),
)
