"""`run --api all`: the text and the document of one request by three APIs."""

import asyncio
import json

from prompt_debugger.core.base.types import JSON, Api
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.grammar import GrammarEngine
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.cli.main import main
from prompt_debugger.ui.cli.run import ask_all
from tests.core.complete.faulty_server import answer, faulty_server

BODY = '{"model": "m", "temperature": 0, "max_tokens": 9, "seed": 1, "messages": [{"role": "user", "content": "hi"}]}'
CHAT: JSON = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Well"}, "finish_reason": "stop"}]}
MESSAGE: JSON = {"type": "message", "content": [{"type": "text", "text": "Good"}], "stop_reason": "end_turn"}
SERVED = {"/v1/chat/completions": answer(200, CHAT), "/v1/messages": answer(200, MESSAGE), "*": answer(404)}


def ask(capsys, *, as_json):
    async def go():
        async with faulty_server(SERVED) as server:
            target = Target(base_url=server.base_url, asks_once=True)
            request = read_request(BODY)
            with GrammarEngine() as engine:
                return await ask_all(request, target, LabPool(), lambda _: None, engine, as_json=as_json, report=None)

    status = asyncio.run(go())
    return status, capsys.readouterr().out


def test_the_text_has_each_run_and_each_difference(capsys):
    _, text = ask(capsys, as_json=False)

    assert [line for line in text.splitlines() if line.startswith("== ")] == [
        "== chat",
        "== responses",
        "== messages",
        "== differences",
    ]
    assert "No run: The server has no `/v1/responses`" in text
    assert (
        'chat / messages · message: `content` is "Well" with chat completions, "Good" with Messages. '
        "Cause: not explained" in text in text
    )


def test_the_document_has_each_run_and_each_difference(capsys):
    status, text = ask(capsys, as_json=True)
    document = json.loads(text)

    assert status == 0
    assert document["apis"]["responses"] is None
    assert [document["apis"][api]["api"] for api in (Api.CHAT, Api.MESSAGES)] == ["chat", "messages"]
    assert {(one["between"][1], one["where"], one["cause"]) for one in document["differences"]} == {
        ("responses", "status", "endpoint: the server has none for Responses"),
        ("messages", "message", None),
    }


def test_nothing_else_can_be_asked_for_besides_all(capsys, tmp_path):
    path = tmp_path / "request.json"
    path.write_text(BODY)

    status = main(["run", str(path), "--api", "all", "--experiments", "--endpoint", "http://127.0.0.1:9/v1"])

    assert status == 2
    assert "runs the request itself only" in capsys.readouterr().err
