"""Work that never ends, eats memory or asks elsewhere, sent to a running page: others are answered meanwhile."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest

from prompt_debugger.core.base.types import JSON, ChatResult, Completion, JSONObject, Parse, Request, Trace
from prompt_debugger.core.pipeline.reading import read_run
from prompt_debugger.core.report import write_bundle
from tests.attacks.conftest import start
from tests.attacks.listener import listening
from tests.attacks.page import EchoServer, RunningPage, Visitor
from tests.patience import PATIENCE_S

HOSTILE, HONEST = "127.0.0.66", "127.0.0.5"
NO_END = "a" * 40 + "!"


@pytest.fixture(scope="module", params=["public", "own"])
def attacked(request: pytest.FixtureRequest, endpoint: str) -> Iterator[RunningPage]:
    """A page with a server that says and calls what it is told."""
    page = start(request.param, endpoint)
    yield page
    page.end()


def tools(schema: JSONObject) -> list[JSON]:
    """Return a tool list with one function."""
    return [{"type": "function", "function": {"name": "f", "parameters": schema}}]


def calling(arguments: JSONObject) -> str:
    """Return words at which the server calls the function."""
    return "CALL " + json.dumps(arguments)


def doubling() -> JSONObject:
    """Return a schema of 60 levels, each of which asks for the next one twice."""
    levels: JSONObject = {
        f"l{level}": {"allOf": [{"$ref": f"#/$defs/l{level + 1}"}, {"$ref": f"#/$defs/l{level + 1}"}]}
        for level in range(60)
    }
    return {"$ref": "#/$defs/l0", "$defs": {**levels, "l60": {"type": "object"}}}


async def run_a_pattern(visitor: Visitor) -> str:
    schema: JSONObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    return await visitor.run(calling({"a": NO_END}), tools=tools(schema))


async def run_a_doubling_schema(visitor: Visitor) -> str:
    return await visitor.run(calling({"a": 1}), tools=tools(doubling()))


def referring_to_itself() -> JSONObject:
    """Return a schema that says nothing but to look at itself, at the root and among its properties."""
    loop: JSONObject = {"$ref": "#/$defs/a"}
    return {"$defs": {"a": {"anyOf": [loop, {"$ref": "#"}]}}, "properties": {"a": loop}, "$ref": "#/$defs/a"}


async def run_a_schema_that_refers_to_itself(visitor: Visitor) -> str:
    return await visitor.run(calling({"a": 1}), tools=tools(referring_to_itself()))


async def run_a_pattern_of_names(visitor: Visitor) -> str:
    """A pattern that is where no value of a property is looked at."""
    schema: JSONObject = {"type": "object", "patternProperties": {"^(a|aa)+$": {}}}
    return await visitor.run(calling({NO_END: 1}), tools=tools(schema))


async def run_into_a_flood(visitor: Visitor) -> str:
    return await visitor.run("FLOOD")


async def render_endless_loops(visitor: Visitor) -> str:
    loops = "".join("{% for _ in range(99999) %}" for _ in range(4))
    return await visitor.ask("render_template", loops + "{% endfor %}" * 4)


async def render_what_is_too_wide(visitor: Visitor) -> str:
    return await visitor.ask("render_template", "{% set width = 10 ** 10 %}{{ 'x' | center(width) }}")


async def render_a_long_text(visitor: Visitor) -> str:
    return await visitor.ask("render_template", "{{ 'a1 ' * 2633333 }}")


async def raise_a_long_text(visitor: Visitor) -> str:
    return await visitor.ask("render_template", "{{ raise_exception('x' * 10 ** 8) }}")


async def share_what_looks_like_keys(visitor: Visitor) -> str:
    words = "api-key:" * 12_500
    body = json.dumps({"messages": [{"role": "user", "content": words}]})
    text = f"curl http://localhost/v1/chat/completions -d '{body}' -H '{words}'"
    linked = await visitor.ask("share", None, text, event_data={"index": 0, "value": {"form": "link"}})
    return linked + await visitor.ask("check_request", text)


async def share_long_passwords(visitor: Visitor) -> str:
    fields: JSONObject = {f"password{number}": "pa ss" * 20_000 for number in range(8)}
    body: JSONObject = {"messages": [{"role": "user", "content": "pa ss" * 20_000}], **fields, "password": "a" * 99_999}
    bundle = write_bundle(Trace(Request(body, json.dumps(body))))
    packed = base64.urlsafe_b64encode(gzip.compress(bundle.encode())).decode()
    opened = await visitor.ask("open_bundle", event_data={"packed": packed})
    return opened + await visitor.ask("share", event_data={"index": 0, "value": {"form": "bundle"}})


async def run_into(visitor: Visitor, packing: str) -> str:
    return await visitor.run(f"PACKED {packing}")


async def run_into_a_doubled_gzip(visitor: Visitor) -> str:
    return await run_into(visitor, "gzip, gzip")


async def run_into_brotli(visitor: Visitor) -> str:
    return await run_into(visitor, "br")


Attack = Callable[[Visitor], Awaitable[str]]
ATTACKS: list[tuple[Attack, str]] = [
    (run_a_pattern, "process_completed"),
    (run_a_doubling_schema, "process_completed"),
    (run_a_schema_that_refers_to_itself, "process_completed"),
    (run_a_pattern_of_names, "process_completed"),
    (render_endless_loops, "ran for more than 1 s"),
    (render_what_is_too_wide, "more memory than allowed"),
    (render_a_long_text, "Tokenizing the text "),
    (raise_a_long_text, "more characters)"),
    (share_what_looks_like_keys, "process_completed"),
    (share_long_passwords, "application/json"),
    (run_into_a_doubled_gzip, "gzip"),
    (run_into_brotli, "br"),
    (run_into_a_flood, "larger than 32 MB"),
]
ENDLESS = (run_a_pattern, run_a_doubling_schema)


@pytest.mark.parametrize(("attack", "told"), ATTACKS, ids=[attack.__name__ for attack, _ in ATTACKS])
async def test_another_visitor_is_answered_and_the_page_goes_on(
    attacked: RunningPage, attack: Attack, told: str
) -> None:
    """The order tells for work without an end: others are served before a limit ends it."""
    async with Visitor(attacked, HOSTILE) as hostile, Visitor(attacked, HONEST) as honest:
        under_way = asyncio.ensure_future(attack(hostile))
        meanwhile = [await honest.ask("check_request", "{}") for _ in range(2)]
        was_ended = under_way.done()
        received = await under_way
        after = await hostile.run("AGAIN")

    assert all("process_completed" in one for one in meanwhile)
    assert not (was_ended and attack in ENDLESS)
    assert told in received
    assert "ECHO AGAIN" in after
    assert attacked.faults() == []


async def test_a_server_that_drips_forever_holds_no_one_up_and_is_left_with_its_visitor(
    attacked: RunningPage,
) -> None:
    """The visitor goes as soon as the first words come: no one reads on for them."""
    dripped_to, left = EchoServer.dripped_to, EchoServer.left_drips
    async with Visitor(attacked, HOSTILE) as hostile, Visitor(attacked, HONEST) as honest:
        body = json.dumps({"messages": [{"role": "user", "content": "DRIP"}], "stream": True})
        assert (await hostile.join("run", body)).status_code == 200
        async with asyncio.timeout(PATIENCE_S):
            async with hostile.client.stream(
                "GET", f"/gradio_api/queue/data?session_hash={hostile.session}"
            ) as updates:
                lines = updates.aiter_lines()
                while EchoServer.dripped_to == dripped_to:
                    await anext(lines)
                assert "ECHO MINE" in await honest.run("MINE")
                assert EchoServer.left_drips == left
            while EchoServer.left_drips - left < EchoServer.dripped_to - dripped_to:
                await asyncio.sleep(0.01)
        assert "ECHO AGAIN" in await honest.run("AGAIN")
    assert attacked.faults() == []


@pytest.fixture(scope="module")
def serverless(endpoint: str) -> Iterator[RunningPage]:
    """A public page without any server: what strangers wrote comes in bundles and templates."""
    page = start("public without a lab", endpoint)
    yield page
    page.end()


def packed(schema: JSONObject, arguments: JSONObject) -> str:
    """Return a bundle of a run whose one call is to be checked against a schema."""
    body: JSONObject = {"messages": [{"role": "user", "content": "hi"}], "tools": tools(schema)}
    function: JSONObject = {"name": "f", "arguments": json.dumps(arguments)}
    message: JSONObject = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}
    written = f'<tool_call>\n{{"name": "f", "arguments": {json.dumps(arguments)}}}\n</tool_call>'
    trace = Trace(
        Request(body, json.dumps(body)), raw=Completion(written, None, "stop"), chat=ChatResult(message, "tool_calls")
    )
    for step in read_run(replace(trace, request=Request({"messages": []}, "{}")), frozenset()):
        if isinstance(step, Parse):
            trace = replace(trace, parse=step)
    return base64.urlsafe_b64encode(gzip.compress(write_bundle(trace).encode())).decode()


async def open_a_pattern(visitor: Visitor) -> str:
    schema: JSONObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    opened = await visitor.ask("open_bundle", event_data={"packed": packed(schema, {"a": NO_END})})
    return opened + await visitor.ask("judge_constrained", None, "", "auto+strict")


async def open_a_doubling_schema(visitor: Visitor) -> str:
    opened = await visitor.ask("open_bundle", event_data={"packed": packed(doubling(), {"a": 1})})
    return opened + await visitor.ask("judge_constrained", None, "", "auto+strict")


async def open_a_schema_that_refers_to_itself(visitor: Visitor) -> str:
    opened = await visitor.ask("open_bundle", event_data={"packed": packed(referring_to_itself(), {"a": 1})})
    return opened + await visitor.ask("judge_constrained", None, "", "auto+strict")


async def parse_by_name_with_a_pattern(visitor: Visitor) -> str:
    """One schema ended the whole reading, and nothing was said of the calls."""
    schema: JSONObject = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    raw = f'<tool_call>\n{{"name": "f", "arguments": {{"a": "{NO_END}"}}}}\n</tool_call>'
    message = '{"role": "assistant", "content": "x"}'
    path = "/gradio_api/call/parse"
    called = await visitor.client.post(path, json={"data": [raw, message, json.dumps(tools(schema))]})
    return (await visitor.client.get(f"{path}/{called.json()['event_id']}")).text


async def open_deep_nesting(visitor: Visitor) -> str:
    deep = base64.urlsafe_b64encode(gzip.compress(b'{"a":' * 2_000_000)).decode()
    return await visitor.ask("open_bundle", event_data={"packed": deep})


@cache
def zeros() -> str:
    return base64.urlsafe_b64encode(gzip.compress(bytes(400_000_000), 1)).decode()


async def open_endless_zeros(visitor: Visitor) -> str:
    return await visitor.ask("open_bundle", event_data={"packed": zeros()})


SERVERLESS: list[tuple[Attack, str]] = [
    (open_a_pattern, "opened"),
    (open_a_doubling_schema, "opened"),
    (open_a_schema_that_refers_to_itself, "opened"),
    (render_endless_loops, "ran for more than 1 s"),
    (render_what_is_too_wide, "more memory than allowed"),
    (parse_by_name_with_a_pattern, "PD401"),
    (open_deep_nesting, "failure"),
    (open_endless_zeros, "longer than"),
    (render_a_long_text, "Tokenizing the text "),
    (share_what_looks_like_keys, "process_completed"),
    (share_long_passwords, "application/json"),
]


@pytest.mark.parametrize(("attack", "told"), SERVERLESS, ids=[attack.__name__ for attack, _ in SERVERLESS])
async def test_a_page_without_a_server_goes_on_too(serverless: RunningPage, attack: Attack, told: str) -> None:
    async with Visitor(serverless, HOSTILE) as hostile, Visitor(serverless, HONEST) as honest:
        under_way = asyncio.ensure_future(attack(hostile))
        meanwhile = [await honest.ask("check_request", "{}") for _ in range(2)]
        received = await under_way
        after = await hostile.ask("check_request", "{}")

    assert all("process_completed" in one for one in (*meanwhile, after))
    assert told in received
    assert serverless.faults() == []


async def test_a_tool_list_of_a_bundle_that_refers_elsewhere_is_not_followed(serverless: RunningPage) -> None:
    """A `$ref` of a bundle made the page GET a loopback address and read a file."""
    with listening() as listener:
        reference: JSONObject = {"$ref": listener.url}
        schema: JSONObject = {
            "type": "object",
            "properties": {"a": reference, "b": {"$ref": "file:///etc/passwd"}},
            "dependentSchemas": {"a": reference},
        }
        async with Visitor(serverless, HOSTILE) as visitor:
            opened = await visitor.ask("open_bundle", event_data={"packed": packed(schema, {"a": 1, "b": 2})})
            judged = [await visitor.ask("judge_constrained", None, "", level) for level in ("request", "auto+strict")]

        assert listener.requests() == []
    assert "opened" in opened
    assert all("root:" not in one for one in judged)
    assert serverless.faults() == []


async def test_a_tool_list_that_refers_elsewhere_is_followed_by_no_event(attacked: RunningPage) -> None:
    with listening() as listener:
        schema: JSONObject = {
            "type": "object",
            "properties": {"a": {"$ref": listener.url}},
            "dependentSchemas": {"a": {"$ref": listener.url}},
        }
        async with Visitor(attacked, HOSTILE) as visitor:
            ran = await visitor.run(calling({"a": 1}), tools=tools(schema))
            judged = [await visitor.ask("judge_constrained", None, "", level) for level in ("request", "auto+strict")]

        assert listener.requests() == []
    assert "process_completed" in ran
    assert all("process_completed" in one for one in judged)
    assert attacked.faults() == []
