"""Shrinking: a large request with one planted fault becomes small, and fails in the same way."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Finding, Severity, Stage, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.fixes.reduce import reduce_request, size_of
from prompt_debugger.core.tools.fixes.shrink import shrink_request, shrink_run
from scripts.fix_lab import IDS, REQUESTS
from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.servers.running_servers import llama_cpp
from tests.warm.program import warm_environment


def tool(number, kind="string"):
    properties = {"city": {"type": kind, "description": "Where to look."}, "days": {"type": "integer"}}
    function = {"name": f"tool_{number}", "description": f"Does thing {number}.", "parameters": {"type": "object"}}
    function["parameters"]["properties"] = properties
    return {"type": "function", "function": function}


def large_request(faulty=13):
    """Forty messages, twenty tools, one of which declares a type that JSON Schema does not know."""
    messages = [
        {"role": "assistant" if number % 2 else "user", "content": f"Message {number} about the weather."}
        for number in range(39)
    ]
    tools = [tool(number, "str" if number == faulty else "string") for number in range(20)]
    messages.append({"role": "user", "content": "And now?"})
    return {"messages": messages, "tools": tools, "temperature": 0, "max_tokens": 8}


def has_fault(body):
    return '"str"' in json.dumps(body)


async def test_what_has_no_part_in_the_answer_goes():
    asked = []

    async def holds(body):
        asked.append(body)
        return has_fault(body) and any("27" in str(message["content"]) for message in body["messages"])

    body = large_request()
    smallest = await reduce_request(body, holds)

    assert await holds(smallest)
    assert len(smallest["messages"]) == 1
    assert len(smallest["tools"]) == 1
    assert set(smallest) == {"messages", "tools", "temperature"}
    assert size_of(smallest) * 10 <= size_of(body)
    assert len(asked) < 300


async def test_nothing_goes_where_everything_is_needed():
    body = large_request()

    async def holds(changed):
        return changed == body

    assert await reduce_request(body, holds) == body


async def test_a_question_that_says_no_from_some_point_on_leaves_a_request_that_holds():
    left = [20]

    async def holds(body):
        left[0] -= 1
        return left[0] >= 0 and has_fault(body)

    smallest = await reduce_request(large_request(), holds)

    assert has_fault(smallest)
    assert smallest["messages"]


@pytest.fixture(scope="module")
def server_url(tmp_path_factory):
    with llama_cpp(tmp_path_factory.mktemp("llama-cpp")) as base_url:
        yield base_url


@pytest.mark.servers
async def test_a_fault_of_the_request_shrinks_offline_and_is_confirmed_on_the_server(server_url, lab_model_dir):
    target = Target(base_url=server_url, tokenizer=lab_model_dir)
    body = large_request()

    shrunk = await shrink_request(read_request(json.dumps(body)), target, finding="PD101")

    before, after = shrunk.size
    assert (shrunk.finding, shrunk.confirmed) == ("PD101", 3)
    assert after * 10 <= before
    assert has_fault(shrunk.request)
    assert shrunk.asked == 5
    assert shrunk.steps > shrunk.asked


async def test_a_smaller_request_has_no_fault_that_the_large_one_had_not(lab_model_dir):
    call = {"id": "call_1", "type": "function", "function": {"name": "tool_3", "arguments": '{"city": "Oslo"}'}}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "12 degrees."}
    body = large_request(faulty=None)
    body["messages"] += [{"role": "assistant", "content": None, "tool_calls": [call]}, result]
    request = read_request(json.dumps(body))
    dropped = Finding("PD401", "dropped-call", Severity.ERROR, Stage.PARSE, "A call was dropped.", "It was.")

    async def run(smaller):
        is_there = result in smaller["messages"]
        return Trace(replace(request, body=smaller), findings=(dropped,) if is_there else ())

    first, target = Trace(request, findings=(dropped,)), Target(tokenizer=lab_model_dir)
    shrunk = await shrink_run(first, target, run, budget=100, on_step=lambda _: None)

    assert [one["role"] for one in shrunk.request["messages"]] == ["assistant", "tool"]
    assert shrunk.confirmed == 3


@pytest.mark.servers
async def test_a_request_without_that_finding_is_not_shrunk(server_url, lab_model_dir):
    target = Target(base_url=server_url, tokenizer=lab_model_dir)
    healthy = {"messages": [{"role": "user", "content": "Who are you?"}], "max_tokens": 8}

    with pytest.raises(RequestError, match="no finding PD101"):
        await shrink_request(read_request(json.dumps(healthy)), target, finding="PD101")


@pytest.mark.servers
def test_the_command_prints_the_document(server_url, tmp_path):
    file = tmp_path / "request.json"
    file.write_text(json.dumps(large_request()), encoding="utf-8")
    options = ["--endpoint", server_url, "--tokenizer", "assets/lab-model", "--finding", "PD101", "--json"]
    command = [sys.executable, "app.py", "shrink", str(file), *options]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=warm_environment()
    )

    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert set(document) == {"request", "steps", "asked", "size", "finding", "confirmed"}
    assert document["size"][1] * 10 <= document["size"][0]


@pytest.mark.lab
async def test_a_fault_that_only_an_answer_shows_shrinks_on_the_server_and_is_confirmed_there(labs):
    body = REQUESTS[IDS]
    padding = [
        {"role": "user" if number % 2 else "assistant", "content": f"Small talk {number}: how are you?"}
        for number in range(1, 7)
    ]
    large = {**body, "messages": [body["messages"][0], *padding, *body["messages"][1:]], "top_p": 1.0, "user": "me"}
    request = read_request(json.dumps(large))

    shrunk = await shrink_request(request, Target(), labs, finding="PD401", budget=60)

    messages = shrunk.request["messages"]
    assert (shrunk.finding, shrunk.confirmed) == ("PD401", 3)
    assert not any("Small talk" in str(one["content"]) for one in messages)
    assert shrunk.size[1] < shrunk.size[0] * 2 / 3
    assert shrunk.asked <= 64
