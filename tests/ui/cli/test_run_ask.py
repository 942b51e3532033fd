"""`run --ask once`: the request itself and nothing besides; what cannot be said then is said."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.ui.cli.main import main
from tests.core.tools.verify.counting_server import body, counting_server


@pytest.mark.parametrize(("options", "more"), [(["--ask", "once"], 0), ([], 1)])
def test_once_asks_the_model_for_the_request_alone(tmp_path, capsys, options, more):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(body("say 1", temperature=0)))
    with counting_server() as server:
        status = main(["run", str(path), "--endpoint", server.base_url, "--json", *options])

        asked = [sent for sent in server.bodies if "messages" in sent]
    document = json.loads(capsys.readouterr().out)

    assert status == 0
    assert [sent.get("stream") is True for sent in asked] == [False, *[True] * more]
    assert document["chat"]["message"]["content"] == "It is warm."
    assert (document["chat_stream"] is None) is (not more)
    assert "is unknown" in document["verdict"]["sentence"]


def test_once_with_a_stream_asks_for_the_stream_alone(tmp_path, capsys):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(body("say 1", temperature=0, stream=True)))
    with counting_server() as server:
        main(["run", str(path), "--endpoint", server.base_url, "--json", "--ask", "once"])

        asked = [sent for sent in server.bodies if "messages" in sent]
    document = json.loads(capsys.readouterr().out)

    assert [sent.get("stream") for sent in asked] == [True]
    assert document["chat"]["message"] == document["chat_stream"]["message"]
    assert "chat_whole" not in document
