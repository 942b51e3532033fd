"""What went over the wire, as the page shows it."""

import asyncio

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.complete.backends.exchanges import MASK, Exchange, ExchangeLog, listening
from prompt_debugger.core.complete.client import ServerClient
from prompt_debugger.ui.present import unpack_payload
from prompt_debugger.ui.present.network import network_payload, waiting_sentence
from tests.core.complete.faulty_server import answer, faulty_server, stream

KEY = "sk-secret-of-somebody"
BODY = {"messages": [{"role": "user", "content": "hi"}], "model": "m"}


async def listened(behaviour_by_path, ask):
    log = ExchangeLog()
    async with faulty_server(behaviour_by_path) as server:

        async def talk():
            async with ServerClient(server.base_url, api_key=KEY) as client:
                await ask(client)

        outcome = await asyncio.gather(asyncio.create_task(talk(), context=listening(log)), return_exceptions=True)
    return log, outcome[0]


def rows(log):
    return unpack_payload(network_payload(log, 3))[0]["exchanges"]


async def test_a_stream_is_written_down_event_by_event_without_its_key():
    event = f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{KEY}"}}}}]}}\n\n'.encode()
    behaviour = {"/v1/chat/completions": stream(event, event, b"data: [DONE]\n\n")}

    log, _ = await listened(behaviour, lambda client: client.chat_stream(BODY))

    [row] = rows(log)
    assert (row["method"], row["path"], row["status"]) == ("POST", "/v1/chat/completions", 200)
    assert row["purpose"] == "chat, streamed"
    assert [data for _, data in row["events"]][-1] == "[DONE]"
    assert len(row["events"]) == 3
    times = [at for at, _ in row["events"]]
    assert times == sorted(times)
    assert times[-1] <= row["total_s"]
    assert '"hi"' in row["body"]
    assert ["authorization", MASK] in row["sent_headers"]
    assert KEY not in str(row)


async def test_a_refusal_is_written_down_with_the_servers_words():
    behaviour = {"/v1/chat/completions": answer(400, {"error": {"message": "no such thing"}})}

    log, outcome = await listened(behaviour, lambda client: client.chat(BODY))

    assert isinstance(outcome, BackendError)
    assert rows(log)
    for row in rows(log):
        assert row["status"] == 400
        assert "no such thing" in row["text"]
        assert row["error"]
    assert waiting_sentence("Done", log) == "Done"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/v1/chat/completions", "Asking the model · POST /v1/chat/completions"),
        ("/v1/completions", "Asking the model · POST /v1/completions"),
        ("/v1/messages", "Asking the model · POST /v1/messages"),
        ("/v1/chat/completions/render", "Asking for the server's own prompt · POST /v1/chat/completions/render"),
        ("/apply-template", "Asking for the server's own prompt · POST /apply-template"),
        ("/v1/chat/completions/derender", "Asking the server's parsers · POST /v1/chat/completions/derender"),
        ("/tokenize", "Asking for token ids · POST /tokenize"),
    ],
)
def test_what_is_asked_for_is_said_while_one_waits(path, shown):
    log = ExchangeLog()
    log.exchanges.append(Exchange("POST", f"http://127.0.0.1:8000{path}", (), "", 0.0, str))

    assert waiting_sentence("Asking the model", log) == shown
    assert waiting_sentence("Rendering", log) == f"Rendering · POST {path}"


async def test_nothing_is_written_down_where_no_one_listens():
    log = ExchangeLog()
    async with (
        faulty_server({"/v1/models": answer(200, {"data": []})}) as server,
        ServerClient(server.base_url) as client,
    ):
        await asyncio.gather(client.probe(), return_exceptions=True)

    assert network_payload(log, 1) is None
