"""The tools as a client of the Model Context Protocol meets them: in this process, over standard input, over HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import ExitStack, asynccontextmanager, suppress

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters

from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.cli.main import parse_arguments
from prompt_debugger.ui.mcp.http import own_names, serve_http
from prompt_debugger.ui.mcp.kept import MAX_KEPT, KeptRuns
from prompt_debugger.ui.mcp.server import build_server
from prompt_debugger.ui.mcp.tools import Caller, Tools
from prompt_debugger.ui.web.admission.kinds import Kind
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.limits import LimitError
from prompt_debugger.ui.web.settings import PageSettings
from tests.conftest import ROOT
from tests.threads import in_thread
from tests.ui.mcp.dropping import REQUEST, DroppingServer, StallingServer
from tests.warm.program import warm_environment

RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
NAMES = {"diagnose", "run", "render", "parse", "check", "try_fix", "explain", "shrink", "more"}


def tools_of(pool=None, **settings):
    made = PageSettings(lab=pool is not None, **settings)
    return Tools(made, PageLabs(pool or LabPool(), enabled=pool is not None))


def client_of(tools):
    return Client(build_server(tools))


@pytest.fixture
def server_url():
    with in_thread(DroppingServer("", {})) as url:
        yield url


async def call(client, name, **arguments):
    answer = await client.call_tool(name, arguments)
    return answer.content[0].text, answer.structured_content, answer.is_error


async def test_every_tool_and_parameter_is_described():
    async with client_of(tools_of()) as client:
        tools = (await client.list_tools()).tools

    assert {tool.name for tool in tools} == NAMES
    assert all(tool.description for tool in tools)
    assert all(one.get("description") for tool in tools for one in tool.input_schema["properties"].values())


async def test_a_public_server_checks_no_model_asks_no_parser_and_no_server_that_is_not_listed(server_url):
    async with client_of(tools_of(public=True)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        parsed = await call(client, "parse", raw=RAW, parsers=["vllm:hermes"])
        rendered = await call(client, "render", request=json.dumps(REQUEST), tokenizer="/etc")
        ran = await call(client, "run", request=json.dumps(REQUEST), endpoint=server_url)
        long = await call(client, "diagnose", text="x" * 200_001)

    assert names == NAMES - {"check"}
    assert [is_error for _, _, is_error in (parsed, rendered, ran, long)] == [True] * 4
    assert "has 200,001 characters" in long[0]


async def test_from_an_answer_to_its_finding_its_rule_and_its_parts():
    answer = {"choices": [{"message": {"role": "assistant", "content": RAW}, "finish_reason": "stop"}]}
    async with client_of(tools_of()) as client:
        text, found, _ = await call(client, "diagnose", text=json.dumps(answer), request=json.dumps(REQUEST))
        code = found["findings"][0]["code"]
        explained, about, _ = await call(client, "explain", code=code, handle=found["handle"])
        message, part, _ = await call(client, "more", handle=found["handle"], part="message")
        resource = await client.read_resource(f"prompt-debugger://runs/{found['handle']}/message")
        rule = await client.read_resource(f"prompt-debugger://rules/{code}")

    assert found["verdict"]["sentence"] in text
    assert code in text
    assert (about["code"], len(about["in_this_run"])) == (code, 1)
    assert rule.contents[0].text in explained
    assert json.loads(message)["content"] == RAW
    assert (part["next_offset"], resource.contents[0].text) == (None, message)


async def test_a_run_shows_its_progress_and_a_fix_is_tried_on_the_same_server(server_url):
    said = []

    async def note(progress, total, sentence):
        said.append((progress, sentence))

    async with client_of(tools_of(target=Target(server_url))) as client:
        ran = await client.call_tool("run", {"request": json.dumps(REQUEST)}, progress_callback=note)
        handle = ran.structured_content["handle"]
        text, tried, _ = await call(client, "try_fix", handle=handle, code="PD101")

    assert ran.structured_content["findings"][0]["severity"] == "error"
    assert [progress for progress, _ in said] == [*range(1, len(said) + 1)]
    assert said
    assert (tried["worked"], tried["handle"] != handle) == (True, True)
    assert tried["patch"][0]["value"] == "string"
    assert "PD101 is gone" in text


async def test_a_request_is_shrunk_while_the_finding_stays(server_url):
    long = {**REQUEST, "messages": [{"role": "system", "content": "Be brief. " * 20}, *REQUEST["messages"]]}
    async with client_of(tools_of(target=Target(server_url))) as client:
        _, ran, _ = await call(client, "run", request=json.dumps(long))
        _, shrunk, is_error = await call(client, "shrink", handle=ran["handle"], code="PD101")
        report, _, _ = await call(client, "more", handle=shrunk["handle"], part="report")

    assert not is_error
    assert "PD101" in report
    assert "Be brief" not in report
    assert (shrunk["finding"], shrunk["confirmed"]) == ("PD101", 3)
    assert shrunk["size"][1] < shrunk["size"][0] / 2


async def test_a_call_that_is_cancelled_ends_the_run():
    server = StallingServer("", {})
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    tools = tools_of(target=Target(url))
    async with listening, client_of(tools) as client:
        going = asyncio.create_task(client.call_tool("run", {"request": json.dumps(REQUEST)}))
        await server.is_asked.wait()
        going.cancel()
        await asyncio.wait([going])
        await server.client_left.wait()

    assert not tools._in_use


async def test_a_render_and_a_parse_are_short_and_whole_after_their_handle():
    async with client_of(tools_of()) as client:
        text, rendered, _ = await call(client, "render", request=json.dumps(REQUEST))
        prompt, _, _ = await call(client, "more", handle=rendered["handle"], part="prompt")
        _, parsed, _ = await call(client, "parse", raw=RAW, message={"role": "assistant", "content": None})
        whole, _, _ = await call(client, "more", handle=parsed["handle"])

    assert prompt.endswith(rendered["tail"])
    assert rendered["tail"] in text
    assert (parsed["calls"][0]["outcome"], json.loads(whole)["format"]) == ("dropped", "hermes")
    assert [one["code"] for one in parsed["findings"]] == ["PD401"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("run", {}, "exactly one of the two"),
        ("run", {"request": json.dumps(REQUEST)}, "--endpoint URL"),
        ("run", {"request": RAW}, "not a request"),
        ("run", {"example": "none-such"}, "There is no example"),
        ("try_fix", {"handle": "none", "code": "PD101"}, "There is no run with the handle"),
        ("explain", {"code": "PD000"}, "There is no rule"),
        ("diagnose", {"text": ""}, "Nothing was pasted."),
    ],
)
async def test_what_cannot_be_done_is_an_answer_with_what_to_do(name, arguments, words):
    async with client_of(tools_of()) as client:
        text, document, is_error = await call(client, name, **arguments)

    assert is_error
    assert words in text
    assert document["error"]["message"] in text


async def test_without_a_server_an_example_is_answered_by_its_recording():
    async with client_of(tools_of()) as client:
        text, ran, _ = await call(client, "run", example="dropped-call")

    assert text.startswith("There is no server here: this is the recorded run")
    assert (ran["verdict"]["dropped_calls"], ran["verdict"]["stage"]) == (1, "parse")


async def test_a_resource_that_is_not_there_is_an_error():
    async with client_of(tools_of()) as client:
        with pytest.raises(MCPError):
            await client.read_resource("prompt-debugger://runs/none/raw")


async def test_a_resource_counts_as_the_tool_does_that_shows_the_same():
    tools = tools_of(public=True)
    async with client_of(tools) as client:
        _, found, _ = await call(client, "diagnose", text=RAW)
        place = f"prompt-debugger://runs/{found['handle']}/raw"
        with ExitStack() as busy:
            with suppress(LimitError):  # as many at once as one client may have
                while True:
                    busy.enter_context(tools.admitted(Caller(), Kind.SHARE))
            with pytest.raises(MCPError):
                await client.read_resource(place)

        resource = await client.read_resource(place)

    assert resource.contents[0].text == RAW


def test_the_oldest_runs_are_forgotten_and_handles_cannot_be_counted():
    kept = KeptRuns()
    handles = [kept.keep("anything") for _ in range(MAX_KEPT + 1)]

    assert len(set(handles)) == len(handles)
    assert kept.get(handles[1]) == "anything"
    with pytest.raises(Exception, match="There is no run with the handle"):
        kept.get(handles[0])


async def test_over_standard_input_it_is_the_command():
    arguments = ["app.py", "mcp", "--no-lab"]
    command = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT, env=warm_environment())
    async with Client(command) as client:
        text, ran, _ = await call(client, "run", example="dropped-call")

    assert ran["verdict"]["sentence"] in text


async def test_over_http_it_answers_to_its_own_names_alone():
    settings = PageSettings(lab=False, port=0, trusted_hosts=("debug.example.org",))
    async with serving(settings) as url, Client(f"{url}/mcp") as client:
        _, found, _ = await call(client, "diagnose", text=RAW)

    names = own_names(settings)
    assert found["calls"][0]["name"] == "get_weather"
    assert {"debug.example.org", "localhost:*"} <= set(names.allowed_hosts)
    assert names.enable_dns_rebinding_protection
    assert not any("evil" in name or name == "*" for name in names.allowed_hosts)


@asynccontextmanager
async def serving(settings):
    """Serve meanwhile; its address."""
    ready = asyncio.get_running_loop().create_future()
    ending = asyncio.Event()
    serving = asyncio.create_task(serve_http(build_server(tools_of()), settings, ready.set_result, ending))
    try:
        yield await ready
    finally:
        ending.set()
        await serving


@pytest.mark.lab
async def test_with_a_lab_the_dropped_call_of_the_example_is_found_and_its_fix_tried(labs):
    async with client_of(tools_of(labs)) as client:
        _, ran, _ = await call(client, "run", example="dropped-call")
        codes = [one["code"] for one in ran["findings"] if one["change"] is not None and one["change"]["can_try"]]
        text, tried, is_error = await call(client, "try_fix", handle=ran["handle"], code=codes[0])

    assert ran["verdict"]["dropped_calls"] == 1
    assert not is_error, text
    assert (tried["worked"], tried["verdict"]["dropped_calls"]) == (True, 0)


def test_the_command_has_the_options_of_the_contract():
    options = parse_arguments(["mcp", "--http", "--host", "127.0.0.1", "--port", "0", "--endpoint", "http://x/v1"])

    assert (options.http, options.port, options.endpoint) == (True, 0, "http://x/v1")
