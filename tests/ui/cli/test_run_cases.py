"""`run --cases`: many requests, in their order, each line's fault its own."""

from __future__ import annotations

import asyncio
import json

import pytest

from prompt_debugger.core.base.errors import BackendError, RequestError
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.report import trace_to_json
from prompt_debugger.ui.cli.main import main
from prompt_debugger.ui.cli.run_cases import run_cases


def body(text):
    return {"messages": [{"role": "user", "content": text}]}


LINES = [
    json.dumps(body("first")),
    json.dumps({"id": "a", "request": body("second")}),
    "",
    json.dumps({"custom_id": "b", "method": "POST", "url": "/v1/chat/completions", "body": body("third")}),
    "{no json",
    "[1]",
    json.dumps({"id": 7, "request": "text"}),
    json.dumps(body("refused")),
    json.dumps({"id": "own", **body("last")}),
]


@pytest.fixture
def cases(tmp_path):
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(LINES), encoding="utf-8")
    return str(file)


class Runner:
    """Answers each request with a recorded run, the first ones last."""

    def __init__(self, name):
        self.trace = load_recording(name).trace
        self.asked = []
        self.now = self.most = 0

    async def __call__(self, request):
        text = request.body["messages"][0]["content"]
        self.asked.append((text, "id" in request.body))
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(50 if text == "first" else 0):
            await asyncio.sleep(0)
        self.now -= 1
        if text == "refused":
            raise BackendError("the server is gone")
        return self.trace


async def written(trace):
    return trace_to_json(trace)


@pytest.mark.parametrize("jobs", [1, 3, 20])
async def test_documents_come_in_the_order_of_the_lines_with_id_or_number(cases, capsys, jobs):
    runner = Runner("healthy-call")

    status = await run_cases(cases, runner, written, jobs=jobs)

    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status == 1
    assert [one["id"] for one in documents] == [1, "a", 4, 5, 6, 7, 8, "own"]
    assert [one["id"] for one in documents if one.get("error")] == [5, 6, 7, 8]
    assert documents[2]["custom_id"] == "b"
    assert documents[0]["verdict"]["dropped_calls"] == 0
    assert sorted(runner.asked) == [(text, False) for text in ("first", "last", "refused", "second", "third")]
    assert runner.most <= jobs


@pytest.mark.parametrize(("name", "status"), [("healthy-call", 0), ("dropped-call", 1)])
async def test_the_exit_status_tells_of_errors(tmp_path, name, status):
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps(body("x")), encoding="utf-8")

    assert await run_cases(str(file), Runner(name), written, jobs=2) == status


async def test_a_run_needs_a_place(cases):
    with pytest.raises(RequestError, match="At least one"):
        await run_cases(cases, Runner("healthy-call"), written, jobs=0)


def test_a_file_that_is_not_there_is_reported(capsys):
    assert main(["run", "--cases", "nowhere.jsonl", "--no-lab", "--endpoint", "http://localhost:1/v1"]) == 2
    assert "nowhere.jsonl" in capsys.readouterr().err
