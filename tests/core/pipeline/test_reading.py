"""A run is read in the room: hostile schemas and outputs end there, and say so."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.errors import RoomError
from core.pipeline.reading import read_run
from core.room import room_of
from core.types import ChatResult, Completion, JSONObject, Parse, Request, Trace


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


# The same job with less patience, so that the tests need not have it.
READ_SOON = replace(read_run, limits=replace(read_run.limits, cpu_s=1.0))


def read(trace: Trace) -> list[object]:
    steps: list[object] = []
    room_of().follow(READ_SOON, steps.append, trace, frozenset())
    return steps


def pattern(expression):
    return {"type": "object", "properties": {"a": {"type": "string", "pattern": expression}}}


def doubling(levels):
    """Return a schema whose check doubles with every level."""
    twice = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**twice, f"l{levels}": {"type": "object"}}, "$ref": "#/$defs/l0"}


def test_a_run_is_read_and_checked_in_one_round_trip():
    parse, (findings, verdict) = read(trace_of(pattern("^a+$"), {"a": "b"}))

    assert isinstance(parse, Parse)
    assert [call.name for call in parse.parsed.calls] == ["f"]
    assert "arguments-violate-schema" in {finding.name for finding in findings}
    assert verdict.sentence


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [(pattern("^(a+)+$"), {"a": "a" * 40 + "!"}), (doubling(60), {"a": 1})],
    ids=["a pattern that never ends", "references that multiply"],
)
def test_a_schema_that_never_ends_is_ended_and_the_next_run_is_read(schema, arguments):
    with pytest.raises(RoomError) as raised:
        read(trace_of(schema, arguments))

    assert raised.value.limit == "cpu"
    assert "pattern" in raised.value.hint
    assert len(read(trace_of(pattern("^a+$"), {"a": "a"}))) == 2


def test_what_was_read_before_the_limit_is_kept():
    steps: list[object] = []

    with pytest.raises(RoomError):
        room_of().follow(READ_SOON, steps.append, trace_of(pattern("^(a+)+$"), {"a": "a" * 40 + "!"}), frozenset())

    assert [type(step) for step in steps] == [Parse]


async def test_the_loop_stays_free_while_a_schema_is_checked():
    steps = room_of().stream(READ_SOON, trace_of(pattern("^(a+)+$"), {"a": "a" * 40 + "!"}), frozenset())
    await anext(steps)  # the census; the schema comes now
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    with pytest.raises(RoomError):
        await anext(steps)
    counting.cancel()

    assert turns > 100


def test_a_reference_to_a_server_is_never_followed():
    asked: list[str] = []

    class Inner(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Inner)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    reference = {"$ref": f"http://127.0.0.1:{server.server_port}/secret"}
    schema = {"type": "object", "properties": {"a": reference}, "dependentSchemas": {"a": reference}}
    try:
        steps = read(trace_of(schema, {"a": 1}))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert len(steps) == 2
    assert asked == []


def test_a_run_has_limits_that_hold_up_nobody_for_long():
    assert read_run.limits.cpu_s <= 10
