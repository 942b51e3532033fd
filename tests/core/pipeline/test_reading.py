"""A run is read in the sandbox: hostile schemas and outputs end there, and say so."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest

from prompt_debugger.core.base.errors import SandboxError
from prompt_debugger.core.base.types import ChatResult, Completion, JSONObject, Parse, ParserOutcome, Request, Trace
from prompt_debugger.core.pipeline.diagnosis import checked_steps
from prompt_debugger.core.pipeline.parsers import add_outcomes
from prompt_debugger.core.pipeline.reading import MAX_LEFT_OUT, Checking, Diagnosis, read_run
from prompt_debugger.core.sandbox import sandbox_of
from tests.threads import handling

pytestmark = pytest.mark.slow


def trace_of(schema, arguments) -> Trace:
    tool: JSONObject = {"type": "function", "function": {"name": "f", "parameters": schema}}
    call: JSONObject = {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps(arguments)}}
    raw = f'<tool_call>\n{{"name": "f", "arguments": {json.dumps(arguments)}}}\n</tool_call>'
    message: JSONObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    return Trace(
        request=Request({"messages": [{"role": "user", "content": "x"}], "tools": [tool]}, ""),
        raw=Completion(raw, None, "stop"),
        chat=ChatResult(message, "tool_calls"),
    )


def pattern(expression):
    return {"type": "object", "properties": {"a": {"type": "string", "pattern": expression}}}


def doubling(levels):
    """Return a schema whose check doubles with every level."""
    twice = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**twice, f"l{levels}": {"type": "object"}}, "$ref": "#/$defs/l0"}


async def diagnose(trace: Trace) -> tuple[Parse, Diagnosis]:
    """Read and check a run as the pipeline does."""
    parse: list[Parse] = []
    steps = sandbox_of().stream(read_run, trace, frozenset())
    async for step in checked_steps(steps, lambda: replace(trace, parse=parse[0])):
        if isinstance(step, Diagnosis):
            return parse[0], step
        parse.append(step)
    raise AssertionError("no diagnosis came")


def names(diagnosis: Diagnosis) -> set[str]:
    return {finding.name for finding in diagnosis.findings}


async def test_a_run_is_read_and_checked():
    parse, diagnosis = await diagnose(trace_of(pattern("^a+$"), {"a": "b"}))

    assert [call.name for call in parse.parsed.calls] == ["f"]
    assert "arguments-violate-schema" in names(diagnosis)
    assert diagnosis.verdict.sentence
    assert diagnosis.notes == ()


@pytest.mark.parametrize(
    ("schema", "arguments", "look"),
    [
        (pattern("^(a+)+$"), {"a": "a" * 40 + "!"}, "its patterns: `^(a+)+$` at properties.a"),
        ({"patternProperties": {"^(a+)+$": {}}}, {"a" * 40 + "!": 1}, "its patterns: `^(a+)+$` at its top"),
        (doubling(60), {"a": 1}, "references in it that multiply"),
    ],
    ids=["a pattern that never ends", "a pattern of names", "references that multiply"],
)
async def test_a_schema_that_never_ends_costs_only_its_own_check(schema, arguments, look):
    trace = trace_of(schema, arguments)
    other = {"type": "function", "function": {"name": "g", "parameters": pattern("^b+$")}}
    call = {"id": "c", "type": "function", "function": {"name": "g", "arguments": '{"a": "c"}'}}  # the same id again
    trace.request.body["tools"].append(other)
    trace.chat.message["tool_calls"].append(call)

    parse, diagnosis = await diagnose(trace)

    assert [call.name for call in parse.parsed.calls] == ["f"]
    assert {"arguments-violate-schema", "duplicate-call-id"} <= names(diagnosis)
    assert "rule-crashed" not in names(diagnosis)
    assert diagnosis.verdict.sentence
    [note] = diagnosis.notes
    assert "the call to `f`" in note
    assert "tools[0].function.parameters" in note
    assert "more than 1 s" in note
    assert look in note


async def test_after_some_schemas_that_never_end_no_further_is_tried():
    trace = trace_of({}, {})
    names_of_tools = [f"f{number}" for number in range(6)]
    trace.request.body["tools"] = [
        {"type": "function", "function": {"name": name, "parameters": pattern("^(a+)+$")}} for name in names_of_tools
    ]
    arguments = json.dumps({"a": "a" * 40 + "!"})
    trace.chat.message["tool_calls"] = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": arguments}} for name in names_of_tools
    ]

    _, diagnosis = await diagnose(trace)

    assert len(diagnosis.notes) == 6
    assert sum("more than 1 s" in note for note in diagnosis.notes) == MAX_LEFT_OUT


async def test_an_answer_s_schema_that_never_ends_is_named():
    trace = trace_of({}, {})
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": pattern("^(a+)+$")}}
    trace.request.body["response_format"] = schema
    content = json.dumps({"a": "a" * 40 + "!"})
    trace = replace(trace, chat=ChatResult({"role": "assistant", "content": content}, "stop"))

    _, diagnosis = await diagnose(trace)

    assert ["response_format.json_schema.schema" in note for note in diagnosis.notes] == [True]


async def test_a_big_schema_that_ends_is_checked():
    inner = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a+$", "description": "x" * 100}}}
    fields = [f"p{number}" for number in range(800)]
    schema = {"type": "object", "properties": dict.fromkeys(fields, inner)}

    _, diagnosis = await diagnose(trace_of(schema, {field: {"a": "b" if field == "p799" else "a"} for field in fields}))

    assert diagnosis.notes == ()
    [finding] = [finding for finding in diagnosis.findings if finding.name == "arguments-violate-schema"]
    assert "$.p799.a" in finding.detail


async def test_parsers_are_judged_although_a_schema_never_ends():
    trace = trace_of(pattern("^(a+)+$"), {"a": "a" * 40 + "!"})
    parse, diagnosis = await diagnose(trace)
    trace = replace(trace, parse=parse, notes=diagnosis.notes)

    judged = await add_outcomes(trace, {"vllm:x": ParserOutcome(None, "", ())})

    assert judged.verdict is not None
    assert list(judged.parse.parsers) == ["vllm:x"]
    assert judged.notes == diagnosis.notes


async def test_what_is_not_a_schema_s_fault_is_raised():
    starved = replace(read_run, limits=replace(read_run.limits, cpu_s=0.001))
    trace = replace(trace_of(pattern("^a+$"), {"a": "a"}), raw=Completion("some words " * 100_000, None, "stop"))

    with pytest.raises(SandboxError) as raised:
        async for _ in checked_steps(sandbox_of().stream(starved, trace, frozenset()), lambda: trace):
            pass

    assert raised.value.limit == "cpu"
    assert "pattern" in raised.value.hint


async def test_the_loop_stays_free_while_a_schema_is_checked():
    steps = sandbox_of().stream(read_run, trace_of(pattern("^(a+)+$"), {"a": "a" * 40 + "!"}), frozenset())
    assert isinstance(await anext(steps), Parse)
    assert await anext(steps) == Checking("tools[0].function.parameters", 1.0)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    with pytest.raises(SandboxError):
        await anext(steps)
    counting.cancel()

    assert turns > 100


async def test_a_reference_to_a_server_is_never_followed():
    asked: list[str] = []

    class Inner(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with handling(Inner) as address:
        reference = {"$ref": f"{address}/secret"}
        schema = {"type": "object", "properties": {"a": reference}, "dependentSchemas": {"a": reference}}
        _, diagnosis = await diagnose(trace_of(schema, {"a": 1}))

    assert diagnosis.verdict.sentence
    assert asked == []


def test_a_run_has_limits_that_hold_up_no_one_for_long():
    assert read_run.limits.cpu_s <= 10
