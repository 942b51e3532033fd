"""Every tool, called by the official SDK's client from outside: over standard input and output, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from prompt_debugger.core.base.assets import assets_dir
from tests.conftest import ROOT
from tests.ui.mcp.dropping import REQUEST, StallingServer
from tests.warm.program import warm_environment

ANY_TRANSPORT = pytest.mark.parametrize("connected", ["stdio", "http"], indirect=True)
OVER_STDIO = pytest.mark.parametrize("connected", ["stdio"], indirect=True)
OVER_HTTP = pytest.mark.parametrize("connected", ["http"], indirect=True)
TEMPLATE = (assets_dir() / "lab-model" / "chat_template.jinja").read_text()
DROPPED = json.loads((assets_dir() / "examples" / "dropped-call.json").read_text())["request"]


@pytest.fixture
def connected(request):
    """What gives a client of a server in a process of its own, started with further options."""
    return _over_stdio if request.param == "stdio" else _over_http


@asynccontextmanager
async def _over_stdio(*options):
    words = ["app.py", "mcp", "--no-lab", *options]
    async with Client(
        StdioServerParameters(command=sys.executable, args=words, cwd=ROOT, env=warm_environment())
    ) as client:
        yield client


@asynccontextmanager
async def _over_http(*options):
    words = [sys.executable, "app.py", "mcp", "--no-lab", "--http", "--port", "0", *options]
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(*words, cwd=ROOT, env=warm_environment(), stderr=pipe)
    try:
        line = await server.stderr.readline()
        assert b"MCP server at" in line, line + await server.stderr.read()
        async with Client(line.split()[-1].decode()) as client:
            yield client
    finally:
        server.terminate()
        await server.communicate()
    assert server.returncode == 0


async def call(client, name, **arguments):
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content[0].text
    return answer.content[0].text, answer.structured_content


async def run_dropped(client, said):
    """Run the request whose call is dropped; return the run and its finding that has a fix to try."""

    async def note(progress, total, sentence):
        said.append(sentence)

    ran = (await client.call_tool("run", {"request": DROPPED}, progress_callback=note)).structured_content
    return ran, next(one for one in ran["findings"] if one["change"] and one["change"]["can_try"])


async def raw_of(client, handle):
    return (await client.read_resource(f"prompt-debugger://runs/{handle}/raw")).contents[0].text


@pytest.mark.lab
@OVER_STDIO
async def test_a_run_reports_its_progress_and_is_explained_and_read_back(connected, lab_url):
    said = []
    async with connected("--endpoint", lab_url) as client:
        ran, found = await run_dropped(client, said)
        _, explained = await call(client, "explain", code=found["code"], handle=ran["handle"])
        raw = await raw_of(client, ran["handle"])

    assert ran["verdict"]["dropped_calls"] == 1
    assert said[-1] == "Done"
    assert explained["in_this_run"]
    assert "get_weather" in raw


@pytest.mark.lab
@OVER_HTTP  # where a call that takes long has more to overcome
async def test_the_dropped_call_of_a_request_is_found_its_fix_tried_and_reported(connected, lab_url):
    said = []
    async with connected("--endpoint", lab_url) as client:
        ran, found = await run_dropped(client, said)
        text, tried = await call(client, "try_fix", handle=ran["handle"], code=found["code"])
        report, _ = await call(client, "more", handle=tried["handle"], part="report")
        _, shrunk = await call(client, "shrink", handle=ran["handle"])
        raw = await raw_of(client, ran["handle"])

    assert ran["verdict"]["dropped_calls"] == 1
    assert said[-1] == "Done"
    assert (tried["worked"], tried["verdict"]["dropped_calls"]) == (True, 0)
    assert ran["verdict"]["sentence"] in text
    assert report.index("Tested on the same server") < report.index(found["title"])
    assert (shrunk["confirmed"], shrunk["size"][1] < shrunk["size"][0]) == (3, True)
    assert "get_weather" in raw


@ANY_TRANSPORT
async def test_what_asks_no_server_is_answered(connected):
    answer = {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": "stop"}]}
    raw = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    async with connected() as client:
        _, diagnosed = await call(client, "diagnose", text=answer, request=REQUEST)
        _, pasted = await call(client, "diagnose", text=json.dumps(answer), request=json.dumps(REQUEST))
        _, rendered = await call(client, "render", request=DROPPED)
        _, parsed = await call(client, "parse", raw=raw, message={"role": "assistant", "content": None})
        rule = (await client.read_resource("prompt-debugger://rules/PD401")).contents[0].text

    assert (diagnosed["holds"], diagnosed["verdict"]) == (pasted["holds"], pasted["verdict"])
    assert rendered["tokens"] > 0
    assert [one["code"] for one in parsed["findings"]] == ["PD401"]
    assert rule.startswith("# PD401")


@pytest.mark.vllm
@OVER_STDIO
async def test_a_template_is_checked_with_the_parsers_of_an_engine(connected):
    async with connected() as client:
        text, checked = await call(client, "check", chat_template=TEMPLATE, tool_parser="kimi_k2")
        _, named = await call(client, "parse", raw="<|tool_calls_section_begin|>", parsers=["vllm:kimi_k2"])
        refused = await client.call_tool("check", {"chat_template": TEMPLATE, "engine": "all", "tool_parser": "hermes"})

    assert checked["recommended"]["tool_parser"] == "kimi_k2"
    assert "--chat-template chat_template.jinja" in text
    assert list(checked["engines"]) == ["vllm"]
    assert list(named["parsers"]) == ["vllm:kimi_k2"]
    assert (refused.is_error, "cannot be used with all engines" in refused.content[0].text) == (True, True)


@ANY_TRANSPORT
async def test_a_call_that_is_cancelled_ends_the_run_on_the_server(connected):
    server = StallingServer("", {})
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    async with listening, connected("--endpoint", url) as client:
        going = asyncio.create_task(client.call_tool("run", {"request": REQUEST}))
        await server.is_asked.wait()
        going.cancel()
        await asyncio.wait([going])
        await server.client_left.wait()
        _, rendered = await call(client, "render", request=DROPPED)  # it goes on

    assert rendered["handle"]
